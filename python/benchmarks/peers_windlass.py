"""Windlass beside other packages: one product of 784 x 10, and what a package is made of.

    python python/benchmarks/peers_windlass.py

prints one line of JSON; the answer is compared with NumPy's before anything is timed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import peers_common as common

import windlass as wl

RUNS = 9
PRECISION = 20
"""Bits after the point, which make the scale 2^40, as that of the others."""


def program(weights: Any, x: Any) -> Any:
    """Multiply an encrypted vector by a matrix: the whole program."""
    model = wl.Linear(weights)
    context = model.context(precision_bits=PRECISION)
    layer = model.on(context, folding="automatic")
    client, server = context.generate_keys(layer, progress=False)
    query = client.encrypt(x)
    answer = layer(server.receive(query), progress=False)
    return client.decrypt(answer)


def main() -> None:
    """Verify, measure, print."""
    weights, x = common.inputs()
    expected = weights @ x
    error = common.verified(program(weights, x), expected)
    wl.set_threads(1)
    model = wl.Linear(weights)
    context, parameters = common.once(lambda: model.context(precision_bits=PRECISION))
    layer, plan = common.once(lambda: model.on(context, folding="automatic"))
    (client, server), keys = common.once(lambda: context.generate_keys(layer, progress=False))
    query = client.encrypt(x)
    received = server.receive(query)
    answer, first = common.once(lambda: layer(received, progress=False))
    common.verified(client.decrypt(answer), expected)
    with tempfile.TemporaryDirectory() as folder:
        sizes = {
            "keys": server.save(Path(folder) / "keys"),
            "query": query.save(Path(folder) / "query"),
            "answer": answer.save(Path(folder) / "answer"),
        }
    empty = context.server_without_keys().receive(query)
    rows = server.receive(client.encrypt([x] * 16))
    common.show(
        common.package("windlass")
        | {
            "lines": common.lines(program),
            "error": error,
            "ring": context.ring_dimension,
            "seconds": {
                "parameters": parameters,
                "plan": plan,
                "keys": keys,
                "encrypt": common.measured(lambda: client.encrypt(x), RUNS),
                "first product": first,
                "product": common.measured(lambda: layer(received, progress=False), RUNS),
                "decrypt": common.measured(lambda: client.decrypt(answer), RUNS),
            },
            "bytes": sizes,
            "pickle": {
                "context": common.pickles(context),
                "ciphertext": common.pickles(query),
                "keys": common.pickles(server),
                "secret key": common.pickles(client),
            },
            "numpy in": common.outcome(lambda: client.encrypt(x)),
            "numpy out": common.outcome(lambda: client.decrypt(query)),
            "another thread": common.pause(lambda: layer(rows, progress=False)),
            "bootstrapping": hasattr(context, "bootstrapping"),
            "missing keys": common.outcome(lambda: layer @ empty),
            "errors": {
                "nan": common.outcome(lambda: client.encrypt([0.0, float("nan")])),
                "text": common.outcome(lambda: client.encrypt(["a"])),
                "100000 numbers": common.outcome(lambda: client.encrypt([0.5] * 100_000)),
                "none": common.outcome(lambda: client.encrypt([])),
                "1e300": common.outcome(lambda: client.encrypt([1e300])),
            },
        }
    )


if __name__ == "__main__":
    main()
