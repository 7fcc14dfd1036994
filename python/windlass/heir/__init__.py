"""Programs that Google's compiler HEIR compiles, run by Windlass.

>>> import windlass as wl
>>> text = Path("dot_product.mlir").read_text()    # doctest: +SKIP
>>> program = wl.heir.load(text)                    # doctest: +SKIP
>>> program.run(x, y)                               # doctest: +SKIP

HEIR itself is needed only to compile (``pip install windlass[heir]``).
"""

from windlass.heir._as_written import WrittenProgram
from windlass.heir.backend import Backend, CompiledFunction
from windlass.heir.programs import Port, Program, ProgramClient, ProgramServer, load

__all__ = [
    "Backend",
    "CompiledFunction",
    "Port",
    "Program",
    "ProgramClient",
    "ProgramServer",
    "WrittenProgram",
    "load",
]
