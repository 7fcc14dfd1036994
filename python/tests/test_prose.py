"""The list of forbidden phrases finds them where prose is, and nowhere else."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(name="check")
def _check(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "prose"))
    return importlib.import_module("check")


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("page.md", "One\n\nThe dear\npart; a level that is\nnone.\n", [3, 4]),
        ("page.md", "```\ndear\n```\n`dear` and [x](dear.md)\n", []),
        ("a.rs", "let dear = 1; // dear\n\n/// A level that\n/// is none.\nfn f() {}\n", [3]),
        ("a.py", '"""A docstring."""\n\n\ndef f():\n    """The dear part."""\n    dear = 1\n', [5]),
    ],
)
def test_phrases_are_found(
    check: ModuleType, tmp_path: Path, name: str, text: str, lines: list[int]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = check.findings(tmp_path / name, check.phrases(candidates=False))
    assert sorted(number for number, _, _ in found) == lines


def test_a_candidate_is_not_checked(check: ModuleType) -> None:
    checked = {phrase.pattern.pattern for phrase in check.phrases(candidates=False)}
    candidates = {phrase.pattern.pattern for phrase in check.phrases(candidates=True)}
    assert checked
    assert not checked & candidates
