"""Lints and builds the npm package `windlass` in `js/`, and tests it in Node: `make wasm`.

Needs rustup with the target wasm32-unknown-unknown and Node 20.3 with npm, and wasm32-wasip1 for
the tests of the kernels; it names what is missing. It sets up the rest in target/tools:
wasm-bindgen in the version that Cargo.lock has, and wasm-opt (binaryen), without which the files
are a few percent longer, and the compiler of TypeScript, which checks the declarations.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "target/tools"
TARGET = "wasm32-unknown-unknown"
WASI = "wasm32-wasip1"
# Those of arithmetic. Others map files. One expects a panic, which ends the program there.
KERNEL_TESTS = ["lanes::", "ntt::", "rows::", "--skip", "places_outside_are_refused"]
BINARYEN = "132.0.0"
PLAYWRIGHT = "1.65.1"
TYPESCRIPT = "5.9.3"
VITE = "8.4.0"
CHROMIUM = "/usr/bin/chromium"
CARGO = os.environ.get("CARGO", "cargo")
# What every browser has had since 2022, and what rustc uses.
WASM_FEATURES = [
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
]
PACKAGES = {"lookup": "lookup", "all": "lookup,search,scoring,vectors"}
# Where most of the time of vectors is. The profile builds them for size, and lookups so.
FAST = ["windlass-kernels", "windlass-ring", "sha2"]


def run(*command: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    """Runs a command, and ends with its status if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, check=False, text=True, **options)  # type: ignore[call-overload]
    if done.returncode != 0:
        sys.exit(done.returncode)
    return done  # type: ignore[no-any-return]


def missing() -> list[str]:
    """What has to be installed by hand."""
    found = []
    if shutil.which("rustup") is not None:
        installed = run("rustup", "target", "list", "--installed", capture_output=True).stdout
        if TARGET not in installed.split():
            found.append(f"the Rust target: rustup target add {TARGET}")
    node = shutil.which("node")
    version = run(node, "--version", capture_output=True).stdout if node else "v0"
    major, minor, *_ = (int(part) for part in re.findall(r"\d+", version + ".0"))
    if (major, minor) < (20, 3):
        found.append("Node 20.3 or newer, with npm (https://nodejs.org)")
    return found


def wasm_bindgen() -> Path:
    """The program of the version that the crate has."""
    lock = (ROOT / "Cargo.lock").read_text()
    found = re.search(r'name = "wasm-bindgen"\nversion = "([^"]+)"', lock)
    assert found is not None, "Cargo.lock names wasm-bindgen"
    version, program = found[1], TOOLS / "bin/wasm-bindgen"
    has = program.exists() and version in run(program, "--version", capture_output=True).stdout
    if not has:
        run(CARGO, "install", "wasm-bindgen-cli", "--version", version, "--root", TOOLS)
    return program


def fetch(package: str, place: Path) -> None:
    """Fetches a package of npm into a folder, if npm can."""
    place.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--silent", "--no-save", "--package-lock=false"]
    if shutil.which("npm") is not None:
        subprocess.run([*command, "--prefix", str(place), package], check=False)


def wasm_opt() -> Path | None:
    """The optimiser, if npm can fetch it."""
    program = TOOLS / f"binaryen-{BINARYEN}/node_modules/.bin/wasm-opt"
    if not program.exists():
        fetch(f"binaryen@{BINARYEN}", program.parents[2])
    return program if program.exists() else None


def lint() -> None:
    """Clippy for the target of browsers: `make lint` leaves the crate out."""
    # The profile of the build, so that what runs while compiling is not compiled twice.
    command = ["clippy", "--locked", "--profile", "wasm", "--target", TARGET, "--package"]
    run(CARGO, *command, "windlass-wasm", "--no-deps", "--", "-D", "warnings", cwd=ROOT)


def types() -> None:
    """Compiles a program against the declarations, if npm can fetch the compiler."""
    compiler = TOOLS / f"typescript-{TYPESCRIPT}/node_modules/.bin/tsc"
    if not compiler.exists():
        fetch(f"typescript@{TYPESCRIPT}", compiler.parents[2])
    if compiler.exists():
        run(compiler, "--project", "js/testing/tsconfig.json", cwd=ROOT)
    else:
        print("npm cannot fetch typescript: js/*.d.ts are not checked by a compiler")


def browser() -> None:
    """What the test in a browser needs; it says what it could not run."""
    chromium = os.environ.get("WINDLASS_CHROMIUM", CHROMIUM)
    driver = ROOT / "js/node_modules/playwright-core"
    if not Path(chromium).exists():
        print(f"{chromium} is missing: nothing is tested in a browser (apt-get install chromium)")
    elif not driver.exists():
        fetch(f"playwright-core@{PLAYWRIGHT}", ROOT / "js")
        if not driver.exists():
            print("npm cannot fetch playwright-core: nothing is tested in a browser")


def bundler() -> None:
    """What the test of an empty Vite project needs."""
    place = TOOLS / f"vite-{VITE}"
    if not (place / "node_modules/vite").exists():
        fetch(f"vite@{VITE}", place)
    if (place / "node_modules/vite").exists():
        os.environ.setdefault("WINDLASS_VITE", str(place))
    else:
        print("npm cannot fetch vite: the package is not tested in a project of Vite")


def kernels() -> None:
    """Tests of lanes and transforms, as a program that Node runs: there products are by halves."""
    if shutil.which("rustup") is not None:
        installed = run("rustup", "target", "list", "--installed", capture_output=True).stdout
        if WASI not in installed.split():
            print(f"kernels are not tested as WebAssembly: rustup target add {WASI}")
            return
    node = f"node --no-warnings {ROOT / 'tools/wasm/wasi.mjs'}"
    os.environ["CARGO_TARGET_WASM32_WASIP1_RUNNER"] = node
    command = ["test", "--locked", "--target", WASI, "--package", "windlass-kernels", "--lib"]
    run(CARGO, *command, "--", *KERNEL_TESTS, cwd=ROOT)


def forget_places() -> None:
    """Paths in panic messages begin at the workspace, or at the name of a crate."""
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    places = [ROOT, *(home / "registry/src").glob("*")]
    flags = " ".join(f"--remap-path-prefix={place}/=" for place in places)
    os.environ["CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS"] = flags


def build(name: str, features: str, bindgen: Path, optimiser: Path | None) -> None:
    """Builds one of the modules of the package, and prints its size."""
    options = ["--locked", "--profile", "wasm", "--target", TARGET, "--package", "windlass-wasm"]
    options += ["--no-default-features", "--features", features]
    if name == "all":
        options += [f"--config=profile.wasm.package.{crate}.opt-level=3" for crate in FAST]
    run(CARGO, "build", *options, cwd=ROOT)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    out = ROOT / "js/pkg" / name
    shutil.rmtree(out, ignore_errors=True)
    flags = ["--target", "web", "--remove-name-section", "--remove-producers-section"]
    run(bindgen, *flags, "--out-dir", out, target / TARGET / "wasm/windlass_wasm.wasm")
    wasm = out / "windlass_wasm_bg.wasm"
    if optimiser is not None:
        run(optimiser, "-Oz", *WASM_FEATURES, wasm, "-o", wasm)
    data = wasm.read_bytes()
    short = len(gzip.compress(data, 9))
    script = len(gzip.compress((out / "windlass_wasm.js").read_bytes(), 9))
    print(f"{name}: {len(data)} bytes, {short} by gzip, and {script} of glue by gzip")


def main() -> None:
    """Builds, and tests unless told otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-tests", action="store_true")
    parser.add_argument("--only", choices=PACKAGES)
    arguments = parser.parse_args()
    lacking = missing()
    if lacking:
        sys.exit("missing:\n" + "\n".join(f"  {what}" for what in lacking))
    os.environ["CARGO_INCREMENTAL"] = "0"
    forget_places()
    bindgen, optimiser = wasm_bindgen(), wasm_opt()
    if optimiser is None:
        print("npm cannot fetch binaryen: the files are not optimised by wasm-opt")
    for name, features in PACKAGES.items():
        if arguments.only in (None, name):
            build(name, features, bindgen, optimiser)
    if arguments.no_tests:
        return
    lint()
    types()
    kernels()
    if "WINDLASS_PROGRAMS" not in os.environ:
        run(CARGO, "build", "--locked", "-p", "windlass-cli", "-p", "windlass-service", cwd=ROOT)
        os.environ["WINDLASS_PROGRAMS"] = str(ROOT / "target/debug")
    browser()
    bundler()
    python = ROOT / "target/python/bin/python"
    if python.exists():
        os.environ.setdefault("WINDLASS_PYTHON", str(python))
    else:
        print("target/python is missing: no server in Python is tested (make python)")
    run("node", "--test", *sorted((ROOT / "js/test").glob("*.test.js")), cwd=ROOT)


if __name__ == "__main__":
    main()
