"""A network with two hidden layers on encrypted handwritten digits, beside that in the clear.

    python python/benchmarks/networks.py                      # 450 rows, two layers of 32 ReLU
    python python/benchmarks/networks.py --preset refresh_n65536 --rows 64

scikit-learn trains on 1,347 rows of its digits; rows of the other 450 are encrypted. It prints one
line of JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

import windlass as wl


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=450)
    parser.add_argument("--hidden", type=int, default=32, help="the width of both hidden layers")
    parser.add_argument("--activation", default="relu", choices=["relu", "tanh", "logistic"])
    parser.add_argument("--precision", type=float, default=8.0)
    parser.add_argument("--layout", choices=["rows", "features"])
    parser.add_argument("--preset", help="parameters with refreshes, by name")
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    """Train, encrypt, run, compare."""
    args = arguments()
    wl.set_threads(args.threads)
    images, labels = load_digits(return_X_y=True)
    split = train_test_split(images / 16, labels, test_size=450, random_state=0, stratify=labels)
    trained, held_out, names, expected = split
    model = MLPClassifier(
        (args.hidden, args.hidden),
        activation=args.activation,
        alpha=0.01,
        max_iter=1000,
        random_state=0,
    ).fit(trained, names)
    rows, expected = held_out[: args.rows], expected[: args.rows]
    seconds: dict[str, float] = {}

    def timed(what: str, work: Any) -> Any:
        start = time.perf_counter()
        result = work()
        seconds[what] = round(time.perf_counter() - start, 3)
        return result

    network = wl.Network.from_sklearn(model)
    context = None if args.preset is None else wl.Context.preset(args.preset)
    plan = timed(
        "plan",
        lambda: network.plan(
            trained,
            rows=len(rows),
            precision=args.precision,
            layout=args.layout,
            context=context,
        ),
    )
    client, server = timed("keys", lambda: plan.context.generate_keys(plan, progress=False))
    data = timed("encrypt", lambda: plan.encrypt(client, rows))
    scores = timed("run", lambda: plan.run(server, data, progress=False))
    decrypted = timed("decrypt", lambda: plan.decrypt(client, scores))
    own, theirs = network.decide(decrypted), model.predict(rows)
    clear = plan.in_the_clear(rows)
    report = {
        "network": network.describe(),
        "precision": args.precision,
        "layout": plan.layout.kind,
        "rows": len(rows),
        "n": plan.context.ring_dimension,
        "security": round(plan.context.security, 1),
        "levels": plan.depth,
        "context_levels": plan.context.depth,
        "degrees": [each.activation and each.activation.series.degree() for each in plan.steps],
        "refreshes": plan.refreshes,
        "threads": args.threads,
        "seconds": seconds,
        "bytes": {"keys": server.nbytes, "rows": data.nbytes, "scores": scores.nbytes},
        "accuracy": {
            "plain": float((theirs == expected).mean()),
            "encrypted": float((own == expected).mean()),
        },
        "agree": int((own == theirs).sum()),
        "error": {
            "encryption": float(np.abs(decrypted - clear).max()),
            "polynomials": float(np.abs(clear - network.scores(rows)).max()),
            "largest_score": float(np.abs(network.scores(rows)).max()),
        },
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
