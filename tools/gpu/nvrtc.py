"""Compiles the kernels of windlass-gpu for GPUs, without one.

NVRTC, NVIDIA's compiler at run time, is a library of the Python package
`nvidia-cuda-nvrtc-cu12`. Every kernel is compiled for each architecture, and must be among the
functions of the result. Exit code 1 where one is not. Where the library is missing a line says so,
and the exit code is 0.
"""

from __future__ import annotations

import ctypes
import importlib.util
import re
import sys
from pathlib import Path

KERNELS = Path(__file__).parent.parent.parent / "crates/windlass-gpu/kernels"
ARCHITECTURES = ["sm_80", "sm_90", "sm_120"]
# Products and sums are fused where the source says so, and nowhere else.
OPTIONS = ["--std=c++17", "--fmad=false"]
DEFINITION = re.compile(r"^KERNEL\((\w+)\)", re.MULTILINE)


def library() -> ctypes.CDLL | None:
    """NVRTC, if its package is installed."""
    package = (
        importlib.util.find_spec("nvidia.cuda_nvrtc")
        if importlib.util.find_spec("nvidia")
        else None
    )
    for place in (package.submodule_search_locations or []) if package else []:
        for path in sorted(Path(place).glob("lib/libnvrtc.so.*")):
            return ctypes.CDLL(str(path))
    return None


def strings(values: list[bytes]) -> ctypes.Array[ctypes.c_char_p]:
    """Texts as C takes them."""
    return (ctypes.c_char_p * len(values))(*values)


def compiled(nvrtc: ctypes.CDLL, architecture: str) -> tuple[bytes, str]:
    """The machine code of all kernels, or nothing, and what the compiler says."""
    headers = sorted([*KERNELS.glob("*.h"), *KERNELS.glob("*.cu")])
    sources = sorted(KERNELS.glob("*.cu"))
    text = "".join(f'#include "{path.name}"\n' for path in sources)
    program = ctypes.c_void_p()
    texts, names = [path.read_bytes() for path in headers], [path.name.encode() for path in headers]
    if nvrtc.nvrtcCreateProgram(
        ctypes.byref(program),
        text.encode(),
        b"kernels.cu",
        len(headers),
        strings(texts),
        strings(names),
    ):
        return b"", "no program could be made"
    options = [
        f"--gpu-architecture={architecture}".encode(),
        *(option.encode() for option in OPTIONS),
    ]
    failed = nvrtc.nvrtcCompileProgram(program, len(options), strings(options))
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    code = b""
    if not failed:
        nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
        cubin = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetCUBIN(program, cubin)
        code = cubin.raw
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return code, log.value.decode(errors="replace").strip()


def main() -> int:
    """Compile for every architecture."""
    nvrtc = library()
    if nvrtc is None:
        print(
            "NVRTC is missing: kernels were NOT compiled for GPUs "
            "(pip install nvidia-cuda-nvrtc-cu12)"
        )
        return 0
    sources = "".join(path.read_text() for path in sorted(KERNELS.glob("*.cu")))
    kernels = DEFINITION.findall(sources)
    failed = not kernels
    for architecture in ARCHITECTURES:
        code, log = compiled(nvrtc, architecture)
        missing = [name for name in kernels if f".text.{name}\0".encode() not in code]
        if log:
            print(log, file=sys.stderr)
        if missing:
            print(f"{architecture}: {', '.join(missing)} did not compile", file=sys.stderr)
            failed = True
        else:
            print(f"{architecture}: {len(kernels)} kernels, {len(code)} bytes")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
