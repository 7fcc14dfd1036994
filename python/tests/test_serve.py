"""A table over several processes, on Ray Serve: answers, killed replicas, lost keys, refusals."""

from __future__ import annotations

import asyncio
import doctest
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import windlass as wl

ray = pytest.importorskip("ray")
pytest.importorskip("ray.serve", reason="Ray Serve is not installed: pip install windlass[serve]")

QUIET = {
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
}
pytestmark = pytest.mark.filterwarnings("ignore")  # those of Ray are not ours

ROWS = {f"k{n}": b"row %d of a table" % n + b"." * 70 for n in range(6000)}
SHARDS = 2
ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Running:
    """A service with two shards of one replica each."""

    def __init__(self, place: Path) -> None:
        from ray import serve

        from windlass.serve import application

        self.directory = place / "served"
        self.table = wl.Table.from_items(ROWS, directory=self.directory, room=6100)
        self.port = free_port()
        serve.start(http_options={"host": "127.0.0.1", "port": self.port})
        # A body is waited for longer than any test may take.
        app = application(
            self.directory, shards=SHARDS, cpus_per_replica=0.1, rows=4, body_seconds=300
        )
        serve.run(app, name="zones")
        self.shards = [serve.get_deployment_handle(f"shard-{i}", "zones") for i in range(SHARDS)]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def send(self, method: str, path: str, body: bytes | None = None) -> tuple[int, Any, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body)
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def kind(self, method: str, path: str, body: bytes | None = None) -> tuple[int, str]:
        """The status and the kind of a refusal."""
        status, headers, said = self.send(method, path, body)
        assert headers["Content-Type"] == "application/problem+json"
        problem = json.loads(said)
        assert problem["status"] == status
        assert problem["detail"]
        assert problem["fix"]
        return status, problem["type"].rpartition("#")[2]

    def report(self, shard: int) -> dict[str, Any]:
        """What a replica says, as soon as there is one."""
        until = time.monotonic() + 60
        while True:
            try:
                return dict(self.shards[shard].report.remote().result(timeout_s=10))
            except Exception:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A local cluster with the service; gone at the end, come what may."""
    from ray import serve

    before = dict(os.environ)
    os.environ.update(QUIET)
    try:
        ray.init(
            num_cpus=2,
            object_store_memory=200 << 20,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="error",
        )
        yield Running(tmp_path_factory.mktemp("tables"))
    finally:
        serve.shutdown()
        ray.shutdown()
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture(scope="module")
def service(running: Running) -> wl.LookupService:
    return wl.LookupService(running.url)


def uploaded(running: Running, keys: bytes) -> str:
    """The name of a client's keys, which are there then."""
    name = hashlib.sha256(keys).hexdigest()
    assert running.send("PUT", f"/keys/{name}", keys)[0] in (201, 204)
    return name


# Hidden keys.


def test_the_ingress_helps_with_hidden_keys_and_counts(running: Running, tmp_path: Path) -> None:
    from ray import serve

    from windlass.serve import application

    key = wl.OprfKey.generate()
    key.save(tmp_path / "oprf.key")
    table = wl.Table.from_items(ROWS, directory=tmp_path / "served", oprf_key=key, progress=False)
    app = application(
        tmp_path / "served",
        shards=SHARDS,
        cpus_per_replica=0.1,
        rows=4,
        oprf_key=tmp_path / "oprf.key",
        tokens={"ada": "s3cret", "alan": ("other", 5)},
        quota=100,
    )
    serve.run(app, name="hidden", route_prefix="/hidden")
    try:
        url = f"{running.url}/hidden"
        ada = wl.LookupService(url, token="s3cret")
        assert ada.ask(["k17", "nobody", "k5999"]) == [ROWS["k17"], None, ROWS["k5999"]]
        assert ada.ask("k3", portions=True) == [ROWS["k3"]]
        alan = wl.LookupService(url, token="other", retries=0)
        assert alan.ask(["k1", "k2"]) == [ROWS["k1"], ROWS["k2"]]
        with pytest.raises(wl.ServiceUnavailable, match="token alan may ask for 5 portions"):
            alan.ask(["k1", "k2"])
        points = wl.TableClient(table.schema).blind(["k1"] * 4).points
        for service, body, status, problem in (
            (alan, points, 429, "quota"),
            (ada, b"", 400, "unreadable"),
            (ada, bytes(32), 400, "unreadable"),
            (ada, points + points[:32], 413, "too-large"),
        ):
            refused = service._send("POST", "/blind", body, 4096)
            assert (refused.status, refused.kind()) == (status, problem)
        status, headers, _ = running.send("GET", "/hidden/schema")
        assert (status, headers["WWW-Authenticate"]) == (401, "Bearer")
        assert running.send("GET", "/hidden/health")[0] == 200
        with pytest.raises(wl.ServiceError) as stranger:
            wl.LookupService(url, token="wrong")
        assert stranger.value.problem == "unauthorised"
    finally:
        serve.delete("hidden")
    # A table of plain keys has nothing to help with.
    assert running.kind("POST", "/blind", bytes(32)) == (404, "not-hidden")


# Without a cluster.


def test_refusals_are_those_of_windlass_serve() -> None:
    from windlass._problems import KINDS

    source = (ROOT / "crates/windlass-service/src/problem.rs").read_text()
    rule = re.compile(r'[A-Z_]+ = (\d+) "([a-z-]+)", "([^"]+)",\s+"([^"]+)";')
    found = {name: (int(status), title, fix) for status, name, title, fix in rule.findall(source)}
    assert found == {name: tuple(kind) for name, kind in KINDS.items()}


def test_the_longest_unused_go_first() -> None:
    from windlass._shelf import Shelf

    shelf = Shelf(10)
    assert shelf.put("a", 1, 4)
    assert shelf.put("b", 2, 4)
    assert shelf.get("a") == 1
    assert shelf.put("c", 3, 4)
    assert (shelf.get("b"), shelf.get("a"), shelf.get("c")) == (None, 1, 3)
    assert not shelf.put("d", 4, 11)
    assert (len(shelf), shelf.bytes, shelf.evicted) == (2, 8, 1)
    shelf.drop("a")
    shelf.drop("a")
    assert (shelf.get("a"), len(shelf), shelf.bytes) == (None, 1, 4)
    shelf.clear()
    assert (len(shelf), shelf.bytes) == (0, 0)


def test_what_waits_while_a_pass_runs_shares_the_next(tmp_path: Path) -> None:
    from windlass._shards import Options, Shard

    rows = [b"%099d" % n for n in range(3000)]
    table = wl.Table.from_rows(rows, directory=tmp_path / "t")
    client = wl.TableClient(table.schema)
    keys = wl.TableKeys(client.keys())

    async def ask() -> None:
        options = Options(str(tmp_path / "t"), 1, 1, 1 << 30, 32, 512, 1 << 28, 60.0, 30.0)
        shard = Shard(0, options)
        shard._keys.put("me", keys, keys.nbytes)
        assert (await shard.part("you", b"", 1, ("", ""), [])).refused == "keys"
        queries = [client.query(n) for n in range(12)]
        selections = table.selections
        asked = [shard.part("me", query, selections, ("", ""), []) for query in queries]
        # One among them is none: it alone is refused.
        bad = shard.part("me", queries[0][:-1], selections, ("", ""), [])
        *replies, refused = await asyncio.gather(*asked, bad)
        assert (refused.refused, refused.data) == ("unreadable", b"")
        whole = [table.answer(keys, query) for query in queries]
        combined = [
            shard.combine("me", query, [reply.data], [])
            for query, reply in zip(queries, replies, strict=True)
        ]
        assert [reply.data for reply in await asyncio.gather(*combined)] == whole
        assert shard._passes <= 2
        # A part of another query is our mistake, and is said.
        wrong = await shard.combine("me", queries[0], [replies[1].data], [])
        assert (wrong.refused, wrong.cause) == ("failed", "PartError")

    before = wl.threads()
    try:
        asyncio.run(ask())
    finally:
        wl.set_threads(before)


def test_passes_are_bounded_and_leave_out_what_nobody_waits_for() -> None:
    from windlass._shards import Job, next_pass

    loop = asyncio.new_event_loop()

    def job(selections: int) -> Any:
        keys: Any = None
        return Job(keys, b"", selections, "", "", None, loop.create_future())

    jobs = deque(job(selections) for selections in (2, 5, 14, 1, 40, 1))
    jobs[1].done.cancel()
    taken = []
    while jobs:
        taken.append([job.selections for job in next_pass(jobs)])
    assert taken == [[2, 14], [1], [40], [1]]
    loop.close()


def test_parts_are_checked() -> None:
    table = wl.Table.from_rows([b"%099d" % n for n in range(9000)])
    client = wl.TableClient(table.schema)
    keys, query = client.keys(), client.query(8765)
    parts = [table.shard(i, 2).answer(keys, query) for i in range(2)]
    assert table.combine(keys, query, reversed(parts)) == table.answer(keys, query)
    for some, index, reason in [
        (parts[:1], 1, "missing"),
        ([*parts, parts[0]], 0, "doubled"),
        ([parts[0], table.shard(1, 2).answer(keys, client.query(8765))], 1, "query"),
    ]:
        with pytest.raises(wl.PartError) as caught:
            table.combine(keys, query, some)
        assert (caught.value.index, caught.value.reason) == (index, reason)
    with pytest.raises(wl.FileError):
        table.combine(keys, query, [parts[0], parts[1][:-1]])
    with pytest.raises(wl.FileError):
        table.combine(keys, query, [query, query])
    with pytest.raises(wl.NoShards) as cut:
        table.shard(0, 1 << 20)
    assert 2 in cut.value.possible
    with pytest.raises(wl.ParameterError, match="not 2"):
        table.shard(2, 2)
    assert table.check(keys) == 0
    assert table.check(keys, query) == table.selections
    with pytest.raises(wl.OtherKeyPair):
        table.check(wl.TableClient(table.schema).keys(), query)
    with pytest.raises(wl.MissingKeys):
        table.check(wl.TableClient(wl.Table.from_rows([b"one"]).schema).keys(), query)


def test_services_that_cannot_be_are_refused(tmp_path: Path) -> None:
    from windlass.serve import application

    wl.Table.from_rows([b"one"], directory=tmp_path / "t")
    application(tmp_path / "t", shards=1)
    with pytest.raises(wl.NoShards):
        application(tmp_path / "t", shards=2)
    with pytest.raises(wl.ParameterError):
        application(tmp_path / "t", shards=1, rows=0)
    with pytest.raises(wl.FileError):
        application(tmp_path / "none", shards=1)


# With one.


def test_answers_are_those_of_one_machine(running: Running, service: wl.LookupService) -> None:
    asked = ["k7", "nobody", "k5999"]
    assert service.ask(asked) == [ROWS["k7"], None, ROWS["k5999"]]
    assert service.uploads == 1
    client = wl.TableClient(running.table.schema)
    keys = client.keys()  # others each time
    name, query = uploaded(running, keys), client.query(["k17", "k4000"])
    status, headers, answer = running.send("POST", f"/ask?keys={name}", query)
    assert (status, headers["Content-Type"]) == (200, "application/octet-stream")
    assert answer == running.table.answer(keys, query)
    status, headers, schema = running.send("GET", "/schema")
    assert (status, schema) == (200, running.table.schema)
    assert headers["ETag"] == f'"{running.table.schema_hash}"'
    assert running.send("GET", "/health")[::2] == (200, b"ok\n")
    stats = service.stats()
    assert (stats["table"]["count"], stats["shards"]) == (len(running.table), SHARDS)


def test_refusals_say_what_is_wrong(running: Running) -> None:
    client = wl.TableClient(running.table.schema)
    name, query = uploaded(running, client.keys()), client.query("k1")
    assert running.send("HEAD", f"/keys/{name}")[0] == 200
    assert running.send("HEAD", f"/keys/{'0' * 64}")[0] == 404
    ask = f"/ask?keys={name}"
    small = wl.TableClient(wl.Table.from_items({"k1": b"?"}).schema)
    foreign = small.query("k1")
    stranger = wl.TableClient(running.table.schema).query("k1")
    requests: list[tuple[tuple[Any, ...], tuple[int, str]]] = [
        (("GET", "/nothing"), (404, "not-found")),
        (("DELETE", "/ask"), (405, "method")),
        (("GET", f"/keys/{name}"), (405, "method")),
        (("POST", f"/ask?keys={'0' * 64}", query), (404, "unknown-keys")),
        (("POST", "/ask?keys=me", query), (400, "bad-name")),
        (("POST", "/ask", query), (400, "bad-name")),
        (("PUT", f"/keys/{'0' * 64}", b"keys"), (400, "other-name")),
        (("PUT", f"/keys/{hashlib.sha256(b'keys').hexdigest()}", b"keys"), (400, "unreadable")),
        (("POST", ask, query[:-1]), (400, "unreadable")),
        (("POST", ask, b""), (400, "unreadable")),
        (("POST", ask, foreign), (409, "other-table")),
        (("POST", ask, stranger), (422, "other-key-pair")),
        (("POST", ask, client.query(["k1"] * 5)), (413, "too-large")),
        (("POST", ask, bytes(4 << 20)), (413, "too-large")),
    ]
    for request, refused in requests:
        assert running.kind(*request) == refused, request[:2]
    keys = small.keys()
    name = hashlib.sha256(keys).hexdigest()
    status = running.send("PUT", f"/keys/{name}", keys)[0]
    if status == 201:  # of the same moduli
        assert running.kind("POST", f"/ask?keys={name}", query) == (422, "missing-keys")
    else:
        assert running.kind("PUT", f"/keys/{name}", keys) == (409, "other-table")


def test_silent_strangers_leave_the_service_free(
    running: Running, service: wl.LookupService
) -> None:
    head = f"POST /ask?keys={'0' * 64} HTTP/1.1\r\nHost: here\r\nContent-Length: 1000\r\n\r\n?"
    silent = []
    try:
        for _ in range(300):
            silent.append(socket.create_connection(("127.0.0.1", running.port), 10))
            silent[-1].sendall(head.encode())
        begun = time.monotonic()
        assert running.send("GET", "/health")[::2] == (200, b"ok\n")
        assert service.ask("k7") == [ROWS["k7"]]
        assert time.monotonic() < begun + 100, "nobody waits for them"
    finally:
        for stranger in silent:
            stranger.close()


def test_shards_that_lost_keys_fetch_them(running: Running, service: wl.LookupService) -> None:
    assert service.ask("k1") == [ROWS["k1"]]
    uploads = service.uploads
    for shard in running.shards:
        shard.forget.remote().result(timeout_s=30)
    assert [running.report(i)["keys"] for i in range(SHARDS)] == [0, 0]
    assert service.ask("k2") == [ROWS["k2"]]
    assert [running.report(i)["keys"] for i in range(SHARDS)] == [1, 1]
    assert service.uploads == uploads


def test_a_killed_replica_loses_no_query(running: Running, service: wl.LookupService) -> None:
    service.ask("k0")
    stop = threading.Event()
    asked: list[int] = []
    failed: list[str] = []

    def client(number: int) -> None:
        own = wl.LookupService(running.url, retries=0)  # it would hide what is lost
        count = number
        while not stop.is_set():
            key = f"k{count % 6000}"
            count += 101
            try:
                if own.ask(key) != [ROWS[key]]:
                    failed.append(f"{key} is wrong")
            except wl.WindlassError as error:
                failed.append(repr(error))
            asked.append(count)

    threads = [threading.Thread(target=client, args=(17 * n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    killed = []
    try:
        for shard in (0, 1, 0):
            before = len(asked)
            pid = running.report(shard)["pid"]
            assert pid not in killed
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)
            until = time.monotonic() + 60
            # Each client may have had an answer under way.
            while len(asked) < before + 2 * len(threads) and time.monotonic() < until:
                time.sleep(0.05)
            assert len(asked) >= before + 2 * len(threads), "answers after a replica was killed"
    finally:
        stop.set()
        for thread in threads:
            thread.join(120)
    assert failed == []
    assert not set(killed) & {running.report(i)["pid"] for i in range(SHARDS)}


def test_a_table_that_changes_is_never_mixed(running: Running, service: wl.LookupService) -> None:
    assert service.ask("k3") == [ROWS["k3"]]
    for version in range(3):
        fresh = b"version %d" % version
        running.table.set({"k3": fresh, f"new {version}": fresh})
        until = time.monotonic() + 30
        while service.ask("k3") != [fresh] and time.monotonic() < until:
            assert service.ask("k4") == [ROWS["k4"]]
        # Both bins of a key are of one version: what is there is found.
        assert service.ask(["k3", f"new {version}"]) == [fresh, fresh]


def test_windlass_ask_asks_it(running: Running, tmp_path: Path) -> None:
    beside = Path(os.environ.get("WINDLASS_CLI", "windlass")).with_name("windlass-ask")
    program = shutil.which(beside) or shutil.which("windlass-ask")
    if program is None:
        pytest.skip("windlass-ask is not there: cargo build -p windlass-service")
    command = [program, running.url, "--key", "k9", "--state", str(tmp_path / "state")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "row 9 of a table" in done.stdout


def test_the_page_says_what_happens(running: Running) -> None:
    page = (ROOT / "docs" / "how-to" / "service.md").read_text(encoding="utf-8")
    text = page.replace("```", "\n").replace("8766", str(running.port))
    test = doctest.DocTestParser().get_doctest(text, {}, "service.md", "service.md", 0)
    assert len(test.examples) > 12
    problems: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test, out=problems.append)
    assert not runner.failures, "".join(problems)
