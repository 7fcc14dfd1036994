"""What notebooks show."""

from __future__ import annotations

from html import escape


def lines(text: str) -> str:
    """Unchanged text, for notebooks."""
    return f"<pre>{escape(text.strip())}</pre>"
