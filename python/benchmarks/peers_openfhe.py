"""OpenFHE: one product of 784 x 10, and what the package is made of.

    pip install openfhe==1.6.1.0.22.4 numpy
    OMP_NUM_THREADS=1 python python/benchmarks/peers_openfhe.py

prints one line of JSON; the answer is compared with NumPy's before anything is timed. The package
has no product with a matrix. Two programs are timed: an inner product for each output, which is the
shortest, and 16 diagonals of a matrix of period 16 with one sum, the fastest that we know.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import openfhe as fhe
import peers_common as common

RUNS = 5
PERIOD, LENGTH = 16, 1024
"""Rows and columns of the matrix, filled up to powers of two."""


def parameters() -> Any:
    """Make a context of depth 1 with 128 bits of security."""
    chosen = fhe.CCParamsCKKSRNS()
    chosen.SetMultiplicativeDepth(1)
    chosen.SetScalingModSize(40)
    chosen.SetFirstModSize(50)
    chosen.SetScalingTechnique(fhe.FIXEDMANUAL)
    chosen.SetSecurityLevel(fhe.HEStd_128_classic)
    context = fhe.GenCryptoContext(chosen)
    for feature in (fhe.PKE, fhe.KEYSWITCH, fhe.LEVELEDSHE, fhe.ADVANCEDSHE):
        context.Enable(feature)
    return context


def program(weights: Any, x: Any) -> Any:
    """Multiply an encrypted vector by a matrix: the whole program, except ``parameters``."""
    context = parameters()
    pair = context.KeyGen()
    context.EvalSumKeyGen(pair.secretKey)
    query = context.Encrypt(pair.publicKey, context.MakeCKKSPackedPlaintext(x))
    rows = [context.MakeCKKSPackedPlaintext(row) for row in weights]
    answers = [context.EvalInnerProduct(query, row, LENGTH) for row in rows]
    scores = [context.Decrypt(answer, pair.secretKey) for answer in answers]
    for score in scores:
        score.SetLength(1)
    return [score.GetRealPackedValue()[0] for score in scores]


def diagonals(context: Any, weights: Any) -> list[Any]:
    """Write the matrix as 16 diagonals: entry (i, k) stands in slot k + d, which is i modulo 16."""
    slots = context.GetRingDimension() // 2
    entries = np.zeros((PERIOD, slots))
    for row, own in enumerate(weights):
        for column, weight in enumerate(own):
            d = (row - column) % PERIOD
            entries[d, column + d] = weight
    return [context.MakeCKKSPackedPlaintext(each) for each in entries]


def product(context: Any, query: Any, plaintexts: list[Any]) -> Any:
    """Rotate once for each diagonal, on digits that are shared, then add every 16th slot."""
    digits, m = context.EvalFastRotationPrecompute(query), 2 * context.GetRingDimension()
    total = context.EvalMult(query, plaintexts[0])
    for d in range(1, PERIOD):
        turned = context.EvalFastRotation(query, -d, m, digits)
        total = context.EvalAdd(total, context.EvalMult(turned, plaintexts[d]))
    total = context.Rescale(total)
    shift = PERIOD
    while shift < LENGTH:
        total = context.EvalAdd(total, context.EvalRotate(total, shift))
        shift *= 2
    return total


def main() -> None:
    """Verify, measure, print."""
    weights, x = common.inputs()
    expected = weights @ x
    error = common.verified(program(weights, x), expected)
    fhe.ReleaseAllContexts()
    context, chosen = common.once(parameters)
    pair = context.KeyGen()
    encrypt = lambda: context.Encrypt(pair.publicKey, context.MakeCKKSPackedPlaintext(x))  # noqa: E731
    query = encrypt()
    context.EvalRotateKeyGen(pair.secretKey, [1])
    missing = common.outcome(lambda: context.EvalRotate(query, 3))
    context.ClearEvalAutomorphismKeys()
    _, sum_keys = common.once(lambda: context.EvalSumKeyGen(pair.secretKey))
    rows = [context.MakeCKKSPackedPlaintext(row) for row in weights]
    inner = lambda: [context.EvalInnerProduct(query, row, LENGTH) for row in rows]  # noqa: E731
    inner_time = common.measured(inner, RUNS)
    sizes, folder = {}, tempfile.TemporaryDirectory()
    path = str(Path(folder.name) / "keys")
    context.SerializeEvalAutomorphismKey(path, fhe.BINARY)
    sizes["keys, inner products"] = Path(path).stat().st_size
    context.ClearEvalAutomorphismKeys()
    shifts = [*range(1 - PERIOD, 0), *(PERIOD << k for k in range(6))]
    _, keys = common.once(lambda: context.EvalRotateKeyGen(pair.secretKey, shifts))
    context.SerializeEvalAutomorphismKey(path, fhe.BINARY)
    sizes["keys"] = Path(path).stat().st_size
    plaintexts, prepared = common.once(lambda: diagonals(context, weights))
    answer = product(context, query, plaintexts)

    def decrypt(ciphertext: Any = answer) -> Any:
        plain = context.Decrypt(ciphertext, pair.secretKey)
        plain.SetLength(PERIOD)
        return plain.GetRealPackedValue()

    common.verified(decrypt()[: len(weights)], expected)
    sizes["query"] = len(fhe.Serialize(query, fhe.BINARY))
    sizes["answer"] = len(fhe.Serialize(answer, fhe.BINARY))
    plaintext = lambda values: lambda: context.MakeCKKSPackedPlaintext(values)  # noqa: E731
    common.show(
        common.package("openfhe")
        | {
            "lines": common.lines(parameters) + common.lines(program),
            "lines of the faster program": sum(
                common.lines(each) for each in (parameters, program, diagonals, product)
            ),
            "error": error,
            "ring": context.GetRingDimension(),
            "seconds": {
                "parameters": chosen,
                "keys, inner products": sum_keys,
                "inner products": inner_time,
                "keys": keys,
                "diagonals": prepared,
                "encrypt": common.measured(encrypt, RUNS),
                "product": common.measured(lambda: product(context, query, plaintexts), RUNS),
                "decrypt": common.measured(decrypt, RUNS),
            },
            "bytes": sizes,
            "pickle": {
                "context": common.pickles(context),
                "ciphertext": common.pickles(query),
                "keys": "no object holds them",
                "secret key": common.pickles(pair.secretKey),
            },
            "numpy in": common.outcome(plaintext(x)),
            "numpy out": common.outcome(decrypt),
            "another thread": common.pause(
                lambda: context.EvalRotateKeyGen(pair.secretKey, list(range(17, 60)))
            ),
            "bootstrapping": hasattr(context, "EvalBootstrap"),
            "missing keys": missing,
            "errors": {
                "nan": common.outcome(
                    lambda: decrypt(
                        context.Encrypt(pair.publicKey, plaintext([0.0, float("nan")])())
                    )
                ),
                "text": common.outcome(plaintext(["a"])),
                "100000 numbers": common.outcome(plaintext([0.5] * 100_000)),
                "none": common.outcome(plaintext([])),
                "1e300": common.outcome(plaintext([1e300])),
            },
        }
    )
    folder.cleanup()


if __name__ == "__main__":
    main()
