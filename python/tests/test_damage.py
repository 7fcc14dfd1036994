"""Deliberate damage: processes killed at any moment, a full disk, a directory that takes nothing,
two writers. A file is whole or does not exist, and the error says what to do."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import World

import windlass as wl

if sys.platform == "win32":
    pytest.skip("signals and limits are those of Unix", allow_module_level=True)

import resource

NIGHTLY = "WINDLASS_NIGHTLY" in os.environ

WRITER = """
import itertools, pathlib, sys, windlass as wl
at = pathlib.Path(sys.argv[1])
context = wl.Context.preset("insecure_toy_256")
client, server = context.generate_keys(context.products(), progress=False)
encrypted, encryptor = client.encrypt(list(range(20))), client.encryptor()
print("ready", flush=True)
for number in itertools.count():
    client.save_secret(at / f"{number}.secret")
    client.save_secret(at / f"{number}.sealed", passphrase="words")
    server.save(at / f"{number}.keys")
    server.save(at / f"{number}.ready", ready=True)
    encryptor.save(at / f"{number}.public")
    encrypted.save(at / f"{number}.bin")
    context.save(at / f"{number}.json")
"""


def reads(context: wl.Context) -> dict[str, Callable[[Path], object]]:
    """What reads each kind of file that the writer makes."""
    return {
        ".secret": context.load_client,
        ".sealed": lambda path: context.load_client(path, passphrase="words"),
        ".keys": context.load_server,
        ".ready": context.map_server,
        ".public": context.load_encryptor,
        ".bin": context.load_ciphertext,
        ".json": wl.Context.from_file,
    }


def killed(program: str, at: Path, seconds: float) -> None:
    """Runs a program on a place, and kills it so long after it has said that it is ready."""
    with subprocess.Popen(
        [sys.executable, "-c", program, str(at)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(seconds)
        process.kill()
    assert process.returncode == -signal.SIGKILL


def test_a_killed_process_leaves_whole_files(tmp_path: Path) -> None:
    context = wl.Context.preset("insecure_toy_256")
    readers = reads(context)
    seen: set[str] = set()
    for number in range(60 if NIGHTLY else 4):
        at = tmp_path / str(number)
        at.mkdir()
        killed(WRITER, at, random.uniform(0.1, 1.0))
        for path in at.iterdir():
            if not path.name.startswith("."):
                readers[path.suffix](path)
                seen.add(path.suffix)
        # Leftovers are hidden, and there is one at most: that of the file that was being written.
        assert sum(path.name.startswith(".") for path in at.iterdir()) <= 1
    assert len(seen) > 3, f"only {seen} were there"


CHANGER = """
import itertools, pathlib, sys, windlass as wl
table = wl.Table.open(sys.argv[1])
print("ready", flush=True)
for number in itertools.count(1):
    table.set({f"k{n}": b"%06d" % number for n in range(8)})
"""


def test_a_killed_change_of_a_table_is_made_or_not(tmp_path: Path) -> None:
    at = tmp_path / "table"
    wl.Table.from_items({f"k{n}": b"000000" for n in range(8)}, directory=at)
    newest = 0
    for _ in range(30 if NIGHTLY else 3):
        killed(CHANGER, at, random.uniform(0.05, 0.8))
        table = wl.Table.open(at)
        client = wl.TableClient(table.schema)
        names = [f"k{n}" for n in range(8)]
        rows = client.rows(table.answer(client.keys(), client.query(names)), names)
        # All rows are of one version.
        assert len(set(rows)) == 1
        newest = max(newest, int(rows[0] or b"0"))
    assert newest > 0, "no change was finished before the process was killed"


def saves(world: World) -> list[Callable[[Path], object]]:
    """Everything that writes a file."""
    return [
        world.client.save_secret,
        lambda path: world.client.save_secret(path, passphrase="words"),
        world.server.save,
        lambda path: world.server.save(path, ready=True),
        world.client.encryptor().save,
        world.encrypt([1, 2, 3]).save,
        world.context.save,
    ]


def test_a_full_disk_is_an_error_that_says_so(toy: World, tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for save in saves(toy):
        for room in (0, 50):
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
            try:
                with pytest.raises(
                    wl.FileError, match=r"file: the file would be longer.*ulimit -f"
                ):
                    save(tmp_path / "file")
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            assert list(tmp_path.iterdir()) == []
        save(tmp_path / "file")
        (tmp_path / "file").unlink()


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not stop the superuser")
def test_a_directory_that_takes_nothing_is_an_error_that_says_so(
    toy: World, tmp_path: Path
) -> None:
    tmp_path.chmod(0o555)
    try:
        for save in saves(toy):
            with pytest.raises(wl.FileError, match=r"file: permission denied; choose another"):
                save(tmp_path / "file")
        assert list(tmp_path.iterdir()) == []
    finally:
        tmp_path.chmod(0o755)


def test_of_several_threads_that_write_one_file_one_wins(toy: World, tmp_path: Path) -> None:
    readers: list[Callable[[Path], object]] = list(reads(toy.context).values())
    for save, read in zip(saves(toy), readers, strict=True):
        for number in range(40 if NIGHTLY else 4):
            path = tmp_path / str(number)
            ends: list[Any] = []

            def run(save: Any = save, path: Path = path, ends: list[Any] = ends) -> None:
                try:
                    ends.append(save(path))
                except wl.FileError as error:
                    ends.append(error)

            threads = [threading.Thread(target=run) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            failed = [str(end) for end in ends if isinstance(end, wl.FileError)]
            assert len(failed) == 3
            assert all(
                "already exists" in text or "another process is writing" in text for text in failed
            )
            read(path)
            path.unlink()
            assert list(tmp_path.iterdir()) == []


SHORT_OF_MEMORY = """
import pathlib, sys, windlass as wl
at, kind, megabytes = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
context = wl.Context.preset("bgv_n32768")
if kind == "ulimit":
    import resource
    lines = open("/proc/self/status").read().splitlines()
    size = next(int(line.split()[1]) for line in lines if line.startswith("VmSize:"))
    limit = (size << 10) + (megabytes << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    wanted = [context.products()]
    if kind == "group":
        wanted += [context.roll(2**14, shift) for shift in range(1, 200)]
    client, server = context.generate_keys(*wanted, progress=False)
    client.save_secret(at / "client.secret")
    server.save(at / "server.keys")
    x = server.receive(client.encrypt(list(range(20))))
    x.save(at / "x.bin")
    (x * x * x).save(at / "cube.bin")
except wl.OutOfMemory as error:
    print(error)
    sys.exit(3)
"""


def run_short_of_memory(
    at: Path, kind: str, megabytes: int, join: Callable[[], None] | None = None
) -> tuple[int, str]:
    environment = dict(os.environ, RUST_BACKTRACE="0")
    done = subprocess.run(
        [sys.executable, "-c", SHORT_OF_MEMORY, str(at), kind, str(megabytes)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        preexec_fn=join,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is that of Linux")
def test_too_little_memory_leaves_nothing_half_written(tmp_path: Path) -> None:
    context = wl.Context.preset("bgv_n32768")
    readers: dict[str, Callable[[Path], object]] = {
        "client.secret": context.load_client,
        "server.keys": context.load_server,
        "x.bin": context.load_ciphertext,
        "cube.bin": context.load_ciphertext,
    }
    codes = set()
    steps = range(2, 200, 4) if NIGHTLY else (4, 24, 44, 84, 400)
    for megabytes in steps:
        at = tmp_path / str(megabytes)
        at.mkdir()
        code, said = run_short_of_memory(at, "ulimit", megabytes)
        codes.add(code)
        if code == 3:
            assert "bytes of memory, but the system does not provide them" in said
        elif code == -signal.SIGABRT:
            assert "memory allocation of" in said, said
        else:
            # Python's own memory, or threads that cannot be started.
            assert code == 0 or "MemoryError" in said or "thread" in said, (code, said)
        for path in at.iterdir():
            if not path.name.startswith("."):
                readers[path.name](path)
        assert code != 0 or {path.name for path in at.iterdir()} == set(readers)
    assert {0, 3} <= codes, codes


def test_what_a_container_does_not_hold_is_refused(tmp_path: Path) -> None:
    limits = {"memory": "memory.limit_in_bytes", "": "memory.max"}
    try:
        groups = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        pytest.skip("no control groups here")
    for line in groups:
        _, controller, path = line.split(":", 2)
        if controller not in limits:
            continue
        root = Path("/sys/fs/cgroup", controller)
        for around in (root / path.lstrip("/"), root):
            group = around / f"windlass-python-{os.getpid()}"
            try:
                group.mkdir()
            except OSError:
                continue
            try:
                try:
                    (group / limits[controller]).write_text(str(600 << 20))
                    (group / "cgroup.procs").read_text()
                except OSError:
                    continue
                procs = str(group / "cgroup.procs")

                def join(procs: str = procs) -> None:
                    Path(procs).write_text(str(os.getpid()))

                # Its keys take gigabytes: without the check the system would kill it.
                code, said = run_short_of_memory(tmp_path, "group", 0, join)
                assert (code, "the evaluation keys need" in said) == (3, True), said
                assert list(tmp_path.iterdir()) == []
                return
            finally:
                for _ in range(50):
                    try:
                        group.rmdir()
                        break
                    except OSError:
                        time.sleep(0.02)
    pytest.skip("no control group of one's own here")
