"""Where pages of the repository lie on the site, and links between them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

OUTSIDE = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "RELEASING.md": "project/releasing.md",
    "SECURITY.md": "project/security.md",
    "data/README.md": "project/data.md",
    "data/security/README.md": "project/data-security.md",
}
"""Pages that are not under docs/, and what they are called on the site."""


def on_site(path: str) -> str | None:
    """The page that a file of the repository becomes; None for what is not on the site."""
    if path in OUTSIDE:
        return OUTSIDE[path]
    if not path.startswith("docs/") or not (ROOT / path).is_file():
        return None
    page = path.removeprefix("docs/")
    return page.removesuffix(".ipynb") + ".md" if page.endswith(".ipynb") else page


def outside_of_code(text: str, change: Callable[[str], str]) -> str:
    """The text with its prose changed: neither fenced blocks nor code in a line."""
    parts = re.split(r"(^```.*?^```|`[^`\n]+`)", text, flags=re.S | re.M)
    return "".join(part if number % 2 else change(part) for number, part in enumerate(parts))


def with_links(text: str, source: str) -> str:
    """The links of a page as they are on the site.

    Parameters
    ----------
    text : str
        Markdown.
    source : str
        The file in the repository that it comes from.
    """
    here = on_site(source)
    assert here is not None, source

    def link(match: re.Match[str]) -> str:
        name, target, anchor = match.groups()
        if "://" in target or target.startswith("mailto:") or not target:
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        page = on_site(path)
        if page is None:
            # What is not on the site (code, say) stays as text; what is nowhere is a mistake.
            if not (ROOT / path).exists():
                return match[0]
            return name[name.startswith("!") :].strip("[]")
        return f"{name}({posixpath.relpath(page, posixpath.dirname(here) or '.')}{anchor or ''})"

    # Links span code in their text, so only fenced blocks are left out.
    parts = re.split(r"(^```.*?^```)", text, flags=re.S | re.M)
    pattern = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^()\s#]*)(#[^()\s]*)?\)")
    return "".join(
        part if number % 2 else pattern.sub(link, part) for number, part in enumerate(parts)
    )


def with_title(text: str) -> tuple[str, str]:
    """The page under one heading, and its title.

    Pages that are also documentation of a Rust module begin with a sentence, and their headings are
    of the first level: the sentence becomes the title, and headings go down by one.
    """
    first = text.lstrip().split("\n", 1)[0]
    if first.startswith("# "):
        return text, first[2:].strip()
    title = re.split(r"\. |\.$", first, maxsplit=1)[0]
    parts = re.split(r"(^```.*?^```)", text, flags=re.S | re.M)
    lower = [
        part if number % 2 else re.sub(r"^#", "##", part, flags=re.M)
        for number, part in enumerate(parts)
    ]
    return f"# {title}\n\n" + "".join(lower), title
