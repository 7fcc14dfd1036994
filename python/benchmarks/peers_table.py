"""Tables of what ``peers_*.py`` printed, in Markdown.

    python python/benchmarks/peers_table.py FILE.json ...

The last line of each file is what one run printed; of several runs of a package the least is shown,
for the machine may do other work meanwhile.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ORDER = ("windlass", "openfhe", "tenseal")

SECONDS = (
    ("parameters", "parameters"),
    ("plan of the matrix", "plan"),
    ("keys", "keys"),
    ("constants and first product", "first product"),
    ("constants", "diagonals"),
    ("encrypt", "encrypt"),
    ("**product**", "product"),
    ("product by 10 inner products", "inner products"),
    ("decrypt", "decrypt"),
)
BYTES = (
    ("evaluation keys", "keys"),
    ("keys for inner products", "keys, inner products"),
    ("query", "query"),
    ("answer", "answer"),
)


def shown(value: float) -> str:
    """Write seconds as people say them."""
    return f"{value:.2f} s" if value >= 1 else f"{1e3 * value:.3g} ms"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Write a table, without the rows that are empty."""
    lines = [head, ["---"] * len(head), *(row for row in rows if any(row[1:]))]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def least(runs: list[dict[str, Any]], group: str, name: str, key: str) -> float | None:
    """Find the minimum of a figure over all runs."""
    found = [run[group][name] for run in runs if name in run[group]]
    return min((one[key] for one in found), default=None) if key else min(found, default=None)


def main() -> None:
    """Read, choose, print."""
    runs: dict[str, list[dict[str, Any]]] = {}
    for name in sys.argv[1:]:
        run = json.loads(Path(name).read_text(encoding="utf-8").strip().splitlines()[-1])
        runs.setdefault(run["package"], []).append(run)
    known = [name for name in ORDER if name in runs]
    last = {name: runs[name][-1] for name in known}
    head = ["", *(f"{name} {last[name]['version']}" for name in known)]

    def cells(group: str, name: str, key: str) -> list[str]:
        figures = [least(runs[package], group, name, key) for package in known]
        if key:
            return ["" if figure is None else shown(figure) for figure in figures]
        return ["" if figure is None else f"{figure:,}" for figure in figures]

    rows = [["lines of the program", *(str(last[name]["lines"]) for name in known)]]
    rows += [[word, *cells("seconds", name, "processor")] for word, name in SECONDS]
    rows += [[f"bytes of {word}", *cells("bytes", name, "")] for word, name in BYTES]
    errors = [max(run["error"] for run in runs[name]) for name in known]
    rows += [["error, at most", *(f"{error:.1g}" for error in errors)]]
    print(table(head, rows))
    print()
    wall = [
        f"{name} {shown(least(runs[name], 'seconds', 'product', 'least') or 0)}" for name in known
    ]
    loads = [run["load"] for each in runs.values() for run in each]
    print(f"Product by the clock: {', '.join(wall)}; load {min(loads)} to {max(loads)}.")
    print()
    words = []
    for name in (
        "tags",
        "python",
        "stubs",
        "numpy in",
        "numpy out",
        "bootstrapping",
        "missing keys",
    ):
        words.append([name, *(str(last[package][name]) for package in known)])
    for group in ("pickle", "errors", "another thread"):
        for name in last[known[0]][group]:
            own = [str(last[package][group][name])[:260] for package in known]
            words.append([f"{group}: {name}", *own])
    print(table(head, words))


if __name__ == "__main__":
    main()
