"""Programs run as written: every relinearisation, rescaling and level of the text, one to one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass._html import lines
from windlass._windlass import (
    ExplicitCiphertext,
    ExplicitClient,
    ExplicitPlaintext,
    ExplicitServer,
)
from windlass.errors import ParameterError, ProgramError, ShapeError, WindlassError
from windlass.heir._check import Checker
from windlass.heir._entry import entry_of, setting_of
from windlass.heir._interpreter import Interpreter
from windlass.heir._ir import Function, Type
from windlass.heir._parser import Parser
from windlass.heir._planning import Planner, bounds_of
from windlass.heir._ports import Interface, Port
from windlass.heir._rules import Machine
from windlass.heir._stated_levels import Stated
from windlass.heir._trace import Slots
from windlass.heir._written_operations import (
    Plain,
    Step,
    WrittenTrace,
    run_as_written,
    whole,
)
from windlass.heir._written_parameters import Parameters, clients_of
from windlass.heir.halves import ProgramClient, ProgramServer

_TOLERANCE = 2.0**-20
"""The relative difference of scales that a program may add, unless a caller says otherwise."""


class WrittenProgram:
    """A program that runs *as written*.

    Made by :func:`load` with ``run="as written"``: the moduli, levels, scales, relinearisations and
    rescalings are those of the text. It stays in one process: it has no pickles and no files.

    Attributes
    ----------
    name : str
        The function that is evaluated.
    scheme : {"BGV", "CKKS"}
    inputs, outputs : tuple of Port
        Encrypted arguments, and results.
    slots : int
        The slots for which HEIR compiled the program.
    products, depth : int
        The successive products of ciphertexts, and the levels from arguments to results.
    bounds : tuple of float
        CKKS: the largest absolute value of each encrypted argument.
    rotations : tuple of int
        The amounts of rotations that need keys.
    context : ExplicitContext
        With the chain of moduli of the text.

    """

    def __init__(
        self,
        text: str,
        *,
        function: str | None,
        plain: Mapping[int, ArrayLike],
        bound: float | Sequence[float],
        slots: int | None,
        scale_tolerance: float | None,
        insecure: bool,
    ) -> None:
        self._tolerance = _TOLERANCE if scale_tolerance is None else scale_tolerance
        if not 0 <= self._tolerance <= 1:
            message = f"scale_tolerance is between 0 and 1, not {scale_tolerance}"
            raise ParameterError(message)
        self._insecure = insecure
        parser = Parser(text)
        self._checker = Checker(text, parser.module())
        self._stated = Stated(parser.types, parser.attributes)
        self._checker.check()
        self._setting = setting_of(self._checker, slots)
        entry = entry_of(self._checker, function)
        self.name, self.scheme, self.slots = (
            entry.function.name,
            self._setting.scheme,
            self._setting.slots,
        )
        planner = Planner(Interpreter(self._checker), self._setting, entry)
        try:
            self._plan(planner, plain, bound)
        except ProgramError as error:
            if error.line:
                raise
            at = getattr(error, "at", entry.function.at)
            raise self._checker.error(str(error), at) from None

    def _plan(
        self, planner: Planner, plain: Mapping[int, ArrayLike], bound: float | Sequence[float]
    ) -> None:
        run_as_written(planner.interpreter)
        self._parameters = Parameters(
            self._checker, self._setting, self._stated, insecure=self._insecure
        )
        self.context = self._parameters.context
        if self.context.slots % self.slots:
            message = (
                f"the program has {self.slots} slots, which do not divide the "
                f"{self.context.slots} slots of its ring"
            )
            raise ProgramError(message)
        exact = self._setting.modulus is not None
        trace = WrittenTrace(self.slots, exact=exact, stated=self._stated)
        ports, arguments = planner.read_inputs(plain, trace)
        self.inputs: tuple[Port, ...] = tuple(ports)
        self.bounds = bounds_of(bound, len(ports))
        steps = cast("list[Step]", trace.nodes)
        self._inputs = list(steps)
        clients = clients_of(planner.entry)
        self._scales = [self._place_input(x, *c) for x, c in zip(steps, clients, strict=True)]
        values = planner.interpreter.run(Machine(trace, client=False), self.name, arguments)
        self._outputs = [
            (wanted.port, wanted.nodes, wanted.places) for wanted in planner.results(values)
        ]
        self.outputs = tuple(port for port, _, _ in self._outputs)
        wanted = {node.number for _, nodes, _ in self._outputs for node in nodes}
        self._steps = _used(steps, wanted)
        self.rotations: tuple[int, ...] = tuple(
            sorted({step.payload for step in self._steps if step.method == "rotate"})
        )
        self.products = max(self._products().values(), default=0)
        # A tensor may hold no ciphertext.
        self.depth = max((step.level for step in self._inputs), default=0) - min(
            (steps[number].level for number in wanted), default=0
        )
        # Arguments are encrypted as the text says, so their entries stay in their order.
        orders = tuple(np.arange(port.size) for port in ports)
        self._interface = Interface(
            self.name, self.scheme, self.slots, self.inputs, orders, self.bounds, ()
        )

    def _place_input(self, step: Step, type_: Type, function: Function | None) -> float | int:
        """Set the level of an input; returns its scale."""
        if self.scheme == "BGV":
            slots: Slots = step.payload
            step.payload = replace(slots, constant=self._residues(whole(slots.constant)))
        step.level, scale = self._parameters.place_of(type_, function, step.at)
        return scale

    def _products(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for step in self._steps:
            before = max((found.get(parent.number, 0) for parent in step.parents), default=0)
            found[step.number] = before + (step.method == "multiply")
        return found

    @property
    def relinearisation(self) -> bool:
        """Whether products are relinearised."""
        return any(step.method == "relinearize" for step in self._steps)

    def setup(self, *, progress: Any = None) -> tuple[ProgramClient, ProgramServer]:
        """Make keys.

        Parameters
        ----------
        progress : optional
            Not used.

        Returns
        -------
        (ProgramClient, ProgramServer)

        """
        client, server = self.context.generate_keys(
            rotations=self.rotations,
            relinearisation=self.relinearisation,
            scale_tolerance=self._tolerance,
        )
        return ProgramClient(self, client), ProgramServer(self, server)  # type: ignore[arg-type]

    def encrypt(self, client: Any, *inputs: ArrayLike) -> list[Any]:
        """Encrypt the arguments at the levels and scales of the text.

        Parameters
        ----------
        client : ExplicitClient
        *inputs : array_like

        Returns
        -------
        list of ExplicitCiphertext

        Raises
        ------
        ShapeError, DTypeError
            If the arrays are not of the shapes and kinds of :attr:`inputs`.
        ValueRangeError
            If a number is above its bound, or in BGV not between -modulus/2 and modulus/2.

        """
        arrays = self._interface.vectors(inputs)
        made = zip(self._inputs, self._scales, strict=True)
        return [self._encrypted(client, step, scale, arrays) for step, scale in made]

    def _encrypted(
        self, client: ExplicitClient, step: Step, scale: float | int, arrays: list[NDArray[Any]]
    ) -> ExplicitCiphertext:
        slots = step.payload
        held = slots.element >= 0
        values = slots.constant.astype(self._interface.dtype)
        bound = float(np.abs(values).max())
        if held.any():
            values[held] = arrays[slots.argument][slots.element[held]]
            bound = max(bound, self.bounds[slots.argument])
        return client.encrypt(values, level=step.level, scale=scale, bound=bound)

    def _residues(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Integers as their residues between -modulus/2 and modulus/2."""
        modulus = self._setting.modulus
        assert modulus is not None
        half = modulus // 2
        # The first remainder keeps the sum within 64 bits.
        found: NDArray[np.int64] = (values % modulus + half) % modulus - half
        return found

    def evaluate(self, server: Any, inputs: Sequence[Any]) -> list[Any]:
        """Evaluate the operations of the text, one after the other.

        Parameters
        ----------
        server : ExplicitServer
        inputs : sequence of ExplicitCiphertext

        Returns
        -------
        list of ExplicitCiphertext

        Raises
        ------
        ProgramError
            If an operation is refused: scales of the text do not fit, or there is no room.

        """
        if len(inputs) != len(self._inputs):
            message = f"@{self.name} takes {len(self._inputs)} ciphertexts, not {len(inputs)}"
            raise ShapeError(message, expected=len(self._inputs), got=len(inputs))
        values = {step.number: x for step, x in zip(self._inputs, inputs, strict=True)}
        uses = Counter(parent.number for step in self._steps for parent in step.parents)
        uses.update(node.number for _, nodes, _ in self._outputs for node in nodes)
        for step in self._steps:
            if step.method == "input":
                continue
            operands = [values[parent.number] for parent in step.parents]
            try:
                values[step.number] = self._applied(server, step, operands)
            except WindlassError as error:
                raise self._checker.error(f"{step.method}: {error}", step.at) from error
            for parent in step.parents:
                uses[parent.number] -= 1
                if not uses[parent.number]:
                    del values[parent.number]
        return [values[node.number] for _, nodes, _ in self._outputs for node in nodes]

    def _applied(
        self, server: ExplicitServer, step: Step, operands: list[ExplicitCiphertext]
    ) -> ExplicitCiphertext:
        if isinstance(step.payload, Plain):
            operands = [*operands, self._encoded(step, operands[0])]  # type: ignore[list-item]
        elif step.payload is not None:
            operands = [*operands, step.payload]
        found: ExplicitCiphertext = getattr(server, step.method)(*operands)
        return found

    def _encoded(self, step: Step, ciphertext: ExplicitCiphertext) -> ExplicitPlaintext:
        """A plaintext at its scale. A scale that the text leaves open is that of the summand."""
        plain, sums = step.payload, step.method != "multiply_plain"
        open_sum = plain.scale is None and sums
        scale = ciphertext.scale if open_sum else self._parameters.scale(plain.scale)
        place = (ciphertext.level, scale)
        if place not in plain.encoded:
            numbers = self._residues(plain.numbers) if self.scheme == "BGV" else plain.numbers
            plain.encoded[place] = self.context.encode(numbers, level=place[0], scale=scale)
        found: ExplicitPlaintext = plain.encoded[place]
        return found

    def decrypt(self, client: Any, results: Sequence[Any]) -> Any:
        """Decrypt the results.

        Parameters
        ----------
        client : ExplicitClient
        results : sequence of ExplicitCiphertext

        Returns
        -------
        numpy.ndarray, or a tuple of these if there are several results

        """
        count = sum(len(nodes) for _, nodes, _ in self._outputs)
        if len(results) != count:
            message = f"@{self.name} has {count} ciphertexts as results, not {len(results)}"
            raise ShapeError(message, expected=count, got=len(results))
        left, found = list(results), []
        for port, nodes, places in self._outputs:
            own, left = left[: len(nodes)], left[len(nodes) :]
            slots = [client.decrypt(x)[: self.slots] for x in own]
            entries = np.concatenate(slots).real[places].reshape(port.shape)
            found.append(entries.astype(np.float64 if self.scheme == "CKKS" else np.int64))
        return found[0] if len(found) == 1 else tuple(found)

    def run(self, *inputs: ArrayLike) -> Any:
        """Make keys, encrypt, evaluate and decrypt, in one process.

        Parameters
        ----------
        *inputs : array_like
            One array for each of :attr:`inputs`.

        Returns
        -------
        numpy.ndarray, or a tuple of these
            As of :meth:`decrypt`.

        """
        self._interface.vectors(inputs)
        client, server = self.setup()
        return client.decrypt(server.evaluate(client.encrypt(*inputs)))

    def explain(self) -> str:
        """Describe the operations of the server, its keys, and the parameters of the text.

        Returns
        -------
        str

        """
        counts = Counter(step.method for step in self._steps if step.method != "input")
        done = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
        shapes = {"encrypted": self.inputs, "results": self.outputs}
        return "\n".join(
            [
                f"{'function':13}@{self.name}, {self.scheme}, as written",
                *(
                    f"{what:13}" + ", ".join(f"{port.index}: {port.shape}" for port in ports)
                    for what, ports in shapes.items()
                ),
                f"{'operations':13}{done}",
                f"{'parameters':13}{repr(self.context)[len('<windlass.ExplicitContext ') : -1]}",
            ]
        )

    def __repr__(self) -> str:
        inputs, outputs = len(self.inputs), len(self.outputs)
        return (
            f"<windlass.heir.WrittenProgram {self.name}, {self.scheme}, "
            f"{inputs} input{'s' * (inputs != 1)}, {outputs} output{'s' * (outputs != 1)}, "
            f"depth {self.depth}>"
        )

    def _repr_html_(self) -> str:
        return lines(self.explain())

    def __reduce__(self) -> tuple[Any, ...]:
        raise ParameterError("a program that runs as written has no pickles: keep its text")


def _used(steps: list[Step], wanted: set[int]) -> list[Step]:
    """The operations on which the results depend, in order."""
    found = set(wanted)
    for step in reversed(steps):
        if step.number in found:
            found.update(parent.number for parent in step.parents)
    return [step for step in steps if step.number in found]
