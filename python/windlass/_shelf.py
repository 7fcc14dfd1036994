"""Values by name, bounded in bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, NamedTuple


class _Value(NamedTuple):
    """A value, its bytes, and whose it is."""

    value: Any
    nbytes: int
    owner: str


class Shelf:
    """Values by name, bounded in bytes: the longest unused go first.

    Each owner may have `share` bytes of the room.
    """

    def __init__(self, room: int, share: int | None = None) -> None:
        self.room, self.bytes, self.evicted = room, 0, 0
        self.share = room if share is None else min(share, room)
        self._kept: OrderedDict[str, _Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: str) -> Any:
        """The value of that name, or None; it counts as used."""
        with self._lock:
            if name not in self._kept:
                return None
            self._kept.move_to_end(name)
            return self._kept[name].value

    def put(self, name: str, value: Any, nbytes: int, owner: str = "") -> bool:
        """Puts a value in, and takes out others until it fits; False where it never does.

        The owner's own are taken out while it has its share, then those of all.
        """
        with self._lock:
            if nbytes > self.share:
                return False
            if name in self._kept:
                self._kept.move_to_end(name)
                return True
            own = [held for held, kept in self._kept.items() if kept.owner == owner]
            used = sum(self._kept[held].nbytes for held in own)
            for held in own:
                if used + nbytes <= self.share:
                    break
                used -= self._evict(held)
            while self.bytes + nbytes > self.room:
                self._evict(next(iter(self._kept)))
            self._kept[name] = _Value(value, nbytes, owner)
            self.bytes += nbytes
            return True

    def _evict(self, name: str) -> int:
        """Takes a value out for another one; its bytes."""
        freed = self._kept.pop(name).nbytes
        self.bytes -= freed
        self.evicted += 1
        return freed

    def drop(self, name: str) -> None:
        """Takes a value out."""
        with self._lock:
            kept = self._kept.pop(name, None)
            self.bytes -= 0 if kept is None else kept.nbytes

    def clear(self) -> None:
        """Takes everything out."""
        with self._lock:
            self._kept.clear()
            self.bytes = 0

    def __len__(self) -> int:
        return len(self._kept)
