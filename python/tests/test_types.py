"""The docstrings as programs, and the public names."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import warnings
from collections.abc import Iterator
from types import ModuleType

import pytest

import windlass as wl
from windlass import _windlass, errors


def modules() -> Iterator[ModuleType]:
    """The modules of the package whose optional packages are here."""
    yield wl
    for found in pkgutil.walk_packages(wl.__path__, "windlass."):
        if found.name == "windlass._windlass" or found.name.endswith("__main__"):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # those of other packages are not ours
                module = importlib.import_module(found.name)
        except errors.MissingPackage:
            continue
        yield module


def examples() -> list[doctest.DocTest]:
    """Every docstring with examples."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [test for module in modules() for test in finder.find(module)]
    # Classes of the extension say that they are of `windlass`, functions have no module.
    parser = doctest.DocTestParser()
    for name in _windlass.__all__:
        thing = getattr(_windlass, name)
        inside = vars(thing).items() if isinstance(thing, type) else ()
        texts = [(name, thing.__doc__)]
        texts += [(f"{name}.{part}", getattr(own, "__doc__", None)) for part, own in inside]
        for label, text in texts:
            if isinstance(text, str) and ">>>" in text:
                found.append(parser.get_doctest(text, {}, f"_windlass.{label}", None, 0))
    by_name = {test.name: test for test in found if test.examples}
    return list(by_name.values())


EXAMPLES = examples()


def test_there_are_many_examples() -> None:
    """A finder that finds nothing would pass everything."""
    names = {test.name for test in EXAMPLES}
    assert len(names) >= 14
    assert {"windlass", "_windlass.Context.linear", "_windlass.Ciphertext"} <= names


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_example(example: doctest.DocTest) -> None:
    """Every example gives what stands below it."""
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=said.append)
    assert result.attempted > 0
    if any("MissingPackage" in text for text in said):
        pytest.skip("an optional package is not installed")
    assert result.failed == 0, "".join(said)


def test_everything_public_is_described() -> None:
    """Every class, method and property has a docstring."""
    lacking = []
    for name in wl.__all__:
        thing = getattr(wl, name)
        if isinstance(thing, str):
            continue
        assert thing.__doc__, name
        if isinstance(thing, type) and thing.__module__ == "windlass":
            public = [part for part in vars(thing).items() if not part[0].startswith("_")]
            lacking += [f"{name}.{part}" for part, own in public if not own.__doc__]
    assert lacking == []


def test_names() -> None:
    """`__all__` is what there is, sorted, once; every error is in it."""
    assert sorted(set(wl.__all__)) == wl.__all__
    assert all(hasattr(wl, name) for name in wl.__all__)
    for name, thing in vars(errors).items():
        if isinstance(thing, type) and issubclass(thing, wl.WindlassError):
            assert name in wl.__all__
