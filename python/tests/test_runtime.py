"""Threads, the interpreter's lock, interrupts, forks, ends of the interpreter, memory, progress."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from conftest import Script, World, make

import windlass as wl
from windlass import _progress

UNIX = pytest.mark.skipif(sys.platform == "win32", reason="signals and forks of Unix")
LIMITS = pytest.mark.skipif(sys.platform != "linux", reason="limits on memory as Linux has them")


# Threads.


@pytest.mark.usefixtures("keep_threads")
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_share_everything(toy: World, threads: int) -> None:
    wl.set_threads(threads)
    assert wl.threads() == threads
    layer = toy.context.linear(np.arange(40 * 30).reshape(40, 30) % 13)
    world = make(toy.context, layer, toy.context.products(), toy.context.sum())

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(4):
            values = rng.integers(-100, 101, (3, 30))
            x = world.encrypt(values)
            square = values * values
            product = values @ layer.matrix.T
            for encrypted, wanted in (
                (x * x, square),
                (layer(x), product),
                (x.sum(), values.sum(axis=-1)),
                (x * values + x, square + values),
            ):
                np.testing.assert_array_equal((world.decrypt(encrypted) - wanted) % 257, 0)

    with ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(work, seed) for seed in range(12)]:
            done.result()


@pytest.mark.usefixtures("keep_threads")
def test_results_do_not_depend_on_threads(toy: World) -> None:
    values = np.arange(20 * 128).reshape(20, 128) % 200 - 100
    x = toy.encrypt(values)
    for threads in (1, 2, 4):
        wl.set_threads(threads)
        np.testing.assert_array_equal((toy.decrypt(x * x + 1) - values**2 - 1) % 257, 0)


def test_the_number_of_threads_comes_from_the_environment(script: Script) -> None:
    program = (
        "import os, sys\n"
        "os.environ[sys.argv[1]] = sys.argv[2]\n"
        "import windlass as wl\n"
        "print(wl.threads())"
    )
    assert script(program, "WINDLASS_THREADS", "3").stdout.strip() == "3"
    assert script(program, "RAYON_NUM_THREADS", "2").stdout.strip() == "2"
    for nonsense in ("0", "-1", "many", ""):
        assert int(script(program, "WINDLASS_THREADS", nonsense).stdout) >= 1


def longest_silence(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds that the work takes, and the longest that another Python thread stood still."""
    beats: list[float] = []
    stop = threading.Event()

    def beat() -> None:
        while not stop.is_set():
            beats.append(time.perf_counter())

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        started = time.perf_counter()
        work()
        ended = time.perf_counter()
    finally:
        stop.set()
        thread.join()
    inside = [beat for beat in beats if started <= beat <= ended]
    points = np.array([started, *inside, ended])
    return ended - started, float(np.diff(points).max())


@pytest.mark.parametrize(
    "name", ["encrypt", "decrypt", "multiply", "linear", "keys", "power", "pickle"]
)
def test_other_threads_run_meanwhile(toy: World, reals: World, name: str) -> None:
    # Held, the lock would stop the other thread for as long as the work takes.
    layer = toy.context.linear(np.arange(128 * 128).reshape(128, 128) % 17)
    world = make(toy.context, layer, toy.context.products())

    power = toy.context.power(5)

    def repeated(count: int) -> Callable[[], object]:
        if name == "encrypt":
            values = np.zeros((count, 8), int)
        else:
            x = world.encrypt(np.ones((count, 128), int))
        works: dict[str, Callable[[], object]] = {
            "encrypt": lambda: world.client.encrypt(values),
            "decrypt": lambda: world.client.decrypt(x),
            "multiply": lambda: x * x,
            "linear": lambda: layer(x, progress=False),
            "power": lambda: power(x, progress=False),
            "pickle": lambda: x.__reduce_ex__(5),
            "keys": lambda: [
                world.context.generate_keys(layer, progress=False) for _ in range(count // 20)
            ],
        }
        return works[name]

    count, fine = 400, False
    for _ in range(8):
        seconds, silence = longest_silence(repeated(count))
        if seconds < 0.4:
            count *= 3
        elif silence < seconds / 2:
            # Whoever holds the lock does so every time; a busy machine does not.
            fine = True
            break
    assert fine, f"{silence:.3f} of {seconds:.3f} seconds"


# Interrupts.

INTERRUPTED = """
import os, signal, sys, threading, time
# Shells start what runs in the background without it.
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
import windlass as wl

context = wl.Context.preset("insecure_toy_256")
layer = context.linear(np.arange(128 * 128).reshape(128, 128) % 17)
client, server = context.generate_keys(layer, context.products(), progress=False)
boot = wl.Context.preset("insecure_boot_256_p257")
what = sys.argv[1]
if what == "refresh":
    bclient, bserver = boot.generate_keys(boot.bootstrapping(), progress=False)
    spent = bserver.receive(bclient.encrypt(np.ones((1000, 3), int)))
many = server.receive(client.encrypt(np.ones((5000, 128), int)))
big = np.ones((40, 5000))
reals = wl.Context.approximate(depth=2)
wide = np.zeros((60000, 128), int)
works = {
    "linear": lambda: layer(many, progress=False),
    "linear with a bar": lambda: layer(many),
    "refresh": lambda: spent.refresh(progress=False),
    "power": lambda: many ** 7,
    "function": lambda: context.power(200)(many),
    "keys": lambda: reals.generate_keys(reals.keys(list(range(1, 16384, 2))), progress=False),
    "planning": lambda: reals.linear(np.random.default_rng(1).normal(size=(40, 5000))),
    "encrypt": lambda: client.encrypt(wide),
    "multiply": lambda: many * many,
}
sent = []

def interrupt():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(0.3, interrupt).start()
started = time.perf_counter()
try:
    # Again, where a fast machine is through before the signal.
    while time.perf_counter() - started < 60:
        works[what]()
except KeyboardInterrupt:
    print("interrupted after", time.perf_counter() - sent[0])
else:
    print("not interrupted in", time.perf_counter() - started)
# The process works on.
x = server.receive(client.encrypt([3, 4]))
assert client.decrypt(x * x).tolist() == [9, 16]
assert client.decrypt(layer(server.receive(client.encrypt(np.ones(128, int)))))[0] == (
    layer.matrix[0].sum() + 128) % 257 - 128
os._exit(0)
"""


@UNIX
@pytest.mark.parametrize(
    "what",
    [
        "linear",
        "linear with a bar",
        "refresh",
        "power",
        "function",
        "planning",
        "encrypt",
        "multiply",
    ],
)
def test_control_c(script: Script, what: str) -> None:
    done = script(INTERRUPTED, what, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("interrupted after"), done.stdout
    assert float(done.stdout.split()[-1]) < 0.5


@UNIX
def test_control_c_while_keys_are_made(script: Script) -> None:
    program = INTERRUPTED.replace("reals.keys(list(range(1, 16384, 2)))", "reals.keys(elements)")
    program = program.replace("sent = []", "elements = list(range(1, 4000, 2))\nsent = []")
    done = script(program, "keys", timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    if "OutOfMemory" in done.stderr:
        pytest.skip("too little memory for so many keys")
    assert done.stdout.startswith("interrupted after"), done.stdout
    assert float(done.stdout.split()[-1]) < 0.5


# Forks and other processes.

PROCESSES = """
import multiprocessing, pickle, sys
import numpy as np
import windlass as wl


def work(task):
    server, layer, text, threads = task
    if threads:
        wl.set_threads(threads)
    x = server.receive(pickle.loads(text))
    return pickle.dumps(layer(x, progress=False) + 1), pickle.dumps(x * x)


if __name__ == "__main__":
    context = wl.Context.preset("insecure_toy_256")
    matrix = np.arange(20 * 30).reshape(20, 30) % 11
    layer = context.linear(matrix)
    client, server = context.generate_keys(layer, context.products(), progress=False)
    rng = np.random.default_rng(1)
    rows = rng.integers(-9, 10, (4, 2, 30))
    # Used before: pools and tables are there when the process is forked.
    client.decrypt(layer(server.receive(client.encrypt(rows[0])), progress=False))
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        tasks = [
            (server, layer, pickle.dumps(client.encrypt(row)), threads)
            for row, threads in zip(rows, (None, 1, 2, None))
        ]
        for row, (product, square) in zip(rows, pool.map(work, tasks)):
            product, square = (client.decrypt(pickle.loads(text)) for text in (product, square))
            assert ((product - row @ matrix.T - 1) % 257 == 0).all()
            assert ((square - row * row) % 257 == 0).all()
    print("right")
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes(script: Script, method: str) -> None:
    if sys.platform == "win32" and method != "spawn":
        pytest.skip("Windows spawns")
    done = script(PROCESSES, method)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "right\n"


FORKED = """
import os, pickle, sys, threading, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python's own, about threads
import numpy as np
import windlass as wl

if sys.argv[1] != "0":
    wl.set_threads(int(sys.argv[1]))
context = wl.Context.preset("insecure_toy_256")
layer = context.linear(np.arange(128 * 128).reshape(128, 128) % 17)
client, server = context.generate_keys(layer, context.products(), progress=False)
x = server.receive(client.encrypt(np.arange(128)))
layer(x)
many = server.receive(client.encrypt(np.ones((400, 128), int)))
busy = threading.Thread(target=lambda: layer(many, progress=False), daemon=True)
if sys.argv[2] == "busy":
    busy.start()
    time.sleep(0.1)
answers = []
for child in range(3):
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        ok = client.decrypt(x * x).tolist() == ((np.arange(128) ** 2 + 128) % 257 - 128).tolist()
        layer(x)
        fresh, other = context.generate_keys(context.products(), progress=False)
        public = client.encryptor()
        mine = [client.encrypt([1, 2, 3]), public, public.encrypt([1, 2, 3])]
        mine += [client.generate_server(context.products(), progress=False), other]
        out = pickle.dumps((ok, [pickle.dumps(thing) for thing in mine]))
        os.write(writer, len(out).to_bytes(8, "little"))
        while out:
            out = out[os.write(writer, out):]
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        size = int.from_bytes(pipe.read(8), "little")
        answers.append(pickle.loads(pipe.read(size)))
    assert os.waitpid(process, 0)[1] == 0
assert all(ok for ok, _ in answers)
if sys.argv[3] == "randomness":
    # Nobody shares randomness with the process that it comes from.
    public = client.encryptor()
    mine = [client.encrypt([1, 2, 3]), public, public.encrypt([1, 2, 3])]
    mine += [client.generate_server(context.products(), progress=False)]
    answers.append((True, [pickle.dumps(thing) for thing in mine]))
    for texts in zip(*(texts for _, texts in answers)):
        assert len(set(texts)) == len(texts), "two processes made the same"
for _, texts in answers:
    assert client.decrypt(pickle.loads(texts[0])).tolist() == [1, 2, 3]
    assert client.decrypt(pickle.loads(texts[2])).tolist() == [1, 2, 3]
if busy.is_alive():
    busy.join()
layer(x)
print("right")
"""


@UNIX
@pytest.mark.parametrize("threads", ["0", "1", "2"])
def test_forks_after_use(script: Script, threads: str) -> None:
    done = script(FORKED, threads, "idle", "answers")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "right\n"


@UNIX
def test_forked_processes_share_no_randomness(script: Script) -> None:
    done = script(FORKED, "0", "idle", "randomness")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "right\n"


# The end of the interpreter.

ENDING = """
import sys, threading, time
import numpy as np
import windlass as wl

if "one" in sys.argv[1]:
    wl.set_threads(1)
context = wl.Context.preset("insecure_toy_256")
layer = context.linear(np.arange(128 * 128).reshape(128, 128) % 17)
client, server = context.generate_keys(layer, progress=False)
many = server.receive(client.encrypt(np.ones((3000, 128), int)))
few = many[:20]
progress = (lambda done, count: None) if "callback" in sys.argv[1] else False

def work():
    while True:
        if "short" in sys.argv[1]:
            few * 2
        else:
            layer(many, progress=progress)

for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
print("the end")
if "error" in sys.argv[1]:
    raise SystemExit(7)
"""


@pytest.mark.parametrize(
    "how", ["long", "short", "callback", "one long", "one short", "one callback", "error"]
)
def test_the_interpreter_ends_during_work(script: Script, how: str) -> None:
    done = script(ENDING, how)
    assert done.returncode == (7 if how == "error" else 0), done.stderr
    assert done.stdout == "the end\n"
    assert done.stderr == ""


def test_objects_outlive_what_made_them(script: Script) -> None:
    program = """
import windlass as wl
context = wl.Context.preset("insecure_toy_256")
client, server = context.generate_keys(context.products(), progress=False)
x = server.receive(client.encrypt([3]))
del context, server
class Late:
    def __del__(self, x=x, client=client):
        print(client.decrypt(x * x).tolist())
late = Late()
"""
    done = script(program)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[9]\n"


# Progress.


def test_progress_is_told(toy: World) -> None:
    layer = toy.context.linear(np.arange(128 * 128).reshape(128, 128) % 17)
    told: list[tuple[int, int]] = []
    tell = lambda done, count: told.append((done, count))
    client, server = toy.context.generate_keys(layer, progress=tell)
    assert told
    assert told[-1][0] == told[-1][1] > 0
    told.clear()
    x = server.receive(client.encrypt(np.ones((50, 128), int)))
    layer(x, progress=tell)
    assert told == sorted(told)
    assert told[-1] == (50, 50)
    told.clear()
    toy.context.polynomial([1, 2])(x, progress=tell)
    assert told[-1] == (50, 50)
    layer(x, progress=False)
    assert told[-1] == (50, 50)


def test_errors_of_a_callback_stop_the_work(toy: World) -> None:
    layer = toy.context.linear(np.arange(128 * 128).reshape(128, 128) % 17)
    world = make(toy.context, layer)
    x = world.encrypt(np.ones((1000, 128), int))
    calls = []

    def stop(done: int, count: int) -> None:
        calls.append(done)
        raise ZeroDivisionError("enough")

    with pytest.raises(ZeroDivisionError, match="enough"):
        layer(x, progress=stop)
    assert len(calls) == 1
    assert calls[0] < 1000
    np.testing.assert_array_equal(world.decrypt(layer(x[:1]))[0], world.decrypt(layer @ x[0]))
    for bad in (3, "yes", [1]):
        with pytest.raises(wl.DTypeError):
            layer(x[:1], progress=bad)  # type: ignore[arg-type]


def test_bars(
    toy: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_progress, "_DELAY", 0.0)
    layer = toy.context.linear(np.arange(128 * 128).reshape(128, 128) % 17)
    world = make(toy.context, layer)
    x = world.encrypt(np.ones((100, 128), int))
    capsys.readouterr()
    layer(x, progress=False)
    assert capsys.readouterr().err == ""
    for progress in (None, True):
        layer(x, progress=progress)
        assert "matrix product" in capsys.readouterr().err
    monkeypatch.setattr(_progress, "_DELAY", 100.0)
    layer(x)
    assert capsys.readouterr().err == ""


# Memory.

HUGE = """
import resource, sys, time
import numpy as np
import windlass as wl

limit = 1 << 30
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
context = wl.Context.preset("insecure_toy_256")
client, server = context.generate_keys(context.products(), progress=False)
reals = wl.Context.approximate(depth=1)
real_client, real_server = reals.generate_keys(progress=False)
large = wl.Context.preset("bgv_n32768")
x = server.receive(client.encrypt([1, 2, 3]))
spread = lambda value, *shape: np.broadcast_to(np.array(value), shape)
works = {
    "encrypt": lambda: client.encrypt(spread(1, 10**15)),
    "encrypt rows": lambda: client.encrypt(spread(1, 10**7, 1)),
    "encrypt bytes": lambda: client.encrypt(spread(np.int8(1), 10**15)),
    "encrypt reals": lambda: real_client.encrypt(spread(0.5, 10**15)),
    "encrypt with a public key": lambda: client.encryptor().encrypt(spread(1, 10**13)),
    "add": lambda: x + spread(1, 10**15),
    "matrix": lambda: context.linear(spread(1, 10**7, 10**7)),
    "polynomial": lambda: context.polynomial(spread(1, 10**15)),
    "keys": lambda: large.generate_keys(large.keys(list(range(1, 65536, 2))), progress=False),
    "a large matrix": lambda: context.linear(spread(1, 8000, 8000)),
    "roll": lambda: context.roll(2**62, 1),
    "a large roll": lambda: context.roll(10**9, 1),
    "roll reals": lambda: reals.roll(2**62, 1),
    "table": lambda: context.table(range(10**9)),
}
started = time.perf_counter()
try:
    works[sys.argv[1]]()
except (wl.WindlassError, MemoryError) as error:
    assert not isinstance(error, wl.InternalError), error
    print(type(error).__name__, error)
else:
    raise SystemExit("no error")
assert time.perf_counter() - started < 5
(peak,) = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
assert int(peak.split()[1]) < 700_000, peak
assert client.decrypt(x * x).tolist() == [1, 4, 9]
"""


@LIMITS
@pytest.mark.parametrize(
    "what",
    [
        "encrypt",
        "encrypt rows",
        "encrypt bytes",
        "encrypt reals",
        "encrypt with a public key",
        "add",
        "matrix",
        "polynomial",
        "keys",
        "a large matrix",
        "roll",
        "a large roll",
        "roll reals",
        "table",
    ],
)
def test_memory_that_is_not_there(script: Script, what: str) -> None:
    done = script(HUGE, what)
    assert done.returncode == 0, done.stdout + done.stderr


def test_memory_is_given_back(toy: World) -> None:
    resource: Any = pytest.importorskip("resource")
    values = np.zeros((100, 128), int)

    def used() -> int:
        if not os.path.exists("/proc/self/statm"):
            pytest.skip("no /proc")
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * int(resource.getpagesize())

    for _ in range(5):
        toy.decrypt(toy.encrypt(values) * 2)
    before = used()
    for _ in range(60):
        toy.decrypt(toy.encrypt(values) * 2)
    # One array takes 1.6 million bytes: sixty that stay would be a hundred million.
    assert used() - before < 30_000_000


def test_signals_are_seen_by_the_main_thread_alone(toy: World) -> None:
    seen: list[int] = []
    if not hasattr(signal, "setitimer"):
        pytest.skip("no timers")
    layer = toy.context.linear(np.arange(128 * 128).reshape(128, 128) % 17)
    world = make(toy.context, layer)
    x = world.encrypt(np.ones((300, 128), int))
    before = signal.signal(signal.SIGALRM, lambda number, frame: seen.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        layer(x, progress=False)
        counted = len(seen)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    # The handler of Python ran during the work, and the work went on.
    assert counted >= 1
