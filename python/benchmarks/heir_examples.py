"""HEIR's own examples on Windlass, beside HEIR's OpenFHE backend.

    git clone https://github.com/google/heir ../heir        # beside the repository, never within
    pip install heir_py==2026.11.1 openfhe==1.6.1.0.22.4 numpy
    OMP_NUM_THREADS=1 taskset -c 0 python python/benchmarks/heir_examples.py --heir ../heir

compiles every example of ``tests/Examples/{lattigo,openfhe}`` with the flags of its build file,
without the last pass, and prints the table of docs/records/heir-examples.md. Each example runs in a
separate process. Results are compared before anything is timed: Windlass and OpenFHE with the same
steps without encryption. Times are medians of processor time of evaluations, with constants and
plaintexts that are encoded already. OpenFHE has a column where the package imports
(``heir_openfhe.py``).
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import windlass as wl

RULE = re.compile(r"\w+\(\s*((?:[^()]|\([^()]*\))*?)\n\)")
# An option that heir-opt 2026.11.1 does not have, one that needs a file of another rule, and
# continued lines.
WITHOUT = re.compile(
    r"experimental-disable-loop-unroll=true|\\\n\s*|"
    r"plaintext-execution-result-file-name=(?:\$\([^)]*\)|\S+)"
)


def examples(heir: Path) -> list[dict[str, Any]]:
    """The examples of the build files."""
    found = []
    for build in sorted((heir / "tests/Examples").glob("*/**/BUILD")):
        backend = build.relative_to(heir / "tests/Examples").parts[0]
        if backend not in ("lattigo", "openfhe"):
            continue
        for rule in RULE.finditer(build.read_text(encoding="utf-8")):
            flags = re.search(r"heir_opt_flags = \[(.*?)\]", rule[1], re.DOTALL)
            source = re.search(r'mlir_src = "([^"]+)"', rule[1])
            name = re.search(r'name = "([^"]+)"', rule[1])
            if flags is None or source is None or name is None:
                continue
            own = re.findall(r'"((?:[^"\\]|\\[\s\S])*)"', re.sub(r"#.*", "", flags[1]))
            kept = [WITHOUT.sub(" ", flag).replace('\\"', '"') for flag in own]
            kept = [flag for flag in kept if flag.startswith("--")]
            path = source[1].removeprefix("@heir").lstrip("/").replace(":", "/")
            place = heir if source[1].startswith(("@heir//", "//")) else build.parent
            family = "/".join(build.parent.relative_to(heir / "tests/Examples").parts[1:])
            found.append(
                {
                    "backend": backend,
                    "name": f"{family}" if name[1] in family else f"{family} ({name[1]})",
                    "source": str(place / path.lstrip("/")),
                    "flags": [flag for flag in kept if not flag.startswith("--scheme-to")],
                    "lower": [flag for flag in kept if flag.startswith("--scheme-to-openfhe")],
                }
            )
    return found


def run_heir(heir_opt: str, flags: list[str], source: Path, to: Path, seconds: float) -> str | None:
    """Compile; returns the error, if there is one."""
    command = [heir_opt, *flags, str(source), "-o", str(to)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"heir-opt did not end within {seconds:.0f} s"
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if "error" in line] or ["it ended"]
    return "heir-opt: " + re.sub(r"^.*?error: ", "", lines[0])[:120]


def median(run: Callable[[], object], runs: int) -> float:
    """The median of the processor time of a call."""
    times = []
    for _ in range(runs):
        begin = time.process_time()
        run()
        times.append(time.process_time() - begin)
    return statistics.median(times)


def of_plain(text: str, generator: Any) -> dict[int, Any]:
    """Random values for the arguments that are not encrypted."""
    from windlass.heir._check import Checker
    from windlass.heir._entry import entry_of
    from windlass.heir._parser import parse
    from windlass.heir._rules import fits

    types = entry_of(Checker(text, parse(text)), None).function.type.inputs
    types = tuple(type_ for type_ in types if not fits(type_, "k"))
    found = {}
    for number, type_ in enumerate(types):
        if type_.is_float:
            # Positive, as variances are, with rows whose sums are below 1, as polynomials need.
            width = type_.shape[-1] if len(type_.shape) > 1 else 1
            found[number] = generator.uniform(0.1, 1, type_.shape) / width
        elif type_.is_integer:
            found[number] = generator.integers(-3, 4, type_.shape)
    return found


def on_windlass(text: str, runs: int) -> dict[str, Any]:
    """Load, run and time a program."""
    generator = np.random.default_rng(46)
    plain = of_plain(text, generator)
    begin = time.process_time()
    program = wl.heir.load(text, plain=plain)
    loaded = time.process_time() - begin
    exact = program.scheme != "CKKS"
    given = [
        generator.integers(-3, 4, port.shape) if exact else generator.uniform(-1, 1, port.shape)
        for port in program.inputs
    ]
    expected = program.in_the_clear(*given)
    client, server = program.setup(progress=False)
    inputs = client.encrypt(*given)
    found = client.decrypt(server.evaluate(inputs))
    return {
        "function": program.name,
        "scheme": program.scheme,
        "depth": program.depth,
        "keys": len(program.required_keys),
        "load": loaded,
        "error": distance(found, expected),
        "seconds": median(lambda: server.evaluate(inputs), runs),
        "given": given,
        "expected": expected,
        "indices": [port.index for port in program.inputs],
        "plain": plain,
    }


def as_written(text: str, ours: dict[str, Any], runs: int) -> dict[str, Any]:
    """Run and time the program with the parameters and operations of its text."""
    program = wl.heir.load(text, plain=ours["plain"], run="as written", insecure=True)
    client, server = program.setup()
    inputs = client.encrypt(*ours["given"])
    found = client.decrypt(server.evaluate(inputs))
    return {
        "written_error": distance(found, ours["expected"]),
        "written_seconds": median(lambda: server.evaluate(inputs), runs),
        "written_security": program.context.security,
    }


def distance(found: Any, expected: Any) -> float:
    """The largest difference."""
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    return max(float(np.abs(np.asarray(a, float) - b).max(initial=0)) for a, b in pairs)


def on_openfhe(text: str, ours: dict[str, Any], runs: int) -> dict[str, Any]:
    """Run and time the program in the dialect of OpenFHE."""
    import heir_openfhe

    backend = heir_openfhe.Backend(text, ours["function"])
    pairs = zip(ours["indices"], ours["given"], strict=True)
    inputs = {index: backend.encrypt(index, array) for index, array in pairs}
    plain = {k: x.item() if np.ndim(x) == 0 else x for k, x in ours["plain"].items()}
    prepared = backend.prepared(plain)
    found = backend.decrypt(backend.evaluate({**plain, **copies(inputs)}, prepared))
    shaped = np.asarray(found).reshape(np.shape(ours["expected"]))

    # Operations in place change their operands. The copies are made outside of the clock.
    fresh = iter([{**plain, **copies(inputs)} for _ in range(runs)])
    return {
        "openfhe_error": distance(shaped, ours["expected"]),
        "openfhe_seconds": median(lambda: backend.evaluate(next(fresh), prepared), runs),
        "openfhe_ring": backend.context.GetRingDimension(),
    }


def copies(inputs: dict[int, Any]) -> dict[int, Any]:
    """Copies of ciphertexts."""
    return {index: _clone(x) for index, x in inputs.items()}


def _clone(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        copied = np.empty_like(x)
        for place in np.ndindex(x.shape):
            copied[place] = x[place].Clone()
        return copied
    return x.Clone()


def one(arguments: argparse.Namespace) -> None:
    """One example, in its own process: prints JSON."""
    text = Path(arguments.one).read_text(encoding="utf-8")
    found: dict[str, Any] = {}
    try:
        found = on_windlass(text, arguments.runs)
    except wl.WindlassError as error:
        print(json.dumps({"why": f"{type(error).__name__}: {error}"[:160]}))
        return
    show(found)
    if arguments.written:
        try:
            found |= as_written(text, found, arguments.runs)
        except wl.WindlassError as error:
            found["written_why"] = f"`{type(error).__name__}`: {error}"[:160]
        show(found)
    if arguments.lowered:
        try:
            lowered = Path(arguments.lowered).read_text(encoding="utf-8")
            found |= on_openfhe(lowered, found, arguments.runs)
        except Exception as error:
            found["openfhe_why"] = f"{type(error).__name__}: {error}"[:160]
        show(found)


def show(found: dict[str, Any]) -> None:
    """Print what was found until now."""
    hidden = ("given", "expected", "indices", "plain")
    print(json.dumps({k: v for k, v in found.items() if k not in hidden}), flush=True)


def row(found: dict[str, Any]) -> str:
    """One row of the table."""
    name = f"| {found['name']} | {found['backend']} |"
    if "seconds" not in found:
        return f"{name} no: {found['why']} | | | | | | | |"
    error = "exact" if found["error"] == 0 else f"{found['error']:.0e}"
    cells = [
        found["scheme"],
        str(found["depth"]),
        str(found["keys"]),
        f"{found['load']:.2f}",
        error,
    ]
    cells.append(f"{1000 * found['seconds']:.1f}")
    if "openfhe_seconds" in found:
        theirs = "exact" if found["openfhe_error"] == 0 else f"{found['openfhe_error']:.0e}"
        ratio = found["openfhe_seconds"] / found["seconds"]
        cells += [f"{1000 * found['openfhe_seconds']:.1f}", theirs, f"{ratio:.1f}"]
    else:
        cells += ["", found.get("openfhe_why", ""), ""]
    return f"{name} {' | '.join(cells)} |"


def row_as_written(found: dict[str, Any]) -> str:
    """One row of the table of programs as written."""
    name = f"| {found['name']} | {found['backend']} |"
    if "written_seconds" not in found:
        return f"{name} {found.get('written_why', found.get('why', ''))} | | | | |"
    error = "exact" if found["written_error"] == 0 else f"{found['written_error']:.0e}"
    written, meant = (1000 * found[k] for k in ("written_seconds", "seconds"))
    security = f"{found['written_security']:.0f}"
    return f"{name} {error} | {security} | {written:.1f} | {meant:.1f} | {written / meant:.1f} |"


WRITTEN = "Example,Backend,Error as written,Bits of security,As written in ms,As meant in ms,Ratio"
COLUMNS = "Example,Backend,Scheme,Depth,Galois keys,Load in s,Error,Windlass in ms,OpenFHE in ms"
COLUMNS += ",Error of OpenFHE,Ratio"


def header(columns: str) -> str:
    """The first two lines of a table."""
    return f"| {columns.replace(',', ' | ')} |\n|{'---|' * (columns.count(',') + 1)}"


def main() -> None:
    """Compile, run and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--heir", type=Path, help="a checkout of HEIR, beside the repository")
    parser.add_argument("--heir-opt", default=shutil.which("heir-opt") or "heir-opt")
    parser.add_argument("--only", default="", help="a regular expression for names")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "heir-examples")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=300, help="for each example and side")
    parser.add_argument("--written", action="store_true", help="as written instead of OpenFHE")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--lowered", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        one(arguments)
        return
    arguments.work.mkdir(parents=True, exist_ok=True)
    rows = []
    for example in examples(arguments.heir):
        if re.search(arguments.only, f"{example['backend']}/{example['name']}"):
            found = {**example, **measured(example, arguments)}
            rows.append(row_as_written(found) if arguments.written else row(found))
            print(json.dumps(found), file=sys.stderr, flush=True)
    print("\n".join([header(WRITTEN if arguments.written else COLUMNS), *rows]))


def measured(example: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any]:
    """Compile and run one example."""
    stem = re.sub(r"\W+", "_", f"{example['backend']}_{example['name']}")
    text = arguments.work / f"{stem}.mlir"
    if not text.exists():
        partial = text.with_suffix(".part")
        source = Path(example["source"])
        if not source.exists():
            return {"why": "its source is not in the repository"}
        flags = example["flags"]
        error = run_heir(arguments.heir_opt, flags, source, partial, arguments.seconds)
        if error is not None:
            return {"why": error}
        partial.rename(text)
    command = [sys.executable, __file__, "--one", str(text), "--runs", str(arguments.runs)]
    if arguments.written:
        command.append("--written")
    elif example["backend"] == "openfhe":
        lowered = arguments.work / f"{stem}.openfhe.mlir"
        flags = example["lower"] or ["--scheme-to-openfhe"]
        if run_heir(arguments.heir_opt, flags, text, lowered, arguments.seconds) is None:
            command += ["--lowered", str(lowered)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        ended = "the process ended"
        try:
            shown, errors = process.communicate(timeout=2 * arguments.seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            shown, errors = process.communicate()
            ended = f"it did not end within {2 * arguments.seconds:.0f} s"
    try:
        found: dict[str, Any] = json.loads(shown.splitlines()[-1])
    except (IndexError, ValueError):
        return {"why": (errors.strip().splitlines() or [ended])[-1][:160]}
    if "--lowered" in command and "seconds" in found and "openfhe_seconds" not in found:
        found.setdefault("openfhe_why", ended)
    return found


if __name__ == "__main__":
    main()
