"""Notebooks as pages, with the outputs of a run at small size."""

from __future__ import annotations

import base64
import hashlib
import importlib
import importlib.util
import json
import os
import re
from pathlib import Path
from typing import Any

NEEDS = {
    "deep-circuit": "matplotlib",
    "ray": "ray",
    "researchers": "matplotlib",
    "scoring": "sklearn",
    "training": "sklearn",
}
"""Packages without which a notebook is shown and not run."""


def run(path: Path, cache: Path) -> Any:
    """The notebook after a run; the same one is run once.

    Parameters
    ----------
    path : Path
    cache : Path
        A folder for what was run.

    Returns
    -------
    nbformat.NotebookNode
        Without outputs where WINDLASS_SITE_RUN is 0, or a package that it needs is missing.
    """
    from windlass import _windlass

    nbformat: Any = importlib.import_module("nbformat")
    notebook: Any = nbformat.read(path, as_version=4)
    need = NEEDS.get(path.stem)
    missing = need is not None and importlib.util.find_spec(need) is None
    if missing or os.environ.get("WINDLASS_SITE_RUN") == "0":
        return notebook
    # Another build of the package may print something else.
    key = hashlib.sha256(path.read_bytes() + Path(_windlass.__file__).read_bytes()).hexdigest()[:16]
    kept = cache / f"{path.stem}-{key}.json"
    if kept.exists():
        return nbformat.reads(kept.read_text(encoding="utf-8"), as_version=4)

    from nbclient import NotebookClient

    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    cache.mkdir(parents=True, exist_ok=True)
    kept.write_text(nbformat.writes(notebook), encoding="utf-8")
    return notebook


def _text(output: Any) -> str:
    if output.output_type == "stream":
        return output.text if output.name == "stdout" else ""
    data = output.get("data", {})
    return str(data.get("text/plain", ""))


def _terminal(text: str) -> str:
    """What is left of a text where bars have been drawn over and over."""
    lines = [line.rsplit("\r", 1)[-1].rstrip() for line in text.split("\n")]
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(lines)).strip("\n")


def to_markdown(notebook: Any, stem: str) -> tuple[str, dict[str, bytes]]:
    """A page, and the pictures on it by their names.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
    stem : str
        What names of pictures begin with.
    """
    lines: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            lines += [cell.source, ""]
            continue
        lines += ["```python", cell.source, "```", ""]
        texts: list[str] = []
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            html = data.get("text/html", "")
            if "image/png" in data:
                name = f"{stem}-{len(pictures)}.png"
                pictures[name] = base64.b64decode(data["image/png"])
                lines += [f"![A figure]({name})", ""]
            elif "<table" in html:
                lines += [re.sub(r"\n\s*\n", "\n", html), ""]
            else:
                texts.append(_text(output))
        text = _terminal("".join(part if part.endswith("\n") else part + "\n" for part in texts))
        if text:
            lines += ["```text", text, "```", ""]
    return "\n".join(lines), pictures


def without_running(path: Path) -> str:
    """The title of a notebook."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    first = "".join(cells[0]["source"])
    return first.split("\n", 1)[0].removeprefix("# ").strip()
