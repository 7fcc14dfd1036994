"""Every program that a reader meets runs: the tutorials, the pages for Python and the README."""

from __future__ import annotations

import asyncio
import doctest
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import windlass as wl

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"

# Ray has tests of its own, which bound its time and clean up after it.
NOTEBOOKS = sorted(path for path in TUTORIALS.glob("*.ipynb") if path.stem != "ray")
NEEDS = {
    "deep-circuit": ["matplotlib"],
    "researchers": ["matplotlib"],
    "scoring": ["sklearn"],
    "training": ["sklearn"],
}


def test_the_tutorials_are_there() -> None:
    expected = {
        "deep-circuit",
        "first-product",
        "heir",
        "parties",
        "private-lookup",
        "researchers",
        "scoring",
        "training",
    }
    assert expected <= {path.stem for path in NOTEBOOKS}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_hold_no_outputs(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    for package in NEEDS.get(path.stem, []):
        pytest.importorskip(package)
    monkeypatch.delenv("WINDLASS_TUTORIALS", raising=False)
    if sys.platform == "win32":  # pragma: no cover
        asyncio.set_event_loop_policy(asyncio.WindowsSelectorEventLoopPolicy())
    notebook: Any = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute()
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    assert outputs
    assert not [out for out in outputs if out.output_type == "error"]


def programs(path: Path) -> list[str]:
    """The Python programs of a page that are not sessions with a prompt."""
    text = path.read_text(encoding="utf-8")
    return [
        code for code in re.findall(r"```python\n(.*?)```", text, flags=re.S) if ">>>" not in code
    ]


def test_the_program_of_the_readme_runs() -> None:
    [program] = programs(ROOT / "README.md")
    assert "context.linear" in program
    # A process of its own: what the program needs, it imports.
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300, env=environment)


def test_the_readme_stays_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) < 1200


GUIDES = [
    ROOT / "docs" / "how-to" / f"{name}.md"
    for name in [
        "bootstrapping",
        "explicit-steps",
        "functions",
        "linear-maps",
        "parties",
        "reencryption",
        "trace",
        "training",
    ]
]
PAGES_WITH_PROGRAMS = [*sorted(TUTORIALS.glob("*.md")), *GUIDES]


def test_the_pages_are_there() -> None:
    assert "python" in [path.stem for path in PAGES_WITH_PROGRAMS]


@pytest.mark.parametrize("path", PAGES_WITH_PROGRAMS, ids=lambda path: path.stem)
def test_pages_say_what_happens(
    path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    text = path.read_text(encoding="utf-8")
    # The fence that ends a program is no output.
    text = text.replace("```", "\n")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    test = doctest.DocTestParser().get_doctest(text, {"wl": wl}, path.name, str(path), 0)
    assert test.examples
    runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
    problems: list[str] = []
    runner.run(test, out=problems.append)
    assert not runner.failures, "".join(problems)


WRITTEN = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *TUTORIALS.glob("*.ipynb"),
]


@pytest.mark.parametrize("path", sorted(WRITTEN), ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
        text = "\n".join("".join(cell["source"]) for cell in cells)
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    targets = re.findall(r"(?<!`)\]\(([^()\s#]+)(?:#[^()\s]*)?\)", text)
    missing = [
        target
        for target in targets
        if "://" not in target and not (path.parent / target).resolve().exists()
    ]
    assert not missing


def test_everything_public_is_in_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "site"))
    pages = importlib.import_module("reference").build()
    assert {"context.md", "ciphertext.md", "windlass.errors.md", "functions.md", "index.md"} <= set(
        pages
    )
    assert "## generate_keys" in pages["context.md"]
    assert "OutOfMemory" in pages["windlass.errors.md"]
    # Words of the extension, which the stubs do not have.
    assert wl.Context.__doc__ is not None
    assert wl.Context.__doc__.split("\n")[0] in pages["context.md"]
