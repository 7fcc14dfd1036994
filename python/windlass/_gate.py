"""Who may ask a table, and how much in a minute, as ``windlass serve`` decides it.

A bucket for each client holds the portions of rows that it may still ask for. A minute fills it.
The buckets are bounded in number: when there is no room for another one, the fuller half of them is
forgotten. No client gains by that: a client without a bucket, forgotten or new, begins with the
fill that the least full of the forgotten ones would have by now.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from windlass._problems import Problem
from windlass.errors import DTypeError, ParameterError

if TYPE_CHECKING:
    from windlass import Table

Tokens = Mapping[str, "str | tuple[str, int]"]
"""Tokens by the name of their client, each alone or with the client's own quota."""

_MOST_CLIENTS = 1 << 16
"""Clients that are remembered."""
_MINUTE = 60.0


class Caller(NamedTuple):
    """A client: by token, else by certificate, else by address."""

    name: str
    portions: int | None = None
    """Its own quota."""


Listed = dict[bytes, Caller]
"""Clients by the SHA-256 of their tokens."""


def whole_quota(quota: object, what: str = "quota") -> int | None:
    """A quota of an argument."""
    if quota is None:
        return None
    if isinstance(quota, bool) or not isinstance(quota, int):
        raise DTypeError(f"{what} must be a whole number, not {type(quota).__name__}")
    if quota < 1:
        raise ParameterError(f"{what} must be at least 1 portion a minute; None is no limit")
    return quota


def listed(tokens: Tokens | None) -> Listed | None:
    """The clients who have these tokens."""
    if tokens is None:
        return None
    if not isinstance(tokens, Mapping):
        kind = type(tokens).__name__
        raise DTypeError(f"tokens must be a mapping of names to tokens, not {kind}")
    found: Listed = {}
    for name, said in tokens.items():
        token, quota = said if isinstance(said, tuple) and len(said) == 2 else (said, None)
        if not isinstance(token, str):
            raise DTypeError(
                f"the token of {name!r} must be text, or a pair of text and a whole number"
            )
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise ParameterError(
                f"the token of {name!r} must be letters, digits and signs without blanks, "
                "and not empty"
            )
        caller = Caller(f"token {name}", whole_quota(quota, f"the quota of {name!r}"))
        if found.setdefault(_digest(token), caller) is not caller:
            raise ParameterError(f"{name!r} has the token of another client: give each its own")
    return found


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def caller_of(address: str, certificate: bytes | None = None) -> Caller:
    """The client at the other end of a connection, where no token says more."""
    if certificate is not None:
        return Caller(f"certificate {hashlib.sha256(certificate).hexdigest()[:16]}")
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return Caller(f"address {address}")
    if isinstance(found, ipaddress.IPv4Address):
        return Caller(f"address {found}")
    if found.ipv4_mapped is not None:
        return Caller(f"address {found.ipv4_mapped}")
    # One line has 2^64 addresses.
    network = ipaddress.ip_network((found, 64), strict=False)
    return Caller(f"addresses {network}")


def portions_of(table: Table, selections: int) -> int:
    """Portions of rows that so many selections ask for: what quotas count."""
    return -(-selections // (table.selections // table.portions))


class _Bucket:
    """Portions that a client may still ask for."""

    __slots__ = ("at", "left", "most")

    def __init__(self, left: float, most: float, at: float) -> None:
        self.left, self.most, self.at = left, most, at

    def now(self, most: float, now: float) -> float:
        """What it holds now, where a minute brings `most`."""
        return min(self.left + max(now - self.at, 0.0) * most / _MINUTE, most)


class Quotas:
    """The buckets of all clients."""

    def __init__(self, room: int = _MOST_CLIENTS) -> None:
        self._room, self._lock = room, threading.Lock()
        self._buckets: dict[str, _Bucket] = {}
        self._forgotten: tuple[float, float] | None = None
        """The share with which clients without a bucket begin, and when it was that."""

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, client: str, most: int, wanted: int, now: float) -> tuple[int, int] | None:
        """Counts portions; if too few are left, how many, and the seconds until there are enough.

        The client may ask for `most` in a minute, and for no more than that here.
        """
        with self._lock:
            if len(self._buckets) >= self._room and client not in self._buckets:
                self._forget(now)
            bucket = self._buckets.setdefault(client, _Bucket(self._fresh(now) * most, most, now))
            bucket.left, bucket.most, bucket.at = bucket.now(most, now), most, now
            if bucket.left < wanted:
                seconds = -int(-((wanted - bucket.left) * _MINUTE / most) // 1)
                return int(bucket.left), max(seconds, 1)
            bucket.left -= wanted
            return None

    def give_back(self, client: str, portions: int) -> None:
        """Gives back portions that were counted and not answered."""
        with self._lock:
            bucket = self._buckets.get(client)
            if bucket is not None:
                bucket.left = min(bucket.left + portions, bucket.most)

    def _fresh(self, now: float) -> float:
        """How full the bucket of a client without one is, from 0 to 1."""
        if self._forgotten is None:
            return 1.0
        share, at = self._forgotten
        return min(share + max(now - at, 0.0) / _MINUTE, 1.0)

    def _forget(self, now: float) -> None:
        """Forgets at least half of the buckets, the fullest."""
        shares = {
            name: bucket.now(bucket.most, now) / bucket.most
            for name, bucket in self._buckets.items()
        }
        least = sorted(shares.values())[len(shares) // 2]
        fresh = self._fresh(now)
        self._buckets = {
            name: self._buckets[name] for name, share in shares.items() if share < least
        }
        self._forgotten = (min(least, fresh), now)


class Gate:
    """What every request passes."""

    def __init__(self, listed: Listed | None, quota: int | None) -> None:
        self._listed, self._quota, self._quotas = listed, quota, Quotas()

    def admit(self, said: str | None, peer: Caller) -> Caller:
        """The client; a refusal without a token that is known, where tokens are asked for."""
        if self._listed is None:
            return peer
        scheme, _, token = (said or "").partition(" ")
        found = _digest(token.strip())
        # All are compared, so that the time says nothing of the tokens.
        known = [who for digest, who in self._listed.items() if hmac.compare_digest(found, digest)]
        if scheme.lower() != "bearer" or not known:
            raise Problem("unauthorised", "no token that is known here")
        return known[0]

    def take(self, caller: Caller, portions: int) -> None:
        """Counts portions of rows that a client asks for, or refuses the request."""
        most = self._quota if caller.portions is None else caller.portions
        if most is None:
            return
        if portions > most:
            raise Problem(
                "above-quota",
                f"the request asks for {portions} portions of rows, but {caller.name} may ask for "
                f"{most} in a minute",
            )
        used_up = self._quotas.take(caller.name, most, portions, time.monotonic())
        if used_up is not None:
            left, seconds = used_up
            cause = (
                f"{caller.name} may ask for {most} portions of rows in a minute and has {left} of "
                "them left"
            )
            raise Problem("quota", cause, seconds)

    def give_back(self, caller: Caller, portions: int) -> None:
        """Gives back portions that were not answered."""
        self._quotas.give_back(caller.name, portions)
