"""Refusals, as ``windlass serve`` words them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from starlette.responses import Response

from windlass.errors import FileError, MissingKeys, OtherContext, OtherKeyPair, WindlassError

log = logging.getLogger("ray.serve")


class Kind(NamedTuple):
    """A kind of refusal, as ``windlass serve`` words it."""

    status: int
    title: str
    fix: str


KINDS = {
    "not-found": Kind(404, "No such page", "see /openapi.json for the list of pages"),
    "method": Kind(
        405, "This page does not support that method", "see /openapi.json for its methods"
    ),
    "unauthorised": Kind(
        401,
        "This service needs a token",
        "send the token that the owner of the service gave you (windlass ask --token-file FILE)",
    ),
    "quota": Kind(
        429,
        "The quota of rows is used up",
        "ask again after the time that Retry-After states",
    ),
    "not-hidden": Kind(
        404,
        "The keys of this table are not hidden",
        "fetch /schema again: it says whether keys are hidden",
    ),
    "other-oprf-key": Kind(
        500,
        "The service lacks the key that hides the keys of this table",
        "tell the owner of the service: it must be started with the table's own key "
        "(windlass serve --oprf-key FILE)",
    ),
    "unknown-keys": Kind(
        404,
        "The service does not have the evaluation keys",
        "upload them with PUT /keys/{sha256}, then ask again",
    ),
    "bad-name": Kind(
        400,
        "This is not the name of a set of keys",
        "name keys by the SHA-256 of their file, 64 hexadecimal digits",
    ),
    "other-name": Kind(
        400,
        "The name is not the hash of the body",
        "send the whole file, under the SHA-256 of its bytes",
    ),
    "unreadable": Kind(400, "The body cannot be read", "send the whole file unchanged"),
    "other-table": Kind(
        409,
        "The body was made for another table, or for another version of its schema",
        "fetch /schema again and ask under it",
    ),
    "missing-keys": Kind(
        422,
        "The evaluation keys do not suffice for this table",
        "make evaluation keys for the schema of this table and upload them",
    ),
    "other-key-pair": Kind(
        422,
        "The query belongs to another key pair than the keys",
        "ask with the secret key that the evaluation keys were made from",
    ),
    "too-large": Kind(
        413, "The body is longer than this table allows", "ask for fewer rows at a time"
    ),
    "keys-too-large": Kind(
        413,
        "The evaluation keys are longer than this service allows",
        "make evaluation keys for the schema of this table, and send their file alone",
    ),
    "above-quota": Kind(
        413,
        "The request is larger than the quota of a minute",
        "ask for fewer rows at a time, or ask the owner of the service for a larger quota",
    ),
    "too-slow": Kind(
        408, "The body took too long to arrive", "send it again over a faster connection"
    ),
    "busy": Kind(
        503, "Too many requests are waiting", "ask again after the time that Retry-After states"
    ),
    "timeout": Kind(
        504,
        "The answer took too long",
        "ask again later; if this persists, tell the owner of the service: "
        "answers may need more time",
    ),
    "stopping": Kind(503, "The service is stopping", "ask again when it is back"),
    "failed": Kind(
        500,
        "The service failed at this request",
        "ask again; if this persists, tell the owner of the service",
    ),
}


OWN_FIX = dict.fromkeys(
    ("not-found", "method"),
    "GET /schema, /health and /stats.json, HEAD and PUT /keys/{sha256}, and POST /ask are here "
    "(and POST /blind, where keys are hidden)",
)
"""What to do instead, where there is no /openapi.json."""


def too_long(most: int, rows: int | None) -> str:
    """Why a body is refused that has more bytes than are read."""
    told = "" if rows is None else f", those of a request for {rows} rows"
    return f"at most {most} bytes are read{told}"


class Problem(Exception):
    """A request is refused."""

    def __init__(self, kind: str, cause: str, retry_after: int | None = None) -> None:
        super().__init__(kind, cause)
        self.kind, self.cause, self.retry_after = kind, cause, retry_after

    @classmethod
    def of(cls, error: WindlassError) -> Problem:
        """That of a query that a table refuses."""
        kinds = {
            OtherKeyPair: "other-key-pair",
            MissingKeys: "missing-keys",
            OtherContext: "other-table",
            FileError: "unreadable",
        }
        for raised, kind in kinds.items():
            if isinstance(error, raised):
                return cls(kind, str(error))
        log.error("a query failed: %s", error)
        return cls("failed", type(error).__name__)

    def response(self) -> Response:
        """Problem details (RFC 9457), for Starlette."""
        from starlette.responses import JSONResponse

        kind = KINDS[self.kind]
        headers = {"Cache-Control": "no-store"}
        if self.retry_after is not None:
            headers["Retry-After"] = str(self.retry_after)
        if kind.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        said = {
            "type": f"urn:windlass:problem#{self.kind}",
            "title": kind.title,
            "status": kind.status,
            "detail": self.cause,
            "fix": OWN_FIX.get(self.kind, kind.fix),
        }
        return JSONResponse(said, kind.status, headers, "application/problem+json")
