"""What notebooks show."""

from __future__ import annotations

from html import escape


def lines(text: str) -> str:
    """Text as it stands, in notebooks."""
    return f"<pre>{escape(text.strip())}</pre>"
