"""Bars for long work."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

_DELAY = 1.0


class _Bar:
    """A bar of tqdm that comes after a second, and goes with the work."""

    def __init__(self, label: str) -> None:
        with warnings.catch_warnings():
            # Notebooks without widgets get the bar as text.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm

        self._bar: Any = tqdm(desc=label, total=None, delay=_DELAY, leave=False)

    def __call__(self, done: int, count: int) -> None:
        if self._bar.total != count:
            self._bar.total = count
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        self._bar.close()


def callback(progress: object, label: str) -> Callable[[int, int], object] | None:
    """What is called with (done, count): the caller's own, a bar, or nothing."""
    if progress is False:
        return None
    if progress is None or progress is True:
        return _Bar(label)
    if not callable(progress):
        from windlass.errors import DTypeError

        raise DTypeError("progress is False, True or a function of (done, count)")
    return progress
