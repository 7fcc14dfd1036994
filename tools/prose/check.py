"""Finds forbidden phrases in prose: pages, doc comments, docstrings and help texts.

usage: python tools/prose/check.py [--candidates] [FILE..]

`phrases.txt` beside this file holds a regular expression and its replacement in each line, with a
tab between them. A line that begins with ``#?`` is a candidate: it is not checked yet, and
``--candidates`` counts its matches. Without FILE, all files that git tracks are read. Exits with 1
if a phrase is found.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("phrases.txt")

EXEMPT = {"CONTRIBUTING.md", "tools/prose/check.py"}
"""Files that quote what is forbidden."""


class Phrase(NamedTuple):
    """A forbidden phrase."""

    pattern: re.Pattern[str]
    instead: str


class Line(NamedTuple):
    """A line of prose and its number in the file."""

    number: int
    text: str


def phrases(candidates: bool) -> list[Phrase]:
    """The phrases of the list: those that are checked, or the candidates."""
    found = []
    for number, line in enumerate(LIST.read_text(encoding="utf-8").splitlines(), start=1):
        candidate = line.startswith("#?")
        if not line.strip() or (line.startswith("#") and not candidate):
            continue
        if candidate != candidates:
            continue
        pattern, tab, instead = line.removeprefix("#?").strip().partition("\t")
        if not tab:
            sys.exit(f"{LIST}:{number}: no tab between the expression and its replacement")
        found.append(Phrase(re.compile(pattern, flags=re.IGNORECASE), instead.strip()))
    return found


def of_markdown(text: str) -> Iterator[Line]:
    """The lines of a page outside of fenced blocks, without code spans and addresses."""
    fenced = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            prose = re.sub(r"`[^`]*`", "`code`", line)
            yield Line(number, re.sub(r"\]\([^)]*\)", "]", prose))


def of_rust(text: str) -> Iterator[Line]:
    """The documentation comments of a Rust file, help texts of the command line among them."""
    comments = [re.match(r"\s*//[/!]( |$)(.*)", line) for line in text.splitlines()]
    yield from of_markdown("\n".join(comment[2] if comment else "" for comment in comments))


def of_python(text: str) -> Iterator[Line]:
    """The docstrings of a Python file."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, kinds) or ast.get_docstring(node) is None:
            continue
        first = node.body[0]
        lines = text.splitlines()[first.lineno - 1 : first.end_lineno]
        for number, line in enumerate(lines, start=first.lineno):
            yield Line(number, re.sub(r"``[^`]*``", "``code``", line))


READERS = {".md": of_markdown, ".rs": of_rust, ".py": of_python, ".pyi": of_python}


def findings(path: Path, forbidden: list[Phrase]) -> Iterator[tuple[int, str, Phrase]]:
    """The forbidden phrases of a file with the number of their first line.

    Lines of one paragraph are joined, since a phrase may be broken between two of them.
    """
    paragraph: list[Line] = []

    def search() -> Iterator[tuple[int, str, Phrase]]:
        starts, text = [], ""
        for line in paragraph:
            starts.append((len(text), line.number))
            text += line.text.strip() + " "
        for phrase in forbidden:
            for match in phrase.pattern.finditer(text):
                number = max(number for start, number in starts if start <= match.start())
                yield number, match[0], phrase

    for line in READERS[path.suffix](path.read_text(encoding="utf-8")):
        follows = paragraph and line.number == paragraph[-1].number + 1
        if not line.text.strip() or not follows or line.text.lstrip().startswith(("|", "-", "#")):
            yield from search()
            paragraph = []
        if line.text.strip():
            paragraph.append(line)
    yield from search()


def tracked() -> list[Path]:
    """The files that git tracks and that have prose."""
    patterns = [f"*{suffix}" for suffix in READERS]
    command = ["git", "ls-files", "-z", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    names = sorted(name for name in listed.stdout.split("\0") if name and name not in EXEMPT)
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def main() -> int:
    """Prints what was found; returns the exit code."""
    parser = argparse.ArgumentParser(description="Finds forbidden phrases in prose.")
    parser.add_argument("--candidates", action="store_true", help="count the candidates instead")
    parser.add_argument("files", nargs="*", type=Path, help="the files [default: all tracked ones]")
    arguments = parser.parse_args()
    forbidden = phrases(arguments.candidates)
    counts: Counter[str] = Counter()
    for path in arguments.files or tracked():
        for number, words, phrase in findings(path, forbidden):
            counts[phrase.pattern.pattern] += 1
            if not arguments.candidates or arguments.files:
                name = path.resolve().relative_to(ROOT)
                print(f"{name}:{number}: {words!r}: write {phrase.instead}")
    if arguments.candidates:
        for phrase in forbidden:
            print(f"{counts[phrase.pattern.pattern]:5} {phrase.pattern.pattern}")
        return 0
    return 1 if counts else 0


if __name__ == "__main__":
    sys.exit(main())
