"""Every λ that Windlass states, beside what the lattice estimator computes.

``make estimates`` is the command (README.md beside this file); this is what it runs::

    python rerun.py --estimator CHECKOUT

With ``--compare`` instead of an estimator nothing is run, and no Sage is needed. With ``--quick``
only the uniform ternary keys of secure presets and of retrieval are run; ``search.py`` has the
sparse ones.

``windlass-bench security`` lists the keys: of every preset, ephemeral ones too, and every point of
the tables that λ is interpolated from. Each is an LWE instance, which the estimator prices in a
separate process. Runs are appended to ``estimator_runs.csv``; one that is there, by the same commit
of the estimator, is not repeated. Exit code 1 where Windlass states more than the estimator finds,
where the estimator found nothing, or where a run failed: an attack that the estimator cannot price
is not one that does not exist.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import importlib.util
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ATTACKS = ["usvp", "bdd", "dual_hybrid", "primal_hybrid", "dual_mitm"]
COLUMNS = ["kind", "name", "n", "log2_qp", "weight", "sigma", "stated", "lambda", *ATTACKS]
COLUMNS += ["seconds", "commit"]

Instance = tuple[int, str, int, float]


@dataclass(frozen=True)
class Key:
    """A key, and what Windlass states of it; weight 0 is a uniform ternary secret."""

    kind: str
    name: str
    n: int
    log2_qp: float
    weight: int
    sigma: float
    stated: float

    @property
    def instance(self) -> Instance:
        """What the estimator is asked: keys of one instance share a run."""
        return self.n, f"{self.log2_qp:.4f}", self.weight, self.sigma


@dataclass(frozen=True)
class Run:
    """What the estimator says: log2 of the cost of each attack, rounded down."""

    bits: dict[str, float]
    seconds: float
    commit: str

    @property
    def least(self) -> float:
        """λ: log2 of the cost of the cheapest attack."""
        return min(self.bits.values(), default=math.nan)


def read_keys(lines: Iterable[str]) -> list[Key]:
    """Read what ``windlass-bench security`` prints."""
    return [Key(**json.loads(line)) for line in lines if line.strip()]


def read_runs(path: Path) -> dict[Instance, Run]:
    """Read the recorded runs; none where there is no file yet."""
    if not path.exists():
        return {}
    runs = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            instance = int(row["n"]), row["log2_qp"], int(row["weight"]), float(row["sigma"])
            bits = {attack: float(row[attack]) for attack in ATTACKS if row[attack]}
            runs[instance] = Run(bits, float(row["seconds"]), row["commit"])
    return runs


def read_rows(path: Path) -> list[list[str]]:
    """Read the lines of recorded runs as they are."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.reader(file))[1:]


def write_runs(
    path: Path, keys: Iterable[Key], runs: dict[Instance, Run], others: Iterable[list[str]] = ()
) -> None:
    """Write the runs of these keys, in their order, all or nothing; `others` keep their places."""
    # Kind, name and instance, and the line.
    lines = {tuple(row[: COLUMNS.index("stated")]): row for row in others}
    for key in keys:
        run = runs.get(key.instance)
        if run is None:
            continue
        place = [key.kind, key.name, *map(str, key.instance)]
        row = [*place, f"{floor(key.stated):.2f}", f"{run.least:.2f}"]
        row += [f"{run.bits[attack]:.2f}" if attack in run.bits else "" for attack in ATTACKS]
        lines[tuple(place)] = [*row, f"{run.seconds:.0f}", run.commit]
    partial = path.with_suffix(".part")
    with partial.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *lines.values()])
    os.replace(partial, path)


def overstated(keys: Iterable[Key], runs: dict[Instance, Run]) -> Iterator[str]:
    """Say of each key whose λ is above the estimator's, or that no attack was priced for."""
    for key in keys:
        run = runs.get(key.instance)
        if run is None:
            continue
        what = f"{key.kind} {key.name}, n = {key.n}, log2 QP = {key.log2_qp:.1f}"
        what += f", weight {key.weight}"
        # A cost that is no number must not pass.
        if not run.least >= key.stated:
            yield f"{what}: {key.stated:.2f} bits stated, {run.least:.2f} by the estimator"


def floor(bits: float) -> float:
    """Round down to a hundredth, which stays itself."""
    return math.floor(bits * 100 + 1e-6) / 100


def matters(key: Key) -> bool:
    """A uniform ternary key that is stated to be secure, and no point of a table."""
    named = key.name.startswith(("insecure", "paper"))
    return key.kind in {"main", "retrieval"} and not key.weight and not named


def order(keys: list[Key]) -> list[Key]:
    """One key of each instance: secure presets, the others, then points spread over the tables."""
    golden = (math.sqrt(5) - 1) / 2
    spread = {key: index * golden % 1 for index, key in enumerate(keys)}
    distinct = {key.instance: key for key in reversed(keys)}.values()

    def place(key: Key) -> tuple[bool, bool, bool, float]:
        return key.kind == "table", key.name == "sparse", key.stated < 128, spread[key]

    return sorted(distinct, key=place)


def modulus(log2_qp: float) -> int:
    """An integer q of this size; larger ones are less secure, so it is rounded up."""
    whole = int(log2_qp)
    leading = math.ceil(2 ** (log2_qp - whole + 52))
    return -(-(leading << whole) >> 52)


def find_sage() -> None:
    """Take Sage's parts from the package registry for the whole, where that is not installed."""
    if importlib.util.find_spec("sage.all") is None:
        parts = importlib.import_module("sage.all__sagemath_symbolics")
        # The estimator draws with it, on request.
        parts.line = None
        sys.modules["sage.all"] = parts
        # Comparisons of logarithms ask first whether they are algebraic, which takes parts that are
        # not there; it fails or not by what else is installed. They are not, and go by intervals.
        conversion = importlib.import_module("sage.symbolic.expression_conversion_algebraic")
        conversion.algebraic = not_algebraic


def not_algebraic(expression: object, field: object) -> object:
    """Refuse as Sage does for numbers that are not algebraic."""
    raise TypeError(f"{expression} is not taken for an element of {field}")


def price(estimator: Path, key: Key) -> dict[str, float]:
    """Log2 of the costs of the attacks on a key, in this process, which needs Sage.

    An attack that is missing has no way at any cost.
    """
    find_sage()
    sys.path.insert(0, str(estimator))
    from estimator import LWE, ND
    from estimator.lwe_dual import dual_hybrid
    from sage.all import log

    half = key.weight // 2
    secret = ND.SparseTernary(half, key.weight - half) if key.weight else ND.Uniform(-1, 1)
    error = ND.DiscreteGaussian(key.sigma)
    instance = LWE.Parameters(n=key.n, q=modulus(key.log2_qp), Xs=secret, Xe=error)
    attacks = {"usvp": LWE.primal_usvp, "bdd": LWE.primal_bdd}
    if key.weight:
        # Meet in the middle is taken to succeed always, which favours the attacker.
        attacks["primal_hybrid"] = lambda lwe: LWE.primal_hybrid(lwe, mitm=True, babai=False)
        attacks["dual_mitm"] = lambda lwe: dual_hybrid(lwe, mitm_optimization=True)
    else:
        attacks["dual_hybrid"] = LWE.dual_hybrid
    bits = {}
    for name, attack in attacks.items():
        cost = float(log(attack(instance)["rop"], 2))
        if math.isnan(cost):
            raise ValueError(f"the cost of {name} is no number")
        if cost < math.inf:
            bits[name] = floor(cost)
    return bits


def run(estimator: Path, commit: str, key: Key) -> Run:
    """Price a key in a separate process, whose memory is then freed."""
    begin = time.monotonic()
    command = [sys.executable, __file__, "--estimator", str(estimator), "--one"]
    done = subprocess.run(
        [*command, json.dumps(key.__dict__)], stdout=subprocess.PIPE, text=True, check=True
    )
    return Run(json.loads(done.stdout.splitlines()[-1]), time.monotonic() - begin, commit)


def listing() -> list[Key]:
    """Ask the program of this tree."""
    command = ["cargo", "run", "--quiet", "--locked", "--package", "windlass-bench"]
    done = subprocess.run(
        [*command, "--", "security"], cwd=HERE, stdout=subprocess.PIPE, text=True, check=True
    )
    return read_keys(done.stdout.splitlines())


def commit_of(estimator: Path) -> str:
    """Which commit of the estimator is used."""
    command = ["git", "-C", str(estimator), "rev-parse", "--short=7", "HEAD"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def price_all(args: argparse.Namespace, keys: list[Key], runs: dict[Instance, Run]) -> int:
    """Price what has no run yet, until time is over; each run is recorded when it ends.

    How many failed; the others continue. Runs of keys that are not in a ``--listing`` stay.
    """
    commit = commit_of(args.estimator)
    waiting = [key for key in order(keys) if key.kind in args.kinds]
    known = {instance for instance, run in runs.items() if run.commit == commit and run.bits}
    waiting = [key for key in waiting if key.instance not in known]
    until = time.monotonic() + 60 * args.minutes

    def next_run(key: Key) -> tuple[Key, Run] | None:
        return None if time.monotonic() >= until else (key, run(args.estimator, commit, key))

    failed, others = 0, read_rows(args.out) if args.listing else []
    pool = ThreadPoolExecutor(args.jobs)
    try:
        futures = {pool.submit(next_run, key): key for key in waiting}
        for future in as_completed(futures):
            try:
                done = future.result()
            except subprocess.CalledProcessError as error:
                # What it said stands above.
                key = futures[future]
                print(f"{key.kind} {key.name}: no run, exit code {error.returncode}", flush=True)
                failed += 1
                continue
            if done is None:
                continue
            key, found = done
            runs[key.instance] = found
            write_runs(args.out, keys, runs, others)
            print(
                f"{key.kind} {key.name}: {key.stated:.2f} stated, {found.least:.2f} found, "
                f"{found.seconds:.0f} s",
                flush=True,
            )
    finally:
        # After Ctrl-C nothing new begins.
        pool.shutdown(cancel_futures=True)
    return failed


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--estimator", type=Path, help="a checkout of it")
    source.add_argument("--compare", action="store_true", help="with the recorded runs alone")
    parser.add_argument("--out", type=Path, default=HERE / "estimator_runs.csv")
    parser.add_argument("--listing", type=Path, help="a file with the keys, instead of the program")
    parser.add_argument("--kinds", nargs="+", default=["main", "ephemeral", "retrieval", "table"])
    parser.add_argument("--quick", action="store_true", help="only the keys that matter most")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no run after them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(price(args.estimator, Key(**json.loads(args.one)))))
        return 0
    keys = read_keys(args.listing.read_text().splitlines()) if args.listing else listing()
    keys = [key for key in keys if matters(key)] if args.quick else keys
    runs = read_runs(args.out)
    failed = price_all(args, keys, runs) if args.estimator else 0
    wrong = list(overstated(keys, runs))
    for line in wrong:
        print(line)
    missing = sum(key.instance not in runs for key in keys)
    print(f"{len(keys) - missing} of {len(keys)} keys have a run, {len(wrong)} are overstated")
    if failed:
        print(f"{failed} runs failed")
    return 1 if wrong or failed else 0


if __name__ == "__main__":
    sys.exit(main())
