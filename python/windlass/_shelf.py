"""Values by name, bounded in bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any


class Shelf:
    """Values by name, bounded in bytes: the longest unused go first."""

    def __init__(self, room: int) -> None:
        self.room, self.bytes, self.evicted = room, 0, 0
        self._kept: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: str) -> Any:
        """The value of that name, or None; it counts as used."""
        with self._lock:
            if name not in self._kept:
                return None
            self._kept.move_to_end(name)
            return self._kept[name][0]

    def put(self, name: str, value: Any, nbytes: int) -> bool:
        """Puts a value in, and takes out others until it fits; False where it never does."""
        with self._lock:
            if nbytes > self.room:
                return False
            if name not in self._kept:
                while self.bytes + nbytes > self.room:
                    _, (_, freed) = self._kept.popitem(last=False)
                    self.bytes -= freed
                    self.evicted += 1
                self._kept[name] = (value, nbytes)
                self.bytes += nbytes
            return True

    def drop(self, name: str) -> None:
        """Takes a value out."""
        with self._lock:
            _, freed = self._kept.pop(name, (None, 0))
            self.bytes -= freed

    def clear(self) -> None:
        """Takes everything out."""
        with self._lock:
            self._kept.clear()
            self.bytes = 0

    def __len__(self) -> int:
        return len(self._kept)
