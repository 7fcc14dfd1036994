"""Nearest neighbours among scikit-learn's handwritten digits, encrypted and in the clear.

Every twentieth digit looks for its ten nearest among the others, by `windlass search`, which checks
every decrypted score against the same integers in the clear. Recall is counted here, by double
precision:

    python python/benchmarks/search.py --binary target/release/windlass
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

Numbers = NDArray[np.float64]

METRICS = ("cosine", "inner-product", "euclidean")


def distances(metric: str, rows: Numbers, queries: Numbers) -> Numbers:
    """How far each row is from each query: less is nearer."""
    if metric == "euclidean":
        return np.asarray(((queries[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2))
    if metric == "cosine":
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    return np.asarray(-(queries @ rows.T))


def search(
    binary: Path, metric: str, rows: NDArray[Any], queries: NDArray[Any], k: int
) -> dict[str, Any]:
    """The report of one search."""
    with tempfile.TemporaryDirectory() as directory:
        table, query = Path(directory, "table.npy"), Path(directory, "query.npy")
        np.save(table, rows)
        np.save(query, queries)
        command = [str(binary), "search", "--table", str(table), "--query", str(query)]
        command += ["--metric", metric, "--k", str(k), "--json"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def main() -> None:
    """Prints one line of JSON for each metric and kind of numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, default=Path("target/release/windlass"))
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--every", type=int, default=20, help="which digits look for others")
    options = parser.parse_args()

    digits = load_digits()
    asks = np.arange(len(digits.data)) % options.every == 0
    labels, wanted_labels = digits.target[~asks], digits.target[asks]
    for kind in ("float64", "int8"):
        data = digits.data.astype(kind)
        rows, queries = data[~asks], data[asks]
        for metric in METRICS:
            report = search(options.binary, metric, rows, queries, options.k)
            found = np.array([[one["index"] for one in nearest] for nearest in report["nearest"]])
            clear = distances(metric, rows.astype(float), queries.astype(float))
            wanted = np.argsort(clear, axis=1, kind="stable")[:, : options.k]
            hits = [len(np.intersect1d(a, b)) for a, b in zip(found, wanted, strict=True)]
            line = {
                "metric": metric,
                "numbers": kind,
                "vectors": len(rows),
                "queries": len(queries),
                "verified": report["verified"],
                "recall": float(np.mean(hits) / options.k),
                "label_of_nearest": float(np.mean(labels[found[:, 0]] == wanted_labels)),
                "label_of_nearest_clear": float(np.mean(labels[wanted[:, 0]] == wanted_labels)),
                "answer_seconds": report["seconds"]["answer"] / len(queries),
            }
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
