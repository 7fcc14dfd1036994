"""Sharded products on a local Ray cluster of two nodes: answers, memory, killed workers."""

from __future__ import annotations

import doctest
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import windlass as wl

ray = pytest.importorskip("ray")

QUIET = {
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
}
# A machine that says nothing for so long is lost; Ray waits longer.
HEALTH = {"health_check_period_ms": 1000, "health_check_failure_threshold": 3}
pytestmark = pytest.mark.filterwarnings("ignore")  # those of Ray are not ours

CONTEXT = wl.Context.preset("insecure_toy_256")
MODULUS = 257
NODES = 2
CPUS = 2
SHARE = 0.2  # of a CPU: Ray counts them, and workers of several tests are there at once


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[Any]:
    """Two nodes of two CPUs each, and small object stores; gone at the end, come what may."""
    from ray.cluster_utils import Cluster

    before = dict(os.environ)
    os.environ.update(QUIET)
    node = {"num_cpus": CPUS, "object_store_memory": 200 << 20}
    cluster = None
    try:
        cluster = Cluster(
            initialize_head=True,
            head_node_args={**node, "include_dashboard": False, "_system_config": HEALTH},
        )
        for _ in range(NODES - 1):
            cluster.add_node(**node)
        ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
        yield cluster
    finally:
        ray.shutdown()
        if cluster is not None:
            cluster.shutdown()
        os.environ.clear()
        os.environ.update(before)


def matrix(rows: int, columns: int, seed: int = 1) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(-5, 6, (rows, columns))


def vectors(count: int, length: int) -> NDArray[np.int64]:
    return np.random.default_rng(2).integers(-9, 10, (count, length))


def centred(x: NDArray[Any]) -> NDArray[Any]:
    """Residues as decryption gives them."""
    half = MODULUS // 2
    return (x + half) % MODULUS - half


@pytest.fixture(scope="module")
def wide() -> Iterator[tuple[Any, wl.Client, NDArray[np.int64]]]:
    """A matrix in 2 x 2 blocks over four workers, with its client."""
    from windlass.ray import ShardedLinear

    W = matrix(150, 200)
    with ShardedLinear(CONTEXT, W, workers=4, cpus_per_worker=SHARE) as sharded:
        client, server = CONTEXT.generate_keys(sharded, progress=False)
        yield sharded.serve(server), client, W


@pytest.mark.parametrize(
    ("shape", "blocks", "query", "answer"),
    [
        ((40, 90), (1, 3), (3, 30), (40,)),  # columns within one ciphertext
        ((90, 40), (3, 1), (40,), (3, 30)),  # rows within one ciphertext
        ((300, 400), (3, 4), (400,), (300,)),  # whole ciphertexts, the last ones short
        ((10, 300), (2, 3), (300,), (2, 5)),  # both at once
        ((5, 3), (1, 1), (3,), (5,)),
        ((7, 10), (2, 4), (4, 3), (2, 4)),  # blocks that do not come out even
    ],
)
def test_products(
    shape: tuple[int, int],
    blocks: tuple[int, int],
    query: tuple[int, ...],
    answer: tuple[int, ...],
) -> None:
    from windlass.ray import ShardedLinear

    W, bias, X = matrix(*shape), matrix(1, shape[0])[0], vectors(3, shape[1])
    with ShardedLinear(
        CONTEXT, W, bias, blocks=blocks, workers=3, cpus_per_worker=SHARE
    ) as sharded:
        assert (sharded.query_shape, sharded.answer_shape) == (query, answer)
        steps = list(sharded.progress())
        count = blocks[0] * blocks[1]
        assert [step.done for step in steps] == list(range(1, count + 1))
        assert {(step.total, step.what) for step in steps} == {(count, "plan")}
        client, server = CONTEXT.generate_keys(sharded, progress=False)
        sharded.serve(server)
        assert [step.what for step in sharded.progress()] == ["constants"] * count
        # All rows at once, and one vector.
        encrypted = sharded(client.encrypt(sharded.split(X)))
        assert encrypted.shape == (3, *answer)
        product = sharded.join(client.decrypt(encrypted))
        np.testing.assert_array_equal(product, centred(X @ W.T + bias))
        one = sharded @ client.encrypt(sharded.split(X[1]))
        np.testing.assert_array_equal(sharded.join(client.decrypt(one)), product[1])
        # The keys are those that the blocks need, and no others.
        assert server.galois_elements == sharded.required_keys
        assert f"{shape[0]} x {shape[1]}" in sharded.explain()


def test_default_blocks_give_each_worker_one(wide: Any) -> None:
    sharded, _, _ = wide
    assert sharded.blocks == (2, 2)
    workers = sharded.workers()
    assert sorted(place for worker in workers for place in worker.blocks) == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
    ]
    assert len({worker.pid for worker in workers}) == 4
    nodes = [worker.node for worker in workers]
    assert sorted(nodes.count(node) for node in set(nodes)) == [2, 2]
    assert "2 x 2 blocks" in repr(sharded)


def test_approximate_numbers() -> None:
    from windlass.ray import ShardedLinear

    context = wl.Context.approximate(depth=1, scale_bits=40)
    rng = np.random.default_rng(3)
    W, x = rng.normal(size=(3, 8)), rng.normal(size=8) / 4
    with ShardedLinear(context, W, blocks=(1, 2), workers=2, cpus_per_worker=SHARE) as sharded:
        client, server = context.generate_keys(sharded, progress=False)
        sharded.serve(server)
        y = sharded @ client.encrypt(sharded.split(x))
        np.testing.assert_allclose(sharded.join(client.decrypt(y)), W @ x, atol=1e-5)


def test_lookup() -> None:
    from windlass.ray import ShardedLookup

    table = matrix(300, 4)
    with ShardedLookup(CONTEXT, table, workers=3, cpus_per_worker=SHARE) as lookup:
        client, server = CONTEXT.generate_keys(lookup, progress=False)
        lookup.serve(server)
        rows = [0, 127, 128, 299]
        answer = lookup(client.encrypt(lookup.select(rows)))
        np.testing.assert_array_equal(lookup.join(client.decrypt(answer)), table[rows])
        one = lookup @ client.encrypt(lookup.select(130))
        np.testing.assert_array_equal(lookup.join(client.decrypt(one)), table[130])
        for wrong in (300, -1, [0, 300]):
            with pytest.raises(wl.ParameterError, match="0 to 299"):
                lookup.select(wrong)
        with pytest.raises(wl.DTypeError):
            lookup.select(1.5)  # type: ignore[arg-type]


def test_stream_keeps_order_and_bounds(wide: Any) -> None:
    sharded, client, W = wide
    X = vectors(8, W.shape[1])
    taken, stop = 0, -1

    def queries() -> Iterator[wl.Ciphertext]:
        nonlocal taken
        for k in itertools.count():  # without an end of its own: it must not be run through
            if taken == stop:
                return
            taken += 1
            yield client.encrypt(X[k % len(X)])

    stream = sharded.stream(queries(), in_flight=3)
    most = 0
    for number, answer in enumerate(itertools.islice(stream, 20)):
        np.testing.assert_array_equal(client.decrypt(answer), centred(W @ X[number % len(X)]))
        assert stream.done == number + 1
        assert stream.submitted - stream.done == stream.in_flight <= 2
        assert taken <= stream.done + 2
        most = max(most, stream.in_flight)
    assert most == 2  # with the one that was given: three
    stop = taken
    assert len(list(stream)) == 2
    assert list(sharded.stream([])) == []
    with pytest.raises(wl.ParameterError):
        sharded.stream([], in_flight=0)


def test_partial_results_are_summed_in_a_tree(wide: Any) -> None:
    sharded, client, W = wide
    before = {worker.number: worker for worker in sharded.workers()}
    x = vectors(1, W.shape[1])[0]
    np.testing.assert_array_equal(client.decrypt(sharded @ client.encrypt(x)), centred(W @ x))
    after = sharded.workers()
    assert [worker.products - before[worker.number].products for worker in after] == [1, 1, 1, 1]
    # One sum for each row of blocks, by the worker of the left one, which was given a ciphertext.
    assert [worker.sums - before[worker.number].sums for worker in after] == [1, 0, 1, 0]
    moved = [worker.received - before[worker.number].received for worker in after]
    assert moved[0] > moved[1] > 0


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 13])
def test_depth_of_the_tree(count: int) -> None:
    from windlass.ray import ShardedLinear

    class Recorder:
        def __init__(self, number: int) -> None:
            self.number = number
            self.add = self

        def remote(self, left: Any, right: Any) -> Any:
            assert left[2] == self.number, "the worker has its left summand already"
            return (left[0] + right[0], max(left[1], right[1]) + 1, self.number)

    sharded = object.__new__(ShardedLinear)
    sharded._workers = [Recorder(number) for number in range(count)]
    leaves, depth, _ = sharded._sum([(k, ([k], 0, k)) for k in range(count)])
    assert leaves == list(range(count))
    assert depth == (count - 1).bit_length()
    sharded._workers = []


def test_a_killed_worker_is_replaced(wide: Any) -> None:
    sharded, client, W = wide
    X = vectors(8, W.shape[1])
    victim = sharded.workers()[1]
    stream = sharded.stream(client.encrypt(X[k % len(X)]) for k in range(60))
    for number, answer in enumerate(stream):
        if number == 5:
            assert stream.in_flight > 0, "work is under way"
            os.kill(victim.pid, signal.SIGKILL)
        np.testing.assert_array_equal(client.decrypt(answer), centred(W @ X[number % len(X)]))
    assert stream.done == 60
    now = sharded.workers()[1]
    assert now.pid != victim.pid
    assert now.blocks == victim.blocks
    assert 0 < now.products <= 60


def test_a_worker_killed_while_it_plans() -> None:
    from windlass.ray import ShardedLinear

    W, x = matrix(256, 256), vectors(1, 256)[0]
    with ShardedLinear(CONTEXT, W, blocks=(2, 2), workers=2, cpus_per_worker=SHARE) as sharded:
        os.kill(sharded.workers()[0].pid, signal.SIGKILL)
        client, server = CONTEXT.generate_keys(sharded, progress=False)
        sharded.serve(server)
        os.kill(sharded.workers()[1].pid, signal.SIGKILL)
        np.testing.assert_array_equal(client.decrypt(sharded @ client.encrypt(x)), centred(W @ x))


def test_a_worker_that_may_not_be_replaced() -> None:
    from windlass.ray import ShardedLinear, WorkerLost

    with ShardedLinear(
        CONTEXT, matrix(3, 3), workers=1, cpus_per_worker=SHARE, restarts=0
    ) as sharded:
        client, server = CONTEXT.generate_keys(sharded, progress=False)
        sharded.serve(server)
        query = client.encrypt([1, 2, 3])
        assert sharded(query).shape == (3,)
        os.kill(sharded.workers()[0].pid, signal.SIGKILL)
        with pytest.raises(WorkerLost):
            sharded(query)


@pytest.mark.skipif("WINDLASS_NIGHTLY" not in os.environ, reason="starts two nodes more: nightly")
def test_a_machine_that_is_lost(cluster: Any) -> None:
    from windlass.ray import ShardedLinear

    W, x = matrix(30, 30), vectors(1, 30)[0]
    node = cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
    # Each machine has room for one such worker.
    with ShardedLinear(CONTEXT, W, blocks=(1, 3), workers=3, cpus_per_worker=0.95) as sharded:
        client, server = CONTEXT.generate_keys(sharded, progress=False)
        sharded.serve(server)
        query = client.encrypt(sharded.split(x))
        np.testing.assert_array_equal(client.decrypt(sharded(query)), centred(W @ x))
        before = {worker.node for worker in sharded.workers()}
        assert node.node_id in before, "a worker is there"
        # Another machine comes, and that one goes.
        other = cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
        cluster.remove_node(node, allow_graceful=False)
        np.testing.assert_array_equal(client.decrypt(sharded(query)), centred(W @ x))
        after = {worker.node for worker in sharded.workers()}
        assert after == before - {node.node_id} | {other.node_id}


def test_keys_lie_once_on_each_node() -> None:
    from windlass.ray import ShardedLinear

    context = wl.Context.plan(modulus=65537, depth=1)
    W = np.eye(4, dtype=np.int64)
    with ShardedLinear(context, W, blocks=(4, 1), workers=4, cpus_per_worker=SHARE) as sharded:
        elements = [pow(3, k, context.m) for k in range(1, 41)]
        circuits = (sharded, context.keys(elements))
        client, server = context.generate_keys(*circuits, progress=False)
        size = server.nbytes
        assert size > 40 << 20
        before = {worker.number: worker for worker in sharded.workers()}
        sharded.serve(server)
        y = client.decrypt(sharded @ client.encrypt([1, 2, 3, 4]))
        np.testing.assert_array_equal(sharded.join(y), [1, 2, 3, 4])
        for worker in sharded.workers():
            used = worker.rss - before[worker.number].rss
            own = worker.private - before[worker.number].private
            assert used > 0.9 * size, "each reads all of the keys"
            assert own < 0.4 * size, "and has no copy of them"


def test_another_server_takes_the_place_of_the_first(wide: Any) -> None:
    sharded, client, W = wide
    x = vectors(1, W.shape[1])[0]
    other, server = CONTEXT.generate_keys(sharded, progress=False)
    sharded.serve(server)
    np.testing.assert_array_equal(other.decrypt(sharded @ other.encrypt(x)), centred(W @ x))
    with pytest.raises(wl.OtherKeyPair):
        sharded @ client.encrypt(x)
    # The workers are as well as before.
    np.testing.assert_array_equal(other.decrypt(sharded @ other.encrypt(x)), centred(W @ x))


def test_constants_in_files(tmp_path: Path) -> None:
    from windlass.ray import ShardedLinear

    W, x = matrix(20, 256), vectors(1, 256)[0]
    files: dict[str, int] = {}
    for attempt in range(3):
        with ShardedLinear(
            CONTEXT, W, workers=2, cpus_per_worker=SHARE, directory=tmp_path / "constants"
        ) as sharded:
            client, server = CONTEXT.generate_keys(sharded, progress=False)
            sharded.serve(server)
            y = sharded @ client.encrypt(x)
            np.testing.assert_array_equal(client.decrypt(y), centred(W @ x))
        now = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "constants").iterdir()}
        assert len(now) == 2
        assert files in ({}, now), "they are made once"
        files = now
        if attempt == 1:  # what is no such file any more is not used
            for file in (tmp_path / "constants").iterdir():
                file.chmod(0o600)
                file.write_bytes(file.read_bytes()[:-9])
            files = {}


def test_what_does_not_belong(wide: Any) -> None:
    from windlass.ray import ShardedLinear

    sharded, client, W = wide
    other = wl.Context.preset("insecure_toy_256", scheme="BFV")
    stranger, elsewhere = other.generate_keys(progress=False)
    with pytest.raises(wl.OtherContext):
        sharded @ stranger.encrypt(np.ones(W.shape[1], int))
    with pytest.raises(wl.OtherContext):
        sharded.serve(elsewhere)
    with pytest.raises(wl.ShapeError, match="200"):
        sharded @ client.encrypt([1, 2, 3])
    with pytest.raises(wl.ShapeError, match="200"):
        sharded.split([1, 2, 3])
    with pytest.raises(wl.ShapeError, match="150"):
        sharded.join([1, 2, 3])
    with pytest.raises(wl.DTypeError, match="encrypt"):
        sharded @ np.ones(W.shape[1])
    _, poor = CONTEXT.generate_keys(progress=False)
    with pytest.raises(wl.MissingGaloisKey) as refused:
        sharded.serve(poor)
    assert refused.value.elements == sharded.required_keys
    for wrong in ([1, 2], np.ones((0, 3), int), np.ones((1, 2, 3), int)):
        with pytest.raises(wl.ShapeError):
            ShardedLinear(CONTEXT, wrong)
    with pytest.raises(wl.DTypeError):
        ShardedLinear(CONTEXT, [["a", "b"]])
    with pytest.raises(wl.ShapeError, match="bias"):
        ShardedLinear(CONTEXT, W, [1, 2, 3])
    for blocks in ((0, 1), (151, 1), (1, 201), (2, -1)):
        with pytest.raises(wl.ParameterError, match="blocks"):
            ShardedLinear(CONTEXT, W, blocks=blocks)
    with pytest.raises(wl.ParameterError, match="CPUs"):
        ShardedLinear(CONTEXT, W, workers=1000)
    with pytest.raises(wl.ParameterError, match="at least 1"):
        ShardedLinear(CONTEXT, W, workers=0)


def test_errors_of_workers_are_those_of_the_package() -> None:
    from windlass.ray import ShardedLinear

    W = matrix(20, 30)
    W[13, 27] = 10**6
    with ShardedLinear(CONTEXT, W, blocks=(3, 3), workers=2, cpus_per_worker=SHARE) as sharded:
        with pytest.raises(wl.ValueRangeError) as refused:
            list(sharded.progress())
        assert refused.value.index == 13 * 30 + 27
        assert refused.value.value == "1000000"
    query = CONTEXT.generate_keys(progress=False)[0].encrypt([1, 2])
    with (
        ShardedLinear(CONTEXT, matrix(2, 2), workers=1, cpus_per_worker=SHARE) as sharded,
        pytest.raises(wl.NotBound, match="serve"),
    ):
        sharded @ query
    with ShardedLinear(
        CONTEXT, matrix(2, 2), workers=1, cpus_per_worker=SHARE, strategy="magic"
    ) as sharded:
        with pytest.raises(wl.UnknownName) as unknown:
            list(sharded.progress())
        assert unknown.value.given == "magic"


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )


def test_ray_is_imported_on_demand_alone() -> None:
    done = python("import sys, windlass; assert 'ray' not in sys.modules; print('fine')")
    assert done.stdout == "fine\n", done.stderr


def test_without_ray_the_error_says_what_to_install() -> None:
    code = """
import sys
sys.modules["ray"] = None
import windlass as wl
try:
    import windlass.ray
except wl.WindlassError as error:
    assert isinstance(error, ImportError)
    print(error)
"""
    assert "pip install windlass[ray]" in python(code).stdout


def test_workers_end_with_close() -> None:
    from windlass.ray import ShardedLinear

    sharded = ShardedLinear(CONTEXT, matrix(3, 3), workers=1, cpus_per_worker=SHARE)
    pid = sharded.workers()[0].pid
    sharded.close()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()
    sharded.close()


ROOT = Path(__file__).resolve().parents[2]


class WithoutRay(doctest.OutputChecker):
    """What a program prints, without the lines of Ray about its workers."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        lines = [line for line in got.splitlines(keepends=True) if "(raylet)" not in line]
        return super().check_output(want, "".join(lines), optionflags)


def test_the_page_says_what_happens() -> None:
    text = (ROOT / "docs" / "how-to" / "ray.md").read_text(encoding="utf-8").replace("```", "\n")
    test = doctest.DocTestParser().get_doctest(text, {}, "ray.md", "ray.md", 0)
    assert len(test.examples) > 20
    problems: list[str] = []
    runner = doctest.DocTestRunner(checker=WithoutRay(), verbose=False)
    runner.run(test, out=problems.append)
    assert not runner.failures, "".join(problems)


def test_the_tutorial_runs() -> None:
    notebook = json.loads((ROOT / "docs" / "tutorials" / "ray.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5
    names: dict[str, Any] = {}
    for cell in cells:
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
        code = "".join(cell["source"])
        if "ray.shutdown" in code:
            continue  # the cluster here is for other tests as well
        exec(compile(code, cell["id"], "exec"), names)
    assert names["sharded"]._workers == [], "it ends its workers"
