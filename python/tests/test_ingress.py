"""The ingress of a table on Ray Serve, without a cluster: bounds, versions, replicas that end."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import windlass as wl

ray = pytest.importorskip("ray")
pytest.importorskip("ray.serve", reason="Ray Serve is not installed: pip install windlass[serve]")

from starlette.requests import Request  # noqa: E402
from starlette.responses import Response  # noqa: E402

from windlass import _ingress as serving  # noqa: E402
from windlass._gate import listed  # noqa: E402
from windlass._ingress import Guard, Ingress, Kept  # noqa: E402
from windlass._problems import OWN_FIX, Problem  # noqa: E402
from windlass._shards import Options, Reply, Shard  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # those of Ray are not ours

ROWS = [b"%099d" % n for n in range(9000)]
SHARDS = 2
NOBODY = "0" * 64


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """Shards and ingresses set the threads of their process."""
    before = wl.threads()
    yield
    wl.set_threads(before)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table that no test changes."""
    place = tmp_path_factory.mktemp("table") / "t"
    wl.Table.from_rows(ROWS, directory=place)
    return place


def options(place: Path, **others: Any) -> Options:
    kept: dict[str, Any] = {
        "directory": str(place),
        "shards": SHARDS,
        "threads": 1,
        "key_cache": 1 << 30,
        "rows": 32,
        "queue": 512,
        "bodies": 256 << 20,
        "answer_seconds": 60.0,
        "body_seconds": 30.0,
    }
    return Options(**kept | others)


class Handle:
    """What Ray gives for a deployment: each method has a `remote`."""

    def __init__(self, **methods: Callable[..., Awaitable[Reply]]) -> None:
        for name, method in methods.items():
            setattr(self, name, Remote(method))


class Remote:
    """A method of a replica; it notes what it is called with."""

    def __init__(self, method: Callable[..., Awaitable[Reply]]) -> None:
        self.method = method
        self.calls: list[tuple[Any, ...]] = []

    def remote(self, *arguments: Any) -> Awaitable[Reply]:
        self.calls.append(arguments)
        return self.method(*arguments)


def request(method: str, path: str, *pieces: bytes, length: int | None = None) -> Request:
    """A request whose body has these pieces; where it states a length, it stops there for good."""
    path, _, query = path.partition("?")
    left = list(pieces)

    async def receive() -> dict[str, Any]:
        if not left and length is not None:
            await asyncio.sleep(3600)
        body = left.pop(0) if left else b""
        return {"type": "http.request", "body": body, "more_body": bool(left) or length is not None}

    headers = [] if length is None else [(b"content-length", str(length).encode())]
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "root_path": "",
        "query_string": query.encode(),
        "headers": headers,
    }
    return Request(scope, receive)


def kind(response: Response) -> tuple[int, str]:
    """The status and the kind of a refusal."""
    problem = json.loads(bytes(response.body))
    return response.status_code, problem["type"].rpartition("#")[2]


def test_a_shard_that_is_behind_is_told_of_the_other_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody looks by the clock.
    monkeypatch.setattr("windlass._shards.LOOK", 3600.0)
    place = tmp_path / "t"
    table = wl.Table.from_rows(ROWS, directory=place)
    shards = [Shard(i, options(place)) for i in range(SHARDS)]
    old = shards[0]._shard.version  # type: ignore[union-attr]
    table.set({8765: b"7" * 99})
    assert shards[1]._table.refresh()
    shards[1]._shard = shards[1]._table.shard(1, SHARDS)
    new = shards[1]._shard.version
    assert old != new
    client = wl.TableClient(table.schema)
    keys, query = wl.TableKeys(client.keys()), client.query(8765)
    for shard in shards:
        shard._keys.put("me", keys, keys.nbytes)
    handles = [Handle(part=shard.part, combine=shard.combine) for shard in shards]
    ingress = Ingress(options(place), Guard(), *handles)
    answer = asyncio.run(ingress._answer("me", Kept(keys, None), query, table.selections))
    assert answer == table.answer(keys, query)
    assert client.rows(answer, 8765) == [b"7" * 99]
    # (name, query, selections, (what the other has, what is there of this one), keys)
    behind, ahead = ([call[3] for call in handle.part.calls] for handle in handles)  # type: ignore[attr-defined]
    assert behind == [("", ""), (new, old)]
    assert ahead == [("", ""), (old, new)]
    assert [shard._passes for shard in shards] == [2, 1], "a part that stays is not made again"


def test_a_table_that_cannot_be_opened_is_served_as_it_was(tmp_path: Path) -> None:
    place = tmp_path / "t"
    table = wl.Table.from_rows(ROWS, directory=place)
    client = wl.TableClient(table.schema)
    keys, query = wl.TableKeys(client.keys()), client.query(17)
    shard, ingress = Shard(0, options(place)), Ingress(options(place), Guard())

    class Refuses:
        """A table whose refresh fails in an unexpected way."""

        def refresh(self) -> bool:
            raise wl.ParameterError("24 bits of a message")

    def looks() -> None:
        for served in (shard, ingress):
            served._looked = 0.0
        shard._look([])
        asyncio.run(ingress._look())

    manifest = place / "table.json"
    text = manifest.read_text()
    said = json.loads(text)
    for name, number in [("message_bits", 24), ("rows", 0)]:
        said["schema"]["shape"][name] = number
        manifest.write_text(json.dumps(said))
        with pytest.raises(wl.FileError, match=r"table\.json"):
            table.refresh()
        looks()
        assert shard._shard is not None
        assert shard._shard.answer(keys, query) == table.shard(0, SHARDS).answer(keys, query)
        assert ingress._table.check(keys, query) == table.selections
    shard._table = ingress._table = Refuses()  # type: ignore[assignment]
    looks()


def test_a_query_that_ends_its_replicas_is_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "_FIRST_WAIT", 0.001)
    unavailable = ray.exceptions.ActorUnavailableError

    async def ends(*_: Any) -> Reply:
        raise ray.exceptions.ActorDiedError

    async def is_away(*_: Any) -> Reply:
        if len(away.part.calls) < 6:  # type: ignore[attr-defined]
            raise unavailable("for a moment", b"a" * 16)
        return Reply(b"part", "version")

    fatal, away = Handle(part=ends), Handle(part=is_away)
    ingress = Ingress(options(place), Guard(), fatal, away)
    kept: Any = None

    async def asked() -> None:
        with pytest.raises(Problem) as refused:
            await asyncio.wait_for(ingress._call(0, "part", "me", kept, b"?", 1, ("", "")), 20)
        assert (refused.value.kind, "3 replicas" in refused.value.cause) == ("failed", True)
        assert len(fatal.part.calls) == 3  # type: ignore[attr-defined]
        # One that is not reached for a while is one all the same.
        reply = await ingress._call(1, "part", "me", kept, b"?", 1, ("", ""))
        assert reply.data == b"part"

    asyncio.run(asked())


def test_bodies_are_bounded_each_and_together(place: Path) -> None:
    table = wl.Table.open(place)
    most = table.longest_keys
    client = wl.TableClient(table.schema)
    assert len(client.keys()) <= most < 1 << 26
    assert len(client.query([1, 2])) <= table.longest_query(2 * table.selections)
    ingress = Ingress(options(place, bodies=2 * most), Guard())

    async def put(*pieces: bytes, length: int | None = None) -> tuple[int, str]:
        name = hashlib.sha256(str(time.monotonic()).encode()).hexdigest()
        return kind(await ingress(request("PUT", f"/keys/{name}", *pieces, length=length)))

    async def send() -> None:
        assert await put(b"", length=1 << 40) == (413, "too-large")
        assert await put(bytes(most), b"?") == (413, "too-large")
        assert await put(bytes(most)) == (400, "other-name")
        slow = [asyncio.create_task(put(b"?", length=most)) for _ in range(2)]
        await asyncio.sleep(0.05)
        assert ingress._bodies.bytes == 2 * most
        assert await put(b"?") == (503, "busy")
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        assert ingress._bodies.bytes == 0
        assert await put(b"?") == (400, "other-name")

    asyncio.run(send())


def test_points_are_multiplied_and_counted(tmp_path: Path) -> None:
    key, place = wl.OprfKey.generate(), tmp_path / "hiding"
    key.save(tmp_path / "oprf.key")
    rows = {f"k{n}": b"row" for n in range(30)}
    table = wl.Table.from_items(rows, directory=place, room=60, oprf_key=key, progress=False)
    guard = Guard(str(tmp_path / "oprf.key"), listed({"ada": ("s3cret", 5)}), 100)
    ingress = Ingress(options(place, rows=4), guard)
    blinding = wl.TableClient(table.schema).blind(["k1", "k2"])

    async def blind(*pieces: bytes, length: int | None = None, token: str = "s3cret") -> Response:
        asked = request("POST", "/blind", *pieces, length=length)
        asked.scope["headers"].append((b"authorization", f"Bearer {token}".encode()))
        return await ingress(asked)

    async def send() -> None:
        answered = await blind(blinding.points)
        assert answered.status_code == 200
        assert len(blinding.finish(bytes(answered.body))) == 2
        assert kind(await blind(blinding.points, token="?")) == (401, "unauthorised")
        assert kind(await blind(bytes(64))) == (400, "unreadable"), "and they are given back"
        assert kind(await blind(bytes(129))) == (413, "too-large")
        assert (await blind(blinding.points[:32], blinding.points[32:])).status_code == 200
        refused = await blind(blinding.points)
        assert (kind(refused), refused.headers["Retry-After"]) == ((429, "quota"), "12")
        # Those who send points slowly take no place of those who ask or upload.
        slow = [asyncio.create_task(blind(b"?", length=32)) for _ in range(80)]
        await asyncio.sleep(0.05)
        assert ingress._bodies.places == {"uploads": 32, "queries": 64, "points": 0}
        assert kind(await blind(blinding.points)) == (503, "busy")
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)

    asyncio.run(send())
    # A table that takes its place with another key is not helped with.
    wl.Table.from_items(rows, directory=tmp_path / "next", oprf_key=wl.OprfKey.generate())
    place.rename(tmp_path / "old")
    (tmp_path / "next").rename(place)
    ingress._table.refresh()
    assert kind(asyncio.run(blind(blinding.points))) == (500, "other-oprf-key")
    plain = tmp_path / "plain"
    wl.Table.from_rows([b"row"], directory=plain)
    asked = request("POST", "/blind", blinding.points)
    refused = asyncio.run(Ingress(options(plain), Guard())(asked))
    assert kind(refused) == (404, "not-hidden")


def test_silent_strangers_hold_nothing_for_long(place: Path) -> None:
    ingress = Ingress(options(place), Guard())
    paths = [("POST", f"/ask?keys={NOBODY}"), ("PUT", f"/keys/{NOBODY}")]

    async def flood() -> None:
        ask, put = (
            [asyncio.create_task(ingress(request(*path, b"?", length=1000))) for _ in range(300)]
            for path in paths
        )
        begun = time.monotonic()
        assert (await ingress(request("GET", "/health"))).body == b"ok\n"
        assert {kind(response) for response in await asyncio.gather(*ask)} == {
            (404, "unknown-keys")
        }
        assert time.monotonic() < begun + 10, "a stranger is not waited for"
        # Whoever uploads is no stranger yet; what waits is bounded, and the others hear it.
        waiting = [task for task in put if not task.done()]
        assert len(waiting) == serving._MOST_UPLOADS
        refused = [task.result() for task in put if task.done()]
        assert {kind(response) for response in refused} == {(503, "busy")}
        assert {response.headers["Retry-After"] for response in refused} == {"1"}
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    asyncio.run(flood())


def test_lengths_that_are_none_are_as_if_not_stated(place: Path) -> None:
    ingress = Ingress(options(place), Guard())
    for stated in ("\u00b2", "9" * 5000, "-1"):
        asked = request("PUT", f"/keys/{NOBODY}", b"keys")
        asked.scope["headers"] = [(b"content-length", stated.encode("latin-1"))]
        assert kind(asyncio.run(ingress(asked))) == (400, "other-name")


def test_refusals_name_what_is_here_and_no_text_of_exceptions(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingress = Ingress(options(place), Guard())
    for asked in (request("GET", "/openapi.json"), request("DELETE", "/ask")):
        body = bytes(asyncio.run(ingress(asked)).body)
        assert b"openapi.json#" not in body
        fix = json.loads(body)["fix"]
        assert fix == OWN_FIX["method"]
        for page in ("/schema", "/health", "/stats.json", "/keys/", "/ask"):
            assert page in fix
    shard = Shard(0, options(place))
    client = wl.TableClient(wl.Table.open(place).schema)
    keys = wl.TableKeys(client.keys())
    shard._keys.put("me", keys, keys.nbytes)

    def fails(*_: Any) -> Any:
        raise RuntimeError("/secret/place")

    def lost(*_: Any) -> Any:
        raise ray.exceptions.RaySystemError("/secret/place")

    monkeypatch.setattr(shard, "_answer", fails)
    monkeypatch.setattr(shard, "_fetch", lost)

    async def ask() -> list[Reply]:
        query = client.query(1)
        return [
            await shard.part("me", query, 1, ("", ""), []),
            await shard.part("you", query, 1, ("", ""), [None]),
        ]

    failed, unknown = asyncio.run(ask())
    assert (failed.refused, failed.cause) == ("failed", "RuntimeError")
    assert (unknown.refused, unknown.cause) == ("unknown-keys", "you")
    assert Problem.of(wl.WindlassError("/secret/place")).cause == "WindlassError"
