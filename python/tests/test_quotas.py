"""Quotas: what each client may ask a server for in a minute."""

from __future__ import annotations

import hashlib
import logging
import time
from typing import Any

import pytest

import windlass as wl
from windlass._gate import Caller, Gate, Quotas, caller_of, listed
from windlass._problems import Problem
from windlass._shelf import Shelf

ROWS = {f"k{n}": b"%d" % n for n in range(30)}


def refusal(call: Any) -> tuple[str, int | None]:
    """The kind of a refusal, and the seconds to wait."""
    with pytest.raises(Problem) as refused:
        call()
    return refused.value.kind, refused.value.retry_after


def test_a_bucket_fills_in_a_minute_and_no_more_gathers() -> None:
    quotas = Quotas()
    assert quotas.take("one", 60, 60, 0.0) is None, "a minute's rows may come at once"
    assert quotas.take("one", 60, 2, 0.0) == (0, 2)
    assert quotas.take("other", 60, 60, 0.0) is None, "another client has its own"
    assert quotas.take("one", 60, 2, 2.0) is None
    assert quotas.take("one", 60, 1, 2.0) == (0, 1)
    quotas.give_back("one", 1)
    assert quotas.take("one", 60, 1, 2.0) is None
    assert quotas.take("one", 60, 60, 500.0) is None
    assert quotas.take("one", 60, 1, 500.0) == (0, 1)
    # A changed quota counts from now on.
    quotas.take("ada", 60, 10, 0.0)
    assert quotas.take("ada", 20, 20, 0.0) is None
    assert quotas.take("ada", 20, 1, 0.0) == (0, 3)
    quotas.give_back("ada", 100)
    assert quotas.take("ada", 20, 20, 0.0) is None and quotas.take("ada", 20, 1, 0.0) is not None
    quotas.give_back("nobody", 5)
    assert len(quotas) == 3


def test_who_was_forgotten_gets_no_second_quota() -> None:
    quotas = Quotas(100)
    taken = [0] * 1000
    for _ in range(2):
        for number in range(1000):
            while quotas.take(f"address {number}", 60, 10, 0.0) is None:
                taken[number] += 10
            assert len(quotas) <= 100
    assert max(taken) == taken[0] == 60
    for number in (0, 500, 999, 2000):
        assert quotas.take(f"address {number}", 60, 60, 60.0) is None, number


def test_clients_are_told_apart_by_token_certificate_or_address() -> None:
    assert caller_of("10.0.0.1").name == "address 10.0.0.1" == caller_of("::ffff:10.0.0.1").name
    assert caller_of("2001:db8:1:2:3:4:5:6") == caller_of("2001:db8:1:2:ffff::1")
    assert caller_of("2001:db8:1:2::1").name == "addresses 2001:db8:1:2::/64"
    assert caller_of("2001:db8:1:2::1") != caller_of("2001:db8:1:3::1")
    assert caller_of("fe80::1%eth0").name == "addresses fe80::/64"
    shown = hashlib.sha256(b"der").hexdigest()[:16]
    assert caller_of("10.0.0.1", b"der").name == f"certificate {shown}"
    peer = caller_of("10.0.0.1")
    gate = Gate(listed({"ada": "s3cret", "alan": ("other", 3)}), 60)
    assert gate.admit("Bearer s3cret", peer) == Caller("token ada")
    assert gate.admit("bearer  other", peer) == Caller("token alan", 3)
    for bad in (None, "Bearer", "Bearer x", "Basic s3cret", "s3cret"):
        assert refusal(lambda bad=bad: gate.admit(bad, peer)) == ("unauthorised", None), bad
    assert refusal(lambda: gate.take(Caller("token alan", 3), 4)) == ("above-quota", None)
    gate.take(Caller("token alan", 3), 3)
    assert refusal(lambda: gate.take(Caller("token alan", 3), 1)) == ("quota", 20)
    gate.take(Caller("token ada"), 60)
    open_gate = Gate(None, None)
    assert open_gate.admit(None, peer) is peer
    open_gate.take(peer, 1 << 20)


def test_keys_of_a_client_stay_in_its_share() -> None:
    shelf = Shelf(10, 4)
    assert not shelf.put("large", 0, 5, "one")
    assert shelf.put("a", 1, 2, "one") and shelf.put("b", 2, 2, "one")
    assert shelf.put("other", 3, 4, "two") and shelf.get("a") == 1
    assert shelf.put("c", 4, 2, "one")
    assert (shelf.get("b"), shelf.get("a"), shelf.get("other")) == (None, 1, 3)
    assert (shelf.bytes, shelf.evicted, len(shelf)) == (8, 1, 3)
    # When all of the room is taken, the longest unused of all go.
    assert shelf.put("d", 5, 4, "three")
    assert shelf.get("c") is None and shelf.get("a") == 1 and shelf.get("other") == 3
    shelf.drop("other")
    shelf.drop("never there")
    assert (shelf.bytes, len(shelf)) == (6, 2)


def told(call: Any) -> tuple[int | None, str | None]:
    with pytest.raises(wl.ServiceError) as refused:
        call()
    return refused.value.status, refused.value.problem


def test_each_client_of_a_server_has_its_quota() -> None:
    table = wl.Table.from_items(ROWS, progress=False)
    tokens: dict[str, str | tuple[str, int]] = {"ada": "s3cret", "alan": ("other", 2)}
    with wl.TableServer(table, port=0, tokens=tokens, quota=4) as server:
        ada = wl.LookupService(server.url, token="s3cret", retries=0)
        alan = wl.LookupService(server.url, token="other", retries=0)
        assert told(lambda: ada.ask(["k1"] * 5)) == (413, "above-quota")
        assert ada.ask(["k1", "k2", "k3"]) == [b"1", b"2", b"3"]
        with pytest.raises(wl.ServiceUnavailable, match="portions of rows in a minute"):
            ada.ask(["k1", "k2"])
        assert ada.ask("k4") == [b"4"], "a refused query is not counted"
        # Another client has a quota of its own, which comes with its token.
        assert told(lambda: alan.ask(["k1"] * 3)) == (413, "above-quota")
        assert alan.ask(["k5", "k6"]) == [b"5", b"6"]


def test_a_client_that_waits_is_answered() -> None:
    table = wl.Table.from_items(ROWS, progress=False)
    with wl.TableServer(table, port=0, quota=30) as server:
        service = wl.LookupService(server.url)
        service.ask(["k1"] * 30)
        begun = time.monotonic()
        assert service.ask("k7") == [b"7"]
        assert time.monotonic() - begun > 0.5, "two seconds bring a portion"


def test_points_count_as_portions() -> None:
    key = wl.OprfKey.generate()
    table = wl.Table.from_items(ROWS, oprf_key=key, progress=False)
    with wl.TableServer(table, port=0, oprf_key=key, quota=7) as server:
        service = wl.LookupService(server.url, retries=0)
        assert told(lambda: service.ask(["a"] * 8)) == (413, "above-quota")
        assert service.ask(["k1", "nobody"]) == [b"1", None], "two points and two rows"
        # Points that cannot be multiplied are given back.
        assert service._send("POST", "/blind", bytes(96), 100).kind() == "unreadable"
        points = wl.TableClient(table.schema).blind(["a", "b", "c"]).points
        assert service._send("POST", "/blind", points, 100).status == 200
        refused = service._send("POST", "/blind", points, 4096)
        assert (refused.status, refused.kind()) == (429, "quota")


def test_portions_count_one_by_one(caplog: pytest.LogCaptureFixture) -> None:
    rows = {"short": b"1", "long": bytes(range(256)) * 100}
    table = wl.Table.from_items(rows, progress=False)
    assert table.portions > 5
    with caplog.at_level(logging.WARNING, "windlass.server"):
        server = wl.TableServer(table, port=0, quota=5)
    assert "more than the quota of a minute" in caplog.text
    with server:
        service = wl.LookupService(server.url, retries=0)
        assert told(lambda: service.ask("short")) == (413, "above-quota")
        assert service.ask(["short", "short"], portions=True) == [b"1", b"1"]


def test_a_client_has_its_share_of_the_memory_for_keys() -> None:
    # More than one polynomial: a query needs evaluation keys.
    long = {name: row + bytes(9000) for name, row in ROWS.items()}
    table = wl.Table.from_items(long, progress=False)
    room = wl.TableKeys(wl.TableClient(table.schema).keys()).nbytes
    tokens = {"ada": "one", "alan": "two"}
    with wl.TableServer(table, port=0, tokens=tokens, client_keys=room) as server:
        alan = wl.LookupService(server.url, token="two")
        assert alan.ask("k1") == [long["k1"]]
        for _ in range(3):
            assert wl.LookupService(server.url, token="one").ask("k2") == [long["k2"]]
        assert alan.ask("k3") == [long["k3"]] and alan.uploads == 1
        assert server._keys.evicted == 2
    with wl.TableServer(table, port=0, client_keys=room - 1) as server:
        service = wl.LookupService(server.url, retries=0)
        assert told(lambda: service.ask("k1")) == (413, "keys-too-large")


def test_quotas_that_mean_nothing_are_refused() -> None:
    table = wl.Table.from_rows([b"zero"])
    cases: list[tuple[type[Exception], dict[str, Any]]] = [
        (wl.ParameterError, {"quota": 0}),
        (wl.ParameterError, {"quota": -1}),
        (wl.ParameterError, {"client_keys": 0}),
        (wl.ParameterError, {"tokens": {"ada": ("s3cret", 0)}}),
        (wl.DTypeError, {"quota": 1.5}),
        (wl.DTypeError, {"quota": True}),
        (wl.DTypeError, {"tokens": {"ada": 5}}),
        (wl.DTypeError, {"tokens": {"ada": ("s3cret", "many")}}),
        (wl.DTypeError, {"tokens": {"ada": ("a", 1, 2)}}),
    ]
    for kind, arguments in cases:
        with pytest.raises(kind):
            wl.TableServer(table, port=0, **arguments)


@pytest.mark.parametrize(
    ("tokens", "refusal", "says"),
    [
        ({"ada": ""}, wl.ParameterError, "not empty"),
        ({"ada": " x"}, wl.ParameterError, "without blanks"),
        ({"ada": "x\n"}, wl.ParameterError, "without blanks"),
        ({"ada": "é"}, wl.ParameterError, "letters, digits and signs"),
        ({"ada": "x", "alan": "x"}, wl.ParameterError, "'alan' has the token of another client"),
        (["x"], wl.DTypeError, "a mapping of names to tokens, not list"),
    ],
)
def test_tokens_that_would_let_strangers_in(
    tokens: Any, refusal: type[Exception], says: str
) -> None:
    table = wl.Table.from_items({"a": b"1"}, progress=False)
    with pytest.raises(refusal, match=says):
        wl.TableServer(table, port=0, tokens=tokens)
