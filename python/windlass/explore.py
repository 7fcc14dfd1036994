"""Compare parameters that are better in one respect and worse in another."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from windlass._progress import callback
from windlass._windlass import Context, preset_parameters, presets, set_threads, threads
from windlass.errors import NoParameters, ParameterError, WindlassError, missing_package

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

_Scheme = Literal["BGV", "BFV"]
_Make = Callable[[], Context]
_Series = Callable[[int], Context]
"""Parameters with at least so many slots."""

_COLUMNS = (
    "name",
    "scheme",
    "security",
    "n",
    "log2_qp",
    "slots",
    "depth",
    "capacity",
    "scale_bits",
    "product_seconds",
    "rotation_seconds",
    "refresh_seconds",
    "key_bytes",
    "ciphertext_bytes",
)

_GAINS = {
    "security": 1,
    "slots": 1,
    "capacity": 1,
    "scale_bits": 1,
    "product_seconds": -1,
    "refresh_seconds": -1,
    "key_bytes": -1,
}
"""What is compared: more is better for 1, less for -1."""

_DOUBLINGS = 4
"""How often more slots are asked for."""

_SECURITIES = (128.0, 192.0, 256.0)
_SCALES = (30, 35, 40, 45, 50)


class Front(Sequence[dict[str, Any]]):
    """Parameters none of which is better than another in every respect (a Pareto front).

    A sequence of rows, each a dict: ``pandas.DataFrame(front)`` makes a table of it, as does
    :meth:`to_pandas`. Made by :func:`windlass.explore`.

    Attributes
    ----------
    columns : tuple of str
        ``security`` (bits), ``n``, ``log2_qp`` and ``slots``; ``depth``, the products in sequence;
        ``capacity``, the bits that a fresh ciphertext has, or those that a refreshed one has
        beyond what the next refresh takes; for CKKS ``scale_bits`` instead; ``product_seconds``,
        one product of two ciphertexts with relinearisation at the top level, measured;
        ``rotation_seconds``, one rotation there, priced; ``refresh_seconds``, one bootstrapping,
        priced (only with one); ``key_bytes``, memory of the relinearisation key and of the keys of
        the bootstrapping; ``ciphertext_bytes`` in memory. Seconds are those of this machine on one
        thread.
    dominated : int
        How many other parameters were compared. Each is worse than a row in some respect and better
        in none.
    """

    def __init__(
        self, rows: Sequence[dict[str, Any]], makes: Sequence[_Make], dominated: int
    ) -> None:
        self._rows = [dict(row) for row in rows]
        self._makes = list(makes)
        self.dominated = dominated
        empty = {name for name in _COLUMNS if all(row[name] is None for row in rows)}
        self.columns = tuple(name for name in _COLUMNS if name not in empty)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        row = self._rows[index]
        return {name: row[name] for name in self.columns}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[place] for place in range(len(self)))

    def column(self, name: str) -> list[Any]:
        """Take one column.

        Parameters
        ----------
        name : str
            One of ``columns``.

        Returns
        -------
        list
            One value for each row.

        """
        return [row[name] for row in self]

    def context(self, row: int) -> Context:
        """Make the context of a row.

        Parameters
        ----------
        row : int
            The number of the row, counted from 0.

        Returns
        -------
        Context

        """
        return self._makes[row]()

    def to_pandas(self) -> pandas.DataFrame:
        """Make a pandas table of the rows.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        MissingPackage
            If pandas is not installed.

        """
        try:
            import pandas
        except ImportError:
            raise missing_package("pandas", "explore") from None
        return pandas.DataFrame(list(self), columns=list(self.columns))

    def plot(self) -> Figure:
        """Draw time against bytes of keys, a point for each row.

        Returns
        -------
        matplotlib.figure.Figure
            A plot of the seconds of a refresh (with bootstrapping) or of a product. A point is
            larger for more slots, its colour states the security, and the number next to it is its
            row.

        Raises
        ------
        MissingPackage
            If matplotlib is not installed.

        """
        from windlass import plots

        refreshes = "refresh_seconds" in self.columns
        seconds = self.column("refresh_seconds" if refreshes else "product_seconds")
        keys = self.column("key_bytes")
        own = plots.figure(
            7.5, 4.4, f"parameter sets by their rows; {self.dominated} dominated ones left out"
        )
        from matplotlib.ticker import LogLocator, NullFormatter

        axes = own.subplots()
        slots = np.array(self.column("slots"), dtype=float)
        area = 30 + 110 * np.log2(slots / slots.min() + 1) / np.log2(slots.max() / slots.min() + 1)
        milliseconds = [1e3 * each for each in seconds]
        points = axes.scatter(
            milliseconds, keys, s=area, c=self.column("security"), cmap="viridis", alpha=0.85
        )
        for number, place in enumerate(zip(milliseconds, keys, strict=True)):
            axes.annotate(str(number), place, xytext=(7, 4), textcoords="offset points", fontsize=8)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_minor_formatter(NullFormatter())
        axes.xaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_major_formatter(plots.bytes_tick)
        axes.margins(0.1)
        axes.set_xlabel(f"milliseconds of a {'refresh' if refreshes else 'product'}, one thread")
        axes.set_ylabel("bytes of keys")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#e4e6ea", linewidth=0.7)
        axes.set_axisbelow(True)
        own.colorbar(points, ax=axes, label="bits of security")
        return own

    def _cells(self) -> list[list[str]]:
        return [[_shown(row[name]) for name in self.columns] for row in self]

    def __repr__(self) -> str:
        cells = [list(self.columns), *self._cells()]
        widths = [max(len(row[k]) for row in cells) for k in range(len(self.columns))]
        pairs = [zip(row, widths, strict=True) for row in cells]
        return "\n".join("  ".join(f"{cell:>{width}}" for cell, width in row) for row in pairs)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._cells()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1 else f"{value:.1f}"
    return "" if value is None else str(value)


def _product_seconds(context: Context) -> float:
    """Measure one product of two ciphertexts on one thread: the minimum of three after a first."""
    client, server = context.generate_keys(context.products(), progress=False)
    x = server.receive(client.encrypt([1]))
    spent = []
    before = threads()
    set_threads(1)
    try:
        for _ in range(4):
            start = time.perf_counter()
            x * x
            spent.append(time.perf_counter() - start)
    finally:
        set_threads(before)
    return min(spent[1:])


def _row(context: Context, bootstrapping: bool) -> dict[str, Any]:
    """Gather everything that is compared of one context."""
    sizes, known = context.sizes(), context.describe()
    keys, refresh, capacity, scale = 1, None, None, None
    if context.scheme == "CKKS":
        scale = int(known["scale_bits"])
        name = f"ckks_n{context.ring_dimension}_s{scale}_d{context.depth}"
    else:
        name = str(known["name"])
        capacity = float(known["capacity_by_level"][-1])
    if bootstrapping:
        plan = context.bootstrapping()
        keys += len(plan.required_keys)
        refresh = plan.estimated_seconds()
        capacity = plan.output_bits - plan.least_input_bits
    return {
        "name": name,
        "scheme": context.scheme,
        "security": round(context.security, 1),
        "n": context.ring_dimension,
        "log2_qp": round(context.log2_qp, 1),
        "slots": context.slots,
        "depth": context.depth,
        "capacity": None if capacity is None else round(capacity, 1),
        "scale_bits": scale,
        "product_seconds": _product_seconds(context),
        "rotation_seconds": context.prices()["automorphism"] / 1e3,
        "refresh_seconds": refresh,
        "key_bytes": keys * sizes["switching_key_memory"],
        "ciphertext_bytes": sizes["ciphertext_memory"],
    }


def _dominates(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Tell whether one row is at least as good in every respect, and better in one."""
    pairs = [(sign, one[name], other[name]) for name, sign in _GAINS.items()]
    gains = [sign * (a - b) for sign, a, b in pairs if a is not None and b is not None]
    return bool(min(gains) >= 0 and max(gains) > 0)


def _preset(name: str, scheme: _Scheme) -> _Series:
    return lambda _: Context.preset(name, scheme=scheme)


def _planned(**options: Any) -> _Series:
    return lambda slots: Context.plan(slots=slots, progress=False, **options)


def _approximate(depth: int, scale_bits: int) -> _Series:
    return lambda slots: Context.approximate(depth=depth, scale_bits=scale_bits, slots=slots)


def _presets(
    names: Sequence[str],
    modulus: int,
    scheme: _Scheme,
    *,
    bootstrapping: bool,
    insecure: bool,
    depth: int,
    slots: int,
) -> list[_Series]:
    """Choose the named sets that may suffice, by their parameters."""
    found = []
    for name in names:
        # Their levels serve a refresh through CKKS, which is not compared here.
        if "exact_" in name:
            continue
        own = preset_parameters(name)
        if own["scheme"] == "CKKS" or own["p"] ** own["r"] != modulus or own["slots"] < slots:
            continue
        own = preset_parameters(name, scheme=scheme)
        boots = "boot" in name or name.startswith("paper")
        wanted = not own["secure"] if insecure else own["secure"]
        if wanted and (boots if bootstrapping else own["depth"] >= depth and not boots):
            found.append(_preset(name, scheme))
    return found


def _plans(modulus: int, scheme: _Scheme, bootstrapping: bool, depth: int) -> list[_Series]:
    """Plan for each level of security, the lowest first."""
    options: dict[str, Any] = {"modulus": modulus, "scheme": scheme}
    if bootstrapping:
        return [_planned(unlimited=True, **options)]
    return [_planned(depth=depth, security=bits, **options) for bits in _SECURITIES]


def explore(
    *,
    modulus: int | None = 65537,
    depth: int = 1,
    bootstrapping: bool = False,
    scheme: _Scheme = "BGV",
    slots: int = 1,
    insecure: bool = False,
    names: Sequence[str] | None = None,
    progress: object = None,
) -> Front:
    """Compare parameters for a computation and return their Pareto front.

    The named sets and plans for several numbers of slots and levels of security are compared. A row
    is left out if another row has at least its security, slots and capacity, at most its time and
    its bytes of keys, and is better in one of these. Times are those of a refresh (with
    ``bootstrapping``) and of a product of two ciphertexts. Products are measured on one thread
    (:func:`windlass.set_threads` is 1 meanwhile). Rotations and refreshes are estimated from
    prices.

    Parameters
    ----------
    modulus : int or None
        The plaintext modulus, as of :meth:`Context.plan`; None for CKKS.
    depth : int
        Products in sequence; ignored with ``bootstrapping``.
    bootstrapping : bool
        Whether parameters must bootstrap. Planning these takes up to a minute.
    scheme : str
        ``"BGV"`` or ``"BFV"``.
    slots : int
        The minimum number of slots of a ciphertext.
    insecure : bool
        Whether to compare the insecure named sets and those of papers instead of secure parameters.
    names : sequence of str, optional
        Compare only these named sets, without plans.
    progress : bool or callable, optional
        ``False`` shows no progress bar; a callable is called with (done, count).

    Returns
    -------
    Front
        Rows ordered by time. ``front.to_pandas()``, ``front.plot()``, ``front.context(row)``.

    Raises
    ------
    NoParameters
        If no parameters suffice.
    ParameterError
        For example, if a modulus is not a prime power.

    Examples
    --------
    >>> import windlass as wl
    >>> front = wl.explore(modulus=257, depth=2, insecure=True, progress=False)
    >>> [row["name"] for row in front]
    ['insecure_toy_256']
    >>> front.context(0).slots
    128

    """
    if modulus is None:
        if bootstrapping:
            raise ParameterError("refreshes of CKKS cannot be compared yet: give a modulus")
        named, plans = [], [_approximate(depth, scale) for scale in _SCALES]
    else:
        known = presets() if names is None else names
        wanted = {"bootstrapping": bootstrapping, "insecure": insecure}
        named = _presets(known, modulus, scheme, depth=depth, slots=slots, **wanted)
        plans = _plans(modulus, scheme, bootstrapping, depth)
        if insecure or names is not None:
            plans = []
    series = named + plans
    rows: dict[str, tuple[dict[str, Any], _Make]] = {}
    refused: WindlassError | None = None
    tell = callback(progress, "exploring")
    try:
        for done, one in enumerate(series):
            before = len(rows)
            try:
                _follow(one, slots, bootstrapping, rows)
            except WindlassError as error:
                refused = refused or error
                # A plan that is refused from the start is refused with more security as well.
                if len(rows) == before and done >= len(named):
                    break
            if tell is not None:
                tell(done + 1, len(series))
    finally:
        close = getattr(tell, "close", None)
        if close is not None:
            close()
    if not rows:
        raise refused or NoParameters(f"no parameters suffice for the modulus {modulus}")
    every = list(rows.values())
    front = [one for one in every if not any(_dominates(other[0], one[0]) for other in every)]
    front.sort(key=lambda pair: pair[0]["refresh_seconds"] or pair[0]["product_seconds"])
    return Front(
        [row for row, _ in front], [make for _, make in front], dominated=len(every) - len(front)
    )


def _follow(
    series: _Series, slots: int, bootstrapping: bool, rows: dict[str, tuple[dict[str, Any], _Make]]
) -> None:
    """Add rows with more and more slots, until a set is impossible or listed already."""
    for _ in range(1 if bootstrapping else _DOUBLINGS + 1):
        context = series(slots)
        # Requirements that lead to the same parameters count once.
        key = context.parameters_json()
        if key in rows:
            return
        rows[key] = (_row(context, bootstrapping), partial(series, slots))
        slots = 2 * context.slots
