"""Program text as tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from ..core.errors import FileFormatError

STRING = r'"(?:[^"\\\n]|\\.)*"'
_TOKEN = re.compile(
    rf"""(?P<space>\s+) | (?P<comment>\#[^\n]*) | (?P<string>{STRING})
    | (?P<var>%(?:[^\W\d][\w.@/]*|{STRING})) | (?P<ref>%\d+(?:\[\d+\])?) | (?P<block>\^\d+)
    | (?P<number>-?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|(?:inf|nan)(?![\w.=])))
    | (?P<word>[^\W\d][\w.]*) | (?P<mark>->|\.\.\.|[(){{}}\[\]<>=:,@^])""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Token:
    """A piece of the text, what kind of piece, and its line."""

    kind: str
    text: str
    line: int


class Tokens:
    """The text as tokens, with one token of lookahead. Comments are kept for whoever asks right where they stand."""

    def __init__(self, text: str) -> None:
        self.tokens = self._split(text)
        self.at = 0

    def _split(self, text: str) -> list[Token]:
        found, at, line = [], 0, 1
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise FileFormatError(f"program text, line {line}: unexpected {text[at]!r}")
            kind = str(match.lastgroup)
            if kind != "space":
                found.append(Token(kind, match.group(), line))
            line += match.group().count("\n")
            at = match.end()
        return [*found, Token("end", "the end", line)]

    def comment(self) -> str:
        """The comment that stands here, or an empty string."""
        token = self.tokens[self.at]
        if token.kind != "comment":
            return ""
        self.at += 1
        return token.text[1:].strip()

    def peek(self) -> Token:
        """The next token that is no comment, still to be taken."""
        return self.tokens[self._ahead()]

    def next(self) -> Token:
        """That token, taken; the end stays where it is."""
        at = self._ahead()
        self.at = min(at + 1, len(self.tokens) - 1)
        return self.tokens[at]

    def back(self) -> None:
        """Untake the token taken last."""
        self.at -= 1

    def ahead(self, count: int) -> list[str]:
        """The next tokens' texts, comments left out."""
        window = self.tokens[self.at : self.at + 2 * count]
        return [token.text for token in window if token.kind != "comment"][:count]

    def _ahead(self) -> int:
        at = self.at
        while self.tokens[at].kind == "comment":
            at += 1
        return at

    def fail(self, expected: str) -> NoReturn:
        """Raise FileFormatError saying what was expected here and what stands here."""
        token = self.peek()
        raise FileFormatError(f"program text, line {token.line}: expected {expected}, found {token.text!r}")

    def has(self, text: str) -> bool:
        """Whether the next token is this one; if so it is taken."""
        if self.peek().text != text or self.peek().kind == "string":
            return False
        self.next()
        return True

    def take(self, text: str) -> None:
        """Take this token or fail."""
        if not self.has(text):
            self.fail(repr(text))

    def kind(self, kind: str, expected: str) -> str:
        """The text of the next token, which is of this kind."""
        if self.peek().kind != kind:
            self.fail(expected)
        return self.next().text

    def integer(self, expected: str) -> int:
        value = number(self.kind("number", expected))
        return value if isinstance(value, int) else self.fail(expected)

    def name(self, expected: str) -> str:
        """A plain word or a quoted one."""
        return unquote(self.next().text) if self.peek().kind == "string" else self.kind("word", expected)

    def items(self, item: Callable[[], Any], close: str) -> list[Any]:
        """Things separated by commas up to `close`, a trailing comma allowed."""
        found = []
        while not self.has(close):
            found.append(item())
            if not self.has(","):
                self.take(close)
                break
        return found


def unquote(text: str) -> str:
    """The word that a quoted one means; any other as it is."""
    try:
        return str(json.loads(text)) if text.startswith('"') else text
    except ValueError:
        raise FileFormatError(f"program text: {text} is not a proper string") from None


def number(text: str) -> int | float:
    """The number that a token spells."""
    try:
        return float(text) if set(text) & set(".enEN") else int(text)
    except ValueError:  # Python limits the digits of an int
        raise FileFormatError(f"program text: {text[:20]}... has too many digits") from None
