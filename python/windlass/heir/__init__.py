"""Programs that Google's compiler HEIR compiles, run by Windlass.

>>> import windlass as wl
>>> text = Path("dot_product.mlir").read_text()    # doctest: +SKIP
>>> program = wl.heir.load(text)                    # doctest: +SKIP
>>> program.run(x, y)                               # doctest: +SKIP

HEIR itself is needed only to compile (``pip install windlass[heir]``).
"""

from windlass.heir._as_written import WrittenProgram
from windlass.heir._ports import Port
from windlass.heir.backend import Backend, CompiledFunction
from windlass.heir.halves import ClientProgram, ProgramClient, ProgramServer, ServerProgram
from windlass.heir.programs import Program, load, open

__all__ = [
    "Backend",
    "ClientProgram",
    "CompiledFunction",
    "Port",
    "Program",
    "ProgramClient",
    "ProgramServer",
    "ServerProgram",
    "WrittenProgram",
    "load",
    "open",
]
