"""TenSEAL: one product of 784 x 10, and what the package is made of.

    pip install tenseal==0.3.18 numpy; python python/benchmarks/peers_tenseal.py

prints one line of JSON; the answer is compared with NumPy's before anything is timed.
"""

from __future__ import annotations

from typing import Any

import peers_common as common
import tenseal as ts

RUNS = 2
CKKS = {"poly_modulus_degree": 8192, "coeff_mod_bit_sizes": [60, 40, 60], "n_threads": 1}


def program(weights: Any, x: Any) -> Any:
    """Multiply an encrypted vector by a matrix: the whole program."""
    context = ts.context(ts.SCHEME_TYPE.CKKS, **CKKS)
    context.global_scale = 2**40
    context.generate_galois_keys()
    query = ts.ckks_vector(context, x)
    answer = query.mm(weights.T)
    return answer.decrypt()


def main() -> None:
    """Verify, measure, print."""
    weights, x = common.inputs()
    error = common.verified(program(weights, x), weights @ x)
    context, parameters = common.once(lambda: ts.context(ts.SCHEME_TYPE.CKKS, **CKKS))
    context.global_scale = 2**40
    _, keys = common.once(context.generate_galois_keys)
    query = ts.ckks_vector(context, x)
    answer = query.mm(weights.T)
    other = ts.context(ts.SCHEME_TYPE.CKKS, **CKKS)
    other.global_scale = 2**40
    without = ts.ckks_vector(other, x)
    public = {"save_public_key": False, "save_secret_key": False, "save_relin_keys": False}
    common.show(
        common.package("tenseal")
        | {
            "lines": common.lines(program),
            "error": error,
            "ring": 8192,
            "seconds": {
                "parameters": parameters,
                "keys": keys,
                "encrypt": common.measured(lambda: ts.ckks_vector(context, x), RUNS),
                "product": common.measured(lambda: query.mm(weights.T), RUNS),
                "decrypt": common.measured(answer.decrypt, RUNS),
            },
            "bytes": {
                "keys": len(context.serialize(save_galois_keys=True, **public)),
                "query": len(query.serialize()),
                "answer": len(answer.serialize()),
            },
            "pickle": {
                "context": common.pickles(context),
                "ciphertext": common.pickles(query),
                "keys": common.pickles(context.galois_keys()),
                "secret key": common.pickles(context.secret_key()),
            },
            "numpy in": common.outcome(lambda: ts.ckks_vector(context, x)),
            "numpy out": common.outcome(query.decrypt),
            "another thread": common.pause(lambda: query.mm(weights.T)),
            "bootstrapping": any("boot" in name.lower() for name in dir(ts) + dir(query)),
            "missing keys": common.outcome(lambda: without.mm(weights.T)),
            "errors": {
                "nan": common.outcome(lambda: ts.ckks_vector(context, [0.0, float("nan")])),
                "text": common.outcome(lambda: ts.ckks_vector(context, ["a"])),
                "100000 numbers": common.outcome(lambda: ts.ckks_vector(context, [0.5] * 100_000)),
                "none": common.outcome(lambda: ts.ckks_vector(context, [])),
                "1e300": common.outcome(lambda: ts.ckks_vector(context, [1e300])),
            },
        }
    )


if __name__ == "__main__":
    main()
