"""Saved programs of HEIR, and files that are refused."""

from __future__ import annotations

import hashlib
import json
import math
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import windlass as wl
from windlass.heir import _container, halves, programs

TEXTS = Path(__file__).parent / "heir"
RNG = np.random.default_rng(23)

# The texts with the functions that they compute.
CASES: dict[str, tuple[list[tuple[int, ...]], Callable[..., Any]]] = {
    "weighted_sum": ([(8,), (8,)], lambda x, y: x @ y + 0.25),
    "weighted_sum_bgv": ([(8,), (8,)], lambda x, y: x @ y + 5),
    "product_of_matrices": ([(3, 4), (4, 5)], lambda x, y: x @ y),
    "polynomial": ([(8,)], lambda x: x**3 - 2 * x + 1),
    "squares": ([(4,), (4,)], lambda x, y: x * x - y * y),
    "total": ([(16,)], np.sum),
    "scaled": ([()], lambda x: x * 7 + 3),
    "sigmoid": ([(8,)], lambda x: 1 / (1 + np.exp(-x))),
}


def loaded(name: str, **options: Any) -> wl.heir.Program:
    plain = {1: 7, 2: 3} if name == "scaled" else None
    text = (TEXTS / f"{name}.mlir").read_text()
    found: wl.heir.Program = wl.heir.load(text, plain=plain, **options)
    return found


def arguments(name: str, program: Any) -> list[np.ndarray]:
    shapes = CASES[name][0]
    if program.scheme == "CKKS":
        return [RNG.uniform(-1, 1, shape) for shape in shapes]
    return [RNG.integers(-30, 30, shape) for shape in shapes]


@pytest.mark.parametrize("name", CASES)
def test_halves_are_enough_for_client_and_server(name: str, tmp_path: Path) -> None:
    program = loaded(name)
    program.client_half.save(tmp_path / "client")
    program.server_half.save(tmp_path / "server")
    half, other = wl.heir.open(tmp_path / "client"), wl.heir.open(tmp_path / "server")
    assert isinstance(half, wl.heir.ClientProgram) and isinstance(other, wl.heir.ServerProgram)
    # Another plan with the same keys may use fewer of them.
    assert set(other.required_keys) <= set(half.required_keys)
    assert half.required_keys == program.required_keys
    assert half.relinearisation == other.relinearisation == program.relinearisation
    assert half.context == other.context == program.context
    client, server = half.setup(progress=False)
    given = arguments(name, program)
    results = other.evaluate(server, client.encrypt(*given))
    expected = CASES[name][1](*given)
    found = client.decrypt(results)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, atol=1e-5 if name == "sigmoid" else 1e-7)


@pytest.mark.parametrize("name", CASES)
def test_saved_programs_compute_the_same(name: str, tmp_path: Path) -> None:
    program = loaded(name, max_keys=4)
    written = program.save(tmp_path / "program")
    assert written == (tmp_path / "program").stat().st_size
    for again in (wl.heir.open(tmp_path / "program"), pickle.loads(pickle.dumps(program))):
        assert isinstance(again, wl.heir.Program)
        assert repr(again) == repr(program)
        assert set(again.required_keys) <= set(program.required_keys)
        given = arguments(name, program)
        np.testing.assert_array_equal(again.in_the_clear(*given), program.in_the_clear(*given))


def test_halves_are_pickled(tmp_path: Path) -> None:
    program = loaded("weighted_sum")
    client, server = (
        pickle.loads(pickle.dumps(half)) for half in (program.client_half, program.server_half)
    )
    assert repr(client) == "<windlass.heir.ClientProgram weighted_sum, CKKS, 2 inputs, 1 output>"
    assert repr(server) == "<windlass.heir.ServerProgram weighted_sum, CKKS, depth 2>"
    for half, other, message in (
        (program.client_half, halves.server_of, "no half of a server"),
        (program.server_half, halves.client_of, "no half of a client"),
    ):
        half.save(tmp_path / message)
        with pytest.raises(wl.FileError, match=message):
            other((tmp_path / message).read_bytes())


def test_a_half_holds_what_its_side_needs(tmp_path: Path) -> None:
    program = loaded("product_of_matrices")
    contents = {}
    for name, half in (("client", program.client_half), ("server", program.server_half)):
        half.save(tmp_path / name)
        data = (tmp_path / name).read_bytes()
        assert b"func" not in data and b"ckks." not in data
        contents[name] = _container.unpacked(data)
    _, client, arrays = contents["client"]
    assert not {"affines", "steps", "outputs", "modulus", "arguments"} & set(client)
    # The places of entries are integers. There are no other numbers.
    assert {array.dtype.kind for array in arrays} == {"i"}
    _, server, _ = contents["server"]
    assert not {"results", "bounds", "slots", "galois"} & set(server)


def test_a_known_result_is_with_the_client(tmp_path: Path) -> None:
    text = """!ct = !lwe.lwe_ciphertext<>
    module attributes {scheme.ckks, scheme.requested_slot_count = 8 : i64} {
      func.func @f(%x: !ct) -> (!ct, !ct) {
        %p = arith.constant dense<0.0> : tensor<8xf64>
        %q = arith.constant dense<2.5> : tensor<8xf64>
        %0 = ckks.mul_plain %x, %p : (!ct, tensor<8xf64>) -> !ct
        %1 = ckks.add_plain %0, %q : (!ct, tensor<8xf64>) -> !ct
        return %x, %1 : !ct, !ct
      }
    }"""
    wl.heir.load(text).client_half.save(tmp_path / "client")
    wl.heir.load(text).server_half.save(tmp_path / "server")
    half, other = wl.heir.open(tmp_path / "client"), wl.heir.open(tmp_path / "server")
    assert isinstance(half, wl.heir.ClientProgram) and isinstance(other, wl.heir.ServerProgram)
    client, server = half.setup(progress=False)
    results = other.evaluate(server, client.encrypt(np.full(8, 0.5)))
    assert results[1] is None
    first, second = client.decrypt(results)
    np.testing.assert_allclose(first, np.full(8, 0.5), atol=1e-7)
    np.testing.assert_array_equal(second, np.full(8, 2.5))
    with pytest.raises(wl.ShapeError, match="result 0 of @f is 8 encrypted numbers"):
        client.decrypt([None, None])
    with pytest.raises(wl.ShapeError, match="has 2 results, not 1"):
        client.decrypt(results[:1])


def test_plans_of_a_file_use_the_keys_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Prices are measured, so that another machine could choose other keys.
    loaded("product_of_matrices").server_half.save(tmp_path / "server")
    seen: list[dict[str, Any]] = []
    own = wl.Context.linear

    def linear(self: Any, matrix: Any, **options: Any) -> Any:
        seen.append(options)
        return own(self, matrix, **options)

    class Watched:
        """A context whose plans are noted."""

        def __init__(self, context: Any) -> None:
            self.context = context

        def linear(self, matrix: Any, **options: Any) -> Any:
            return linear(self.context, matrix, **options)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.context, name)

    from windlass.heir import _saved

    context = _saved._context
    monkeypatch.setattr(
        _saved, "_context", lambda text, *, insecure: Watched(context(text, insecure=insecure))
    )
    half = wl.heir.open(tmp_path / "server")
    assert isinstance(half, wl.heir.ServerProgram) and seen
    plans = list(half.circuit.plans.values())
    for options, plan in zip(seen, plans, strict=True):
        assert options["keys"] is not None and set(plan.required_keys) <= set(options["keys"])


def test_explanations_state_keys_bytes_and_times() -> None:
    program = loaded("product_of_matrices")
    words = program.explain()
    keys = len(program.required_keys) + 1
    assert f"keys         {keys}, about " in words and "MB as a file" in words
    assert "a run sends  2 ciphertexts, about 0." in words
    assert "ms for the matrices" in words
    client = program.client_half.explain()
    assert "a run sends  2 ciphertexts" in client and "matrix" not in client
    # There is no matrix to price.
    assert "time" not in loaded("sigmoid").explain()


# Files that are refused.


def rewritten(data: bytes, change: Callable[[dict[str, Any], list[np.ndarray]], object]) -> bytes:
    """The same file with another content and a right checksum."""
    kind, header, arrays = _container.unpacked(data)
    change(header, arrays)
    header.pop("arrays", None)
    kept = _container.Arrays()
    kept.list = [array.astype(array.dtype.newbyteorder("<")) for array in arrays]
    return _container.packed(kind, header, kept)


@pytest.fixture(name="files", scope="module")
def _files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    directory = tmp_path_factory.mktemp("files")
    program = loaded("weighted_sum")
    program.save(directory / "program")
    program.client_half.save(directory / "client")
    program.server_half.save(directory / "server")
    return {name: (directory / name).read_bytes() for name in ("program", "client", "server")}


def refused(data: bytes, path: Path, message: str) -> None:
    path.write_bytes(data)
    with pytest.raises(wl.FileError, match=message) as caught:
        wl.heir.open(path)
    assert str(path) in str(caught.value)


def test_truncated_files_are_refused(files: dict[str, bytes], tmp_path: Path) -> None:
    for data in files.values():
        for end in (0, 5, 8, 20, 28, len(data) // 2, len(data) - 33, len(data) - 1):
            refused(data[:end], tmp_path / "file", "damaged|no file of a program")
        refused(data + b"\0", tmp_path / "file", "bytes instead of")


def test_damaged_files_are_refused(files: dict[str, bytes], tmp_path: Path) -> None:
    for data in files.values():
        for place in RNG.integers(12, len(data), 40):
            changed = bytearray(data)
            changed[place] ^= 1 << int(RNG.integers(8))
            refused(bytes(changed), tmp_path / "file", "damaged")


def test_foreign_and_future_files_are_refused(files: dict[str, bytes], tmp_path: Path) -> None:
    refused(b"PK\x03\x04 a zip", tmp_path / "file", "no file of a program")
    refused(pickle.dumps(loaded("total")), tmp_path / "file", "no file of a program")
    data = bytearray(files["program"])
    data[8:10] = (2).to_bytes(2, "little")
    refused(bytes(data), tmp_path / "file", "has version 2, and this Windlass reads 1")
    data = bytearray(files["program"])
    data[10:12] = (9).to_bytes(2, "little")
    data[-32:] = hashlib.sha256(data[:-32]).digest()
    refused(bytes(data), tmp_path / "file", "no kind 9")


def test_headers_that_are_no_headers_are_refused(tmp_path: Path) -> None:
    for header, message in (
        (b"[" * 100_000, "no JSON"),
        (b"[]", "no JSON object"),
        (b'{"arrays": [], "x": NaN}', "NaN"),
        (b'{"arrays": 5}', "lists no arrays"),
        (b'{"arrays": [["f8", [9223372036854775807]]]}', "between 0 and"),
        (b'{"arrays": [["f8", [1000000000, 1000]]]}', "longer than the file"),
        (b'{"arrays": [["O", [1]]]}', "no known dtype"),
        (b'{"arrays": [["f8", [1, 1, 1]]]}', "shape of an array holds more than 2 numbers"),
        (b'{"arrays": [' + b",".join([b"0"] * (2**16 + 1)) + b"]}", "more than 65536 arrays"),
        (b'{"arrays": [], "name": 7}', "name is no text"),
        (b"\xff\xfe", "no JSON"),
    ):
        head = struct.pack("<8sHHQQ", b"WLHEIRPR", 1, 1, len(header), 0)
        whole = head + header
        refused(whole + hashlib.sha256(whole).digest(), tmp_path / "file", message)


def test_shapes_are_not_multiplied_before_they_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The product of many large numbers takes quadratic time.
    monkeypatch.setattr(math, "prod", lambda _: pytest.fail("a product of sizes"))
    shape = b",".join([b"1099511627775"] * 40_000)
    header = b'{"arrays": [["f8", [' + shape + b"]]]}"
    whole = struct.pack("<8sHHQQ", b"WLHEIRPR", 1, 1, len(header), 0) + header
    refused(whole + hashlib.sha256(whole).digest(), tmp_path / "file", "more than 2 numbers")


def _set(name: str, value: Any) -> Callable[[dict[str, Any], list[np.ndarray]], object]:
    return lambda header, _arrays: header.__setitem__(name, value)


def _in(*path: Any, value: Any) -> Callable[[dict[str, Any], list[np.ndarray]], object]:
    def change(header: dict[str, Any], _arrays: list[np.ndarray]) -> None:
        place: Any = header
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


def _outputs_of_matrices(header: dict[str, Any], arrays: list[np.ndarray], count: int) -> None:
    """More results, each a sum with two matrices of its own."""
    size = header["inputs"][0]["shape"][0]
    constant = len(arrays)
    arrays.append(np.zeros(1))
    for _ in range(count):
        parts = [
            {"source": source, "kind": "matrix", "numbers": len(arrays) + source, "keys": []}
            for source in range(2)
        ]
        arrays += [np.ones((1, size)) for _ in parts]
        header["outputs"].append(len(header["affines"]))
        header["affines"].append({"constant": constant, "blocks": parts})


def _polynomials(header: dict[str, Any], coefficients: list[list[float]]) -> None:
    """More steps, each a polynomial of the first argument."""
    size = header["inputs"][0]["shape"][0]
    same: dict[str, Any] = {"source": 0, "kind": "same", "numbers": None, "keys": []}
    constant = header["affines"][header["steps"][0]["factors"][0]]["constant"]
    inner = len(header["affines"])
    header["affines"].append({"constant": constant, "blocks": [same]})
    for k, own in enumerate(coefficients):
        step = {"source": 100 + k, "size": size, "factors": [], "inner": inner}
        header["steps"].append({**step, "coefficients": own})


def _steps_of_long_sums(header: dict[str, Any], count: int) -> None:
    """More steps, each a product of sums of three arrays."""
    same: list[dict[str, Any]] = [
        {"source": k, "kind": "same", "numbers": None, "keys": []} for k in range(3)
    ]
    first, size = header["steps"][0], header["inputs"][0]["shape"][0]
    constant = header["affines"][first["factors"][0]]["constant"]
    factors = [len(header["affines"])] * 2
    header["affines"].append({"constant": constant, "blocks": same})
    for k in range(count):
        header["steps"].append({**first, "source": 100 + k, "size": size, "factors": factors})


def _shared_matrix(header: dict[str, Any], arrays: list[np.ndarray]) -> None:
    _outputs_of_matrices(header, arrays, 1)
    first, second = header["affines"][-1]["blocks"]
    second["numbers"] = first["numbers"]


def _repeated_part(header: dict[str, Any], _arrays: list[np.ndarray]) -> None:
    blocks = header["affines"][header["steps"][0]["factors"][0]]["blocks"]
    header["affines"][header["steps"][0]["factors"][0]]["blocks"] = [blocks[0], blocks[0]]


HOSTILE: dict[str, tuple[str, Callable[[dict[str, Any], list[np.ndarray]], object], str]] = {
    "scheme": ("client", _set("scheme", "RSA"), "no scheme 'RSA'"),
    "another scheme": ("client", _set("scheme", "BGV"), "parameters are of CKKS instead of BGV"),
    "parameters": ("client", _set("parameters", "{}"), "its parameters are refused"),
    "no inputs": ("client", _set("inputs", []), "it has no input"),
    "bounds": ("client", _set("bounds", [1, 0]), "bounds are no positive number"),
    "endless bounds": ("client", _set("bounds", [1, 10**400]), "too large"),
    "no results": ("client", _set("results", []), "it has no result"),
    "huge input": ("client", _in("inputs", 0, "shape", value=[2**26, 8]), "is too large"),
    "an array elsewhere": ("client", _in("results", 0, "entries", value=9), "between 0 and"),
    "an entry outside": ("client", _in("results", 0, "size", value=0), "lies outside"),
    "orders": ("client", _set("orders", [0]), "one for each input"),
    "no permutation": (
        "client",
        lambda header, arrays: arrays[header["orders"][0]].put(0, 1),
        "no permutation",
    ),
    "keys": ("client", _set("galois", [0]), "between 1 and"),
    "thousands of keys": ("client", _set("galois", [5] * 4097), "more than 4096 numbers"),
    "a name with controls": ("client", _set("name", "x\x1b[2J"), "its name has characters"),
    "no name": ("server", _set("name", ""), "its name has characters"),
    "a long name": ("server", _set("name", "x" * 4097), "name is no text of at most 4096"),
    "a name with surrogates": ("client", _set("name", "\ud800"), "its name has characters"),
    "dimensions": ("client", _in("inputs", 0, "shape", value=[1] * 33), "more than 32 numbers"),
    "empty and huge": (
        "client",
        _in("inputs", 0, "shape", value=[2**27 - 1] * 5 + [0]),
        "is too large",
    ),
    "entries together": (
        "client",
        lambda header, _: [port.update(shape=[2**27 - 1]) for port in header["inputs"]],
        "entries together",
    ),
    "many inputs": (
        "client",
        lambda header, _: header.__setitem__("inputs", header["inputs"] * 513),
        "inputs holds more than 1024 parts",
    ),
    "no outputs": ("server", _set("outputs", []), "it has no result"),
    "needs nothing": ("server", _set("need", [0, 0, 0]), "do not take 0 products"),
    "needs much": ("server", _set("need", [60000] * 3), "do not take 60000 products"),
    "needs many levels": ("server", _set("need", [1, 1, 60000]), "do not take 60000 levels"),
    "matrices": ("server", lambda h, a: _outputs_of_matrices(h, a, 513), "its matrices have"),
    "one matrix twice": ("server", _shared_matrix, "two parts have one matrix"),
    "a source twice": ("server", _repeated_part, "twice in one sum"),
    "many parts": (
        "server",
        lambda header, _: _steps_of_long_sums(header, 11_000),
        "more than 65536 parts together",
    ),
    "many steps": (
        "server",
        lambda header, _: header.__setitem__("steps", header["steps"] * (2**14 + 1)),
        "steps holds more than 16384 parts",
    ),
    "a long polynomial": (
        "server",
        lambda header, _: _polynomials(header, [[0.5] * 1025]),
        "coefficients holds more than 1024 numbers",
    ),
    "many polynomials": (
        "server",
        lambda header, _: _polynomials(header, [[0.5, k / 200] for k in range(129)]),
        "polynomials have more than 8192 coefficients",
    ),
    "long polynomials": (
        "server",
        lambda header, _: _polynomials(header, [[k / 20] * 1000 for k in range(1, 10)]),
        "polynomials have more than 8192 coefficients",
    ),
    "many needs": ("server", _set("need", [1, 2]), "not those of its steps"),
    "modulus": ("server", _set("modulus", 17), "modulo 17, its parameters modulo None"),
    "arguments": ("server", _set("arguments", [0]), "not those of its steps"),
    "one twice": ("server", _set("arguments", [0, 0]), "computed twice"),
    "later arrays": (
        "server",
        lambda header, _: header["affines"][0]["blocks"][0].__setitem__("source", 2),
        "used before it is computed",
    ),
    "neither": ("server", _in("steps", 0, "factors", value=[]), "neither a product nor"),
    "sizes": ("server", _in("steps", 0, "size", value=3), "are not 3 encrypted numbers"),
    "unknown part": (
        "server",
        lambda header, _: header["affines"][0]["blocks"][0].__setitem__("kind", "eval"),
        "unknown kind 'eval'",
    ),
    "no keys for a matrix": (
        "server",
        lambda header, _: [
            block.__setitem__("keys", [2])
            for affine in header["affines"]
            for block in affine["blocks"]
        ],
        "do not fit its parameters",
    ),
    "other results": ("program", _in("results", 0, "size", value=2), "not what its steps compute"),
    "a missing field": ("program", lambda header, _: header.pop("steps"), "it has no steps"),
    "not finite": (
        "server",
        lambda _, arrays: next(a for a in arrays if a.dtype.kind == "f").put(0, np.inf),
        "not finite",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_files_with_a_right_checksum_are_checked(
    name: str, files: dict[str, bytes], tmp_path: Path
) -> None:
    kind, change, message = HOSTILE[name]
    refused(rewritten(files[kind], change), tmp_path / "file", message)


def test_random_headers_end_in_errors_of_ours(files: dict[str, bytes], tmp_path: Path) -> None:
    values: list[Any] = [None, -1, 0, 3, 2**70, 0.5, "x", [], {}, [[]], True, [0, 1]]
    for data in files.values():
        for _ in range(80):

            def change(header: dict[str, Any], _arrays: list[np.ndarray]) -> None:
                place: Any = header
                while True:
                    keys = list(place) if isinstance(place, dict) else list(range(len(place)))
                    key = keys[int(RNG.integers(len(keys)))]
                    inner = place[key]
                    if isinstance(inner, (dict, list)) and inner and RNG.integers(3):
                        place = inner
                        continue
                    place[key] = values[int(RNG.integers(len(values)))]
                    return

            path = tmp_path / "file"
            path.write_bytes(rewritten(data, change))
            try:
                wl.heir.open(path)
            except wl.FileError as error:
                assert str(path) in str(error)


def test_insecure_parameters_are_refused(tmp_path: Path) -> None:
    context = wl.Context.preset("insecure_toy_256")
    text = (TEXTS / "total.mlir").read_text().replace("65537", "257")
    program = wl.heir.load(text, context=context)
    program.save(tmp_path / "program")
    with pytest.raises(wl.InsecureParameters, match="open it with insecure=True") as caught:
        wl.heir.open(tmp_path / "program")
    assert caught.value.bits < 128
    assert wl.heir.open(tmp_path / "program", insecure=True).context == context
    assert pickle.loads(pickle.dumps(program)).context == context


def test_keys_that_do_not_exist_are_refused_when_they_are_made(
    files: dict[str, bytes], tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(rewritten(files["client"], _set("galois", [2])))
    half = wl.heir.open(tmp_path / "file")
    assert isinstance(half, wl.heir.ClientProgram)
    with pytest.raises(wl.ParameterError, match="2 is not invertible"):
        half.setup(progress=False)


def test_equal_polynomials_are_planned_once(files: dict[str, bytes], tmp_path: Path) -> None:
    data = rewritten(files["server"], lambda header, _: _polynomials(header, [[0.5, 0.25]] * 200))
    (tmp_path / "file").write_bytes(data)
    # The depth is that of the product, and polynomials of degree 1 take less.
    half = wl.heir.open(tmp_path / "file")
    assert isinstance(half, wl.heir.ServerProgram)
    assert len(half.circuit.polynomials) == 200
    assert len({id(plan) for plan in half.circuit.polynomials.values()}) == 1


def test_readers_of_bytes_refuse_insecure_parameters() -> None:
    context = wl.Context.preset("insecure_toy_256")
    text = (TEXTS / "total.mlir").read_text().replace("65537", "257")
    program = wl.heir.load(text, context=context)
    for thing in (program, program.client_half, program.server_half):
        function, arguments_ = thing.__reduce__()
        assert arguments_[1:] == (True,)
        function(*arguments_)
        with pytest.raises(wl.InsecureParameters):
            function(arguments_[0])


def test_names_that_no_reader_accepts_are_not_saved(tmp_path: Path) -> None:
    text = (TEXTS / "total.mlir").read_text()
    program = wl.heir.load(text)
    program.client_half.name = "a b"
    with pytest.raises(wl.FileError, match="the name 'a b' cannot be saved"):
        program.client_half.save(tmp_path / "file")
    assert not (tmp_path / "file").exists()


def test_programs_with_too_many_keys_are_not_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from windlass.heir import _saved

    program = loaded("product_of_matrices")
    monkeypatch.setattr(_saved, "_MOST_KEYS", 1)
    with pytest.raises(wl.FileError, match="more than 1, cannot be saved: load it with max_keys"):
        program.save(tmp_path / "file")


def test_files_are_not_replaced(tmp_path: Path) -> None:
    program = loaded("total")
    program.save(tmp_path / "program")
    before = (tmp_path / "program").read_bytes()
    with pytest.raises(wl.FileExists, match="it is not changed"):
        program.client_half.save(tmp_path / "program")
    assert (tmp_path / "program").read_bytes() == before
    with pytest.raises(wl.MissingFile):
        wl.heir.open(tmp_path / "nothing")
    with pytest.raises(wl.FileError, match="cannot be written"):
        program.save(tmp_path / "nowhere" / "program")


def test_the_header_is_readable_json(files: dict[str, bytes]) -> None:
    length = struct.unpack_from("<Q", files["client"], 12)[0]
    header = json.loads(files["client"][28 : 28 + length])
    assert header["name"] == "weighted_sum" and programs.open is wl.heir.open
