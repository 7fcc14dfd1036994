"""Hooks of MkDocs: pages from outside of docs/, notebooks with outputs, the reference."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import notebooks
import reference
from mkdocs.structure.files import File, Files
from pages import OUTSIDE, ROOT, with_links, with_title

DOCS = ROOT / "docs"
_reference: dict[str, str] = {}


def _title(path: Path) -> str:
    if path.suffix == ".ipynb":
        return notebooks.without_running(path)
    return with_title(path.read_text(encoding="utf-8"))[1]


def _entries(folder: str, pattern: str, first: list[str] | None = None) -> list[dict[str, str]]:
    """The pages of a folder by title, those named first in front."""
    paths = sorted((DOCS / folder).glob(pattern))
    order = {name: place for place, name in enumerate(first or [])}
    paths.sort(key=lambda path: (order.get(path.stem, len(order)), path.stem.lower()))
    return [{_title(path): path.relative_to(DOCS).with_suffix(".md").as_posix()} for path in paths]


def on_config(config: Any) -> Any:
    """Every page has its place in the navigation, also one that was written a minute ago."""
    _reference.clear()
    _reference.update(reference.build())
    tutorials = [
        "first-product",
        "private-lookup",
        "scoring",
        "training",
        "deep-circuit",
        "researchers",
        "heir",
        "ray",
    ]
    classes = [page for page in _reference if page != "index.md"]
    titles = {page: _reference[page].split("\n", 1)[0].removeprefix("# ") for page in classes}
    guides = ["linear-maps", "trace", "bootstrapping", "lookup", "python-tables", "service"]
    config.nav = [
        {"Windlass": "index.md"},
        {
            "Tutorials": [
                *_entries("tutorials", "*.md"),
                *_entries("tutorials", "*.ipynb", tutorials),
            ]
        },
        {"How-to guides": _entries("how-to", "*.md", guides)},
        {
            "Reference": [
                *_entries("reference", "*.md", ["features", "command-line", "files", "limits"]),
                {"Python package": "reference/index.md"},
                *[{titles[page]: f"reference/{page}"} for page in classes],
            ]
        },
        {"Explanation": _entries("explanation", "*.md", ["library"])},
        {"Mathematics": _entries("math", "*.md")},
        {"Design": _entries("design", "*.md")},
        {"Records": _entries("records", "*.md", ["speeds"])},
        {
            "Project": [
                *[
                    {_title(ROOT / path): page}
                    for path, page in OUTSIDE.items()
                    if page != "index.md"
                ],
                *_entries("", "*.md"),
            ]
        },
    ]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Adds what is made, and takes out what it is made of."""
    cache = ROOT / "target" / "site" / "runs"
    for path, page in OUTSIDE.items():
        text = with_title((ROOT / path).read_text(encoding="utf-8"))[0]
        files.append(File.generated(config, page, content=with_links(text, path)))
    for file in list(files):
        if not file.src_uri.endswith(".ipynb"):
            continue
        files.remove(file)
        source = DOCS / file.src_uri
        notebook = notebooks.run(source, cache)
        text, pictures = notebooks.to_markdown(notebook, source.stem)
        page = file.src_uri.removesuffix(".ipynb") + ".md"
        text = with_links(text, f"docs/{file.src_uri}")
        files.append(File.generated(config, page, content=text))
        for name, content in pictures.items():
            files.append(File.generated(config, f"tutorials/{name}", content=content))
    style = (ROOT / "docs" / "site" / "site.css").read_text(encoding="utf-8")
    files.append(File.generated(config, "assets/site.css", content=style))
    for page, text in _reference.items():
        files.append(File.generated(config, f"reference/{page}", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Pages of docs/ as they are in the repository, with their links on the site."""
    path = f"docs/{page.file.src_uri}"
    if page.file.generated_by or not (ROOT / path).is_file():
        return markdown
    return with_links(with_title(markdown)[0], path)


def on_serve(server: Any, config: Any, builder: Any) -> Any:
    """Builds again when a docstring or a page outside of docs/ changes."""
    for path in [reference.folder(), *(ROOT / name for name in OUTSIDE)]:
        server.watch(str(path))
    return server
