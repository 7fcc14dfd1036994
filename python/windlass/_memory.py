"""Whose memory a buffer is."""

from __future__ import annotations

import mmap
import pickle

import numpy as np


def is_fixed(buffer: object) -> bool:
    """Whether no code in this process can write to the memory of a buffer.

    Views are followed to the object that owns the memory: a view that cannot be written to says
    nothing of what lies under it.
    """
    while True:
        if isinstance(buffer, bytes):
            return True
        if isinstance(buffer, np.ndarray):
            if buffer.flags.writeable or buffer.base is None:
                return False
            buffer = buffer.base
        elif isinstance(buffer, pickle.PickleBuffer):
            buffer = buffer.raw()
        elif isinstance(buffer, memoryview):
            if not buffer.readonly:
                return False
            buffer = buffer.obj
        else:
            owner = type(buffer).__module__.partition(".")[0]
            if isinstance(buffer, mmap.mmap) or owner in ("ray", "pyarrow"):
                with memoryview(buffer) as view:  # type: ignore[arg-type]
                    return view.readonly
            return False
