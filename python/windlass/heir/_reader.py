"""The characters of a program: tokens, places, limits."""

from __future__ import annotations

import re

from windlass.errors import ProgramError

MOST_CHARACTERS = 2**28
"""The longest text that is read."""

DEEPEST = 64
"""How deep brackets, attributes and regions may be nested."""

_SPACE = re.compile(r"(?:\s+|//[^\n]*)*")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPE = re.compile(r'\\(?:([0-9a-fA-F]{2})|([nt"\\]))')
# What matters where brackets are skipped: the arrow of a function type closes nothing.
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|->|>=|<=|[<>()\[\]{}]|//[^\n]*')
_CLOSES = {"<": ">", "(": ")", "[": "]", "{": "}"}


class Reader:
    """A text, read from its beginning to its end."""

    def __init__(self, text: str) -> None:
        if len(text) > MOST_CHARACTERS:
            message = f"a program has at most {MOST_CHARACTERS} characters, not {len(text)}"
            raise ProgramError(message, line=1, column=1)
        self.text = text
        self.at = 0
        self.depth = 0

    def error(self, message: str, at: int | None = None) -> ProgramError:
        """An error at a place of the text, by default at the next token."""
        if at is None:
            self.skip()
            at = self.at
        line, column = place(self.text, at)
        return ProgramError(f"line {line}, column {column}: {message}", line=line, column=column)

    def skip(self) -> None:
        """Skip spaces and comments."""
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def take(self, pattern: re.Pattern[str]) -> str | None:
        """Take what matches the pattern, if the next token does."""
        self.skip()
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found.group()

    def accept(self, token: str) -> bool:
        """Take a token if it is the next."""
        self.skip()
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def word(self, word: str) -> bool:
        """Take a word if it is the next, and not the beginning of a longer one."""
        self.skip()
        end = self.at + len(word)
        following = self.text[end : end + 1]
        if (
            not self.text.startswith(word, self.at)
            or following.isalnum()
            or following in tuple("_.$")
        ):
            return False
        self.at = end
        return True

    def peek(self, token: str) -> bool:
        """Whether a token is the next."""
        self.skip()
        return self.text.startswith(token, self.at)

    def expect(self, token: str, where: str) -> None:
        """Take a token, or raise an error."""
        if not self.accept(token):
            raise self.error(f"'{token}' expected {where}, not {self.found()}")

    def found(self) -> str:
        """The next characters, for messages."""
        self.skip()
        rest = self.text[self.at : self.at + 20].split("\n")[0]
        return repr(rest) if self.at < len(self.text) else "the end of the text"

    @property
    def at_end(self) -> bool:
        """Whether nothing but spaces and comments is left."""
        self.skip()
        return self.at >= len(self.text)

    def string(self) -> str | None:
        """Take a string."""
        self.skip()
        found = _STRING.match(self.text, self.at)
        if found is None:
            if self.peek('"'):
                raise self.error("this string has no end")
            return None
        self.at = found.end()
        return _ESCAPE.sub(
            lambda e: chr(int(e[1], 16)) if e[1] else {"n": "\n", "t": "\t"}.get(e[2], e[2]),
            found.group(1),
        )

    def balanced(self) -> str:
        """Take what stands in brackets, the first of which is the next token; without spaces."""
        self.skip()
        begin, open_ = self.at, [self.text[self.at]]
        at = self.at + 1
        while open_:
            found = _BRACKETS.search(self.text, at)
            if found is None:
                raise self.error(f"this '{open_[0]}' is never closed", begin)
            at, token = found.end(), found.group()
            if token in _CLOSES:
                open_.append(token)
                if len(open_) > DEEPEST:
                    raise self.error(f"brackets are nested deeper than {DEEPEST}", found.start())
            elif token in _CLOSES.values() and _CLOSES[open_.pop()] != token:
                raise self.error(f"'{token}' closes nothing", found.start())
        self.at = at
        return "".join(self.text[begin + 1 : at - 1].split())

    def deeper(self) -> Deeper:
        """Count one more level of nesting inside a `with`."""
        return Deeper(self)


class Deeper:
    """One level of nesting."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def __enter__(self) -> None:
        self.reader.depth += 1
        if self.reader.depth > DEEPEST:
            raise self.reader.error(f"this is nested deeper than {DEEPEST} levels")

    def __exit__(self, *_error: object) -> None:
        self.reader.depth -= 1


def place(text: str, at: int) -> tuple[int, int]:
    """The line and the column of a place, counted from 1."""
    begin = text.rfind("\n", 0, at) + 1
    return text.count("\n", 0, at) + 1, at - begin + 1
