"""HEIR's OpenFHE backend without a C++ compiler: its operations, called through OpenFHE's package.

HEIR lowers a program to its dialect ``openfhe`` and prints it as C++. Here the same operations are
called in the same order, through ``openfhe`` from PyPI. Each takes milliseconds in the library, and
Python adds microseconds. Contexts and plaintexts are made as the printed C++ makes them.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import openfhe as fhe

from windlass.heir import _plain_form
from windlass.heir._check import Checker
from windlass.heir._interpreter import Interpreter
from windlass.heir._ir import Operation
from windlass.heir._operations import RULES
from windlass.heir._parser import parse
from windlass.heir._rules import Machine, Rule
from windlass.heir._trace import Trace

_LOAD = re.compile(r"(memref\.load [^:\n]*: memref<[0-9x]*)(![A-Za-z_0-9.]+)>")

_FORALL = re.compile(r"scf\.forall \((%\w+)\) in \((\d+)\) shared_outs\(([^)]*)\) ->")
_IN_PARALLEL = re.compile(
    r"scf\.forall\.in_parallel \{\s*tensor\.parallel_(insert_slice .* into (\S+))\s*\}"
)

_PARAMETERS = {
    "mulDepth": "SetMultiplicativeDepth",
    "plainMod": "SetPlaintextModulus",
    "ringDim": "SetRingDim",
    "batchSize": "SetBatchSize",
    "firstModSize": "SetFirstModSize",
    "scalingModSize": "SetScalingModSize",
    "evalAddCount": "SetEvalAddCount",
    "keySwitchCount": "SetKeySwitchCount",
    "digitSize": "SetDigitSize",
    "numLargeDigits": "SetNumLargeDigits",
    "maxRelinSkDeg": "SetMaxRelinSkDeg",
}


class Backend:
    """A program in the dialect ``openfhe``, with its context and keys."""

    def __init__(self, text: str, name: str) -> None:
        # The type of what is loaded is not written.
        text = _LOAD.sub(r"\1\2> -> \2", text)
        # Parallel loops run one iteration after the other.
        text = _FORALL.sub(r"affine.for \1 = 0 to \2 iter_args(\3) ->", text)
        text = _IN_PARALLEL.sub(r"%all = tensor.\1\naffine.yield %all : \2", text)
        checker = Checker(text, parse(text))
        self.interpreter = Interpreter(checker)
        self.functions = self.interpreter.module.functions
        scheme = next(s for s in ("ckks", "bgv", "bfv") if f"scheme.{s}" in self._attributes)
        self.name, self.scheme = name, scheme
        self._zeros: list[Any] = []
        Backend.current = self
        (self.context,) = self.call(f"{name}__generate_crypto_context")
        self.pair = self.context.KeyGen()
        self.call(f"{name}__configure_crypto_context", self.context, self.pair.secretKey)

    current: Backend

    @property
    def _attributes(self) -> dict[str, Any]:
        return self.interpreter.module.attributes

    def call(self, function: str, *arguments: Any) -> list[Any]:
        """Run a function of the program."""
        self.interpreter.steps = 0
        machine = Machine(Trace(1, False), client=True)
        return self.interpreter.run(machine, function, list(arguments))

    def encrypt(self, index: int, array: Any) -> Any:
        """Encrypt an argument, with the key that the function takes."""
        function = f"{self.name}__encrypt__arg{index}"
        kind = self.functions[function].type.inputs[-1].kind
        key = self.pair.publicKey if "public" in kind else self.pair.secretKey
        return self.call(function, self.context, array, key)[0]

    def zeros(self) -> list[Any]:
        """Encrypted zeros, which some programs take."""
        name = f"{self.name}__encrypt__zeros"
        if name in self.functions and not self._zeros:
            self._zeros = self.call(name, self.context, self.pair.publicKey)
        return self._zeros

    def prepared(self, plain: dict[int, Any]) -> list[Any]:
        """The plaintexts that the server makes before it evaluates."""
        name = f"{self.name}__preprocessing"
        if name not in self.functions:
            return []
        interface = self.functions[name].attributes["heir.interface"]
        return self.call(name, self.context, *(plain[k] for k in interface["entry_arg_indices"]))

    def evaluate(self, given: dict[int, Any], prepared: list[Any]) -> Any:
        """Evaluate, with plaintexts that are encoded already."""
        name = f"{self.name}__preprocessed" if prepared else self.name
        arguments = [given[k] for k in sorted(given)]
        if self.functions[name].type.inputs[1].kind == "openfhe.private_key":
            # Variants for debugging, whose calls do nothing here, take the key.
            arguments.insert(0, self.pair.secretKey)
        return self.call(name, self.context, *arguments, *self.zeros(), *prepared)[0]

    def decrypt(self, result: Any) -> Any:
        """Decrypt the result."""
        (found,) = self.call(
            f"{self.name}__decrypt__result0", self.context, result, self.pair.secretKey
        )
        return found


def _gen_params(_machine: Machine, operation: Operation, _args: list[Any]) -> Any:
    kinds = {"ckks": "CCParamsCKKSRNS", "bgv": "CCParamsBGVRNS", "bfv": "CCParamsBFVRNS"}
    chosen = getattr(fhe, kinds[Backend.current.scheme])()
    for name, setter in _PARAMETERS.items():
        value = operation.attributes.get(name, 0)
        if value:
            getattr(chosen, setter)(value)
    if operation.attributes.get("mulDepth") == 0:
        chosen.SetMultiplicativeDepth(0)
    if operation.attributes.get("scalingTechniqueFixedManual"):
        chosen.SetScalingTechnique(fhe.FIXEDMANUAL)
    chosen.SetKeySwitchTechnique(fhe.HYBRID)
    return chosen


def _gen_context(_machine: Machine, operation: Operation, args: list[Any]) -> Any:
    context = fhe.GenCryptoContext(args[0])
    features = [fhe.PKE, fhe.KEYSWITCH, fhe.LEVELEDSHE]
    if operation.attributes.get("supportAdvancedSHE") or operation.attributes.get("supportFHE"):
        features.append(fhe.ADVANCEDSHE)
    if operation.attributes.get("supportFHE"):
        features.append(fhe.FHE)
    for feature in features:
        context.Enable(feature)
    return context


def _filled(context: Any, numbers: Any) -> list[Any]:
    """The numbers, repeated in all slots, as the printed C++ does."""
    count = context.GetRingDimension() // 2
    flat = np.asarray(numbers).reshape(-1)
    return np.resize(flat, count).tolist()  # type: ignore[no-any-return]


def _decoded(args: list[Any], type_: Any, *, real: bool) -> Any:
    count = int(np.prod([n or 1 for n in type_.shape]))
    args[0].SetLength(count)
    numbers = args[0].GetRealPackedValue() if real else args[0].GetPackedValue()
    dtype = np.float64 if real else np.int64
    return np.array(numbers[:count], dtype).reshape(type_.shape)


def _slots_of_bootstrap(operation: Operation, args: list[Any]) -> None:
    names = ("levelBudgetEncode", "levelBudgetDecode")
    args[0].EvalBootstrapSetup([operation.attributes[name] for name in names])


def _in_place(method: str) -> Any:
    def action(_machine: Machine, _operation: Operation, args: list[Any]) -> Any:
        getattr(args[0], method)(*args[1:])
        return args[1]

    return action


def _method(method: str) -> Any:
    def action(_machine: Machine, _operation: Operation, args: list[Any]) -> Any:
        return getattr(args[0], method)(*args[1:])

    return action


def _of(f: Any) -> Any:
    return lambda _machine, operation, args: f(operation, args)


def _level_reduce(operation: Operation, args: list[Any]) -> Any:
    args[0].LevelReduceInPlace(args[1], None, operation.attributes.get("levelToDrop", 1))
    return args[1]


def _fast_rotation(_operation: Operation, args: list[Any]) -> Any:
    context, x, shift, digits = args
    return context.EvalFastRotation(x, shift, context.GetCyclotomicOrder(), digits)


def _chebyshev(operation: Operation, args: list[Any]) -> Any:
    own = operation.attributes
    return args[0].EvalChebyshevSeries(
        args[1], own["coefficients"], own["domain_lower"], own["domain_upper"]
    )


_ACTIONS: dict[str, tuple[Any, int]] = {
    "openfhe.gen_params": (_gen_params, 1),
    "openfhe.gen_context": (_gen_context, 1),
    "openfhe.gen_mulkey": (_of(lambda _, a: a[0].EvalMultKeyGen(a[1])), 0),
    "openfhe.gen_rotkey": (
        _of(lambda op, a: a[0].EvalRotateKeyGen(a[1], op.attributes["indices"])),
        0,
    ),
    "openfhe.setup_bootstrap": (_of(_slots_of_bootstrap), 0),
    "openfhe.gen_bootstrapkey": (
        _of(lambda _, a: a[0].EvalBootstrapKeyGen(a[1], a[0].GetRingDimension() // 2)),
        0,
    ),
    "openfhe.make_ckks_packed_plaintext": (
        _of(lambda _, a: a[0].MakeCKKSPackedPlaintext(_filled(*a))),
        1,
    ),
    "openfhe.make_packed_plaintext": (_of(lambda _, a: a[0].MakePackedPlaintext(_filled(*a))), 1),
    "openfhe.encrypt": (_of(lambda _, a: a[0].Encrypt(a[2], a[1])), 1),
    "openfhe.decrypt": (_of(lambda _, a: a[0].Decrypt(a[1], a[2])), 1),
    "openfhe.decode_ckks": (_of(lambda op, a: _decoded(a, op.results[0].type, real=True)), 1),
    "openfhe.decode": (_of(lambda op, a: _decoded(a, op.results[0].type, real=False)), 1),
    "openfhe.add_inplace": (_in_place("EvalAddInPlace"), 1),
    "openfhe.add_plain_inplace": (_in_place("EvalAddInPlace"), 1),
    "openfhe.sub_plain_inplace": (_method("EvalSub"), 1),
    "openfhe.sub_plain": (_method("EvalSub"), 1),
    "openfhe.mul_plain": (_method("EvalMult"), 1),
    "openfhe.mul_no_relin": (_method("EvalMultNoRelin"), 1),
    "openfhe.relin_inplace": (_in_place("RelinearizeInPlace"), 1),
    "openfhe.mod_reduce_inplace": (_in_place("ModReduceInPlace"), 1),
    "openfhe.mod_reduce": (_method("ModReduce"), 1),
    "openfhe.level_reduce_inplace": (_of(_level_reduce), 1),
    "openfhe.rot": (_method("EvalRotate"), 1),
    "openfhe.fast_rotation_precompute": (_method("EvalFastRotationPrecompute"), 1),
    "openfhe.fast_rotation": (_of(_fast_rotation), 1),
    "openfhe.eval_chebyshev_series": (_of(_chebyshev), 1),
    "openfhe.bootstrap": (_method("EvalBootstrap"), 1),
    "memref.alloc": (_of(lambda _op, _args: {}), 1),
    "memref.store": (_of(lambda _, a: a[1].__setitem__(tuple(a[2:]), a[0])), 0),
    "memref.load": (_of(lambda _, a: a[0][tuple(a[1:])]), 1),
}

for _name, (_action, _results) in _ACTIONS.items():
    RULES[_name] = Rule("*+", _action, _results, pure=False)
_plain_form._WITHOUT_RESULTS |= {"memref.store"}
