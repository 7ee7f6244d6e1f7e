"""What the grammar is made of: kinds of values, scopes, and rules chosen by weight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

Make = Callable[["Writer", "Scope", int], "str | None"]

# Kinds of values. A variable keeps its kind for life, so that every path through a program leaves it usable.
LEAVES = {
    "vec": "{0}",
    "mat": "paddle.stack([{0}, {0} * 0.5])",
    "scalar": "{0}.sum()",
    "wide": "{0}.astype('float64')",
    "int": "({0} > 0).astype('int64').sum()",
    "ints": "({0} > 0).astype('int64')",
    "flag": "({0}.sum() > 0.3)",
    "mask": "({0} > 0)",
    "buf": "({0} * 1)",
    "list": "[{0}, {0} * 0.5]",
    "dict": "{{'a': {0}, 'b': {0} * 0.5}}",
    "pair": "Pair({0}, {0}.sum())",
    "state": "State({0} * 1, 1)",
    "box": "Box({0})",
    "func": "(lambda v: v * 0.5 + 0.1)",
    "pyint": "2",
    "pyfloat": "0.5",
    "pybool": "True",
}
"""How to make a value of each kind from a vector; `buf` is a vector that may be written in place."""

KINDS = tuple(LEAVES)


@dataclass(frozen=True)
class Rule:
    """One way to write an expression of a kind, or a statement; None when it does not fit here."""

    name: str
    weight: float
    make: Make
    wide: bool = False


RULES: dict[str, list[Rule]] = {}
WIDE_FROM = 1_000_000
"""Seeds from here on use the `wide` rules, too, which came later: the programs of lower seeds stay what they are."""


def rule(kind: str, weight: float = 1.0, name: str = "", wide: bool = False) -> Callable[[Make], Make]:
    """Return a decorator that enters a rule under `kind`."""

    def enter(make: Make) -> Make:
        RULES.setdefault(kind, []).append(Rule(f"{kind}:{name or make.__name__}", weight, make, wide))
        return make

    return enter


def templates(kind: str, *texts: str, weight: float = 1.0, wide: bool = False) -> None:
    """Enter expressions written with holes: `<vec>` is an expression of that kind, `<vec!>` a variable."""
    for text in texts:
        rule(kind, weight, text, wide)(lambda writer, scope, depth, text=text: writer.fill(text, scope, depth - 1))


@dataclass
class Scope:
    """The variables that are set for certain at a place, by kind, and what may stand there."""

    names: dict[str, list[str]] = field(default_factory=dict)
    base: str = "x"
    loops: int = 0
    depth: int = 0
    returns: tuple[str, ...] = ()
    fixed: frozenset[str] = frozenset()
    in_finally: bool = False

    def child(self, **changes: object) -> Scope:
        """Return the scope of a block inside: what it adds stays there."""
        names = {kind: list(found) for kind, found in self.names.items()}
        inner = Scope(names, self.base, self.loops, self.depth + 1, self.returns, self.fixed, self.in_finally)
        for key, value in changes.items():
            setattr(inner, key, value)
        return inner

    def add(self, kind: str, name: str) -> None:
        """Take in a variable."""
        if name not in self.names.setdefault(kind, []):
            self.names[kind].append(name)

    def writable(self, kind: str) -> list[str]:
        """Return the variables of a kind that may be bound again."""
        return [name for name in self.names.get(kind, ()) if name not in self.fixed]


class Writer:
    """Writes one program: the random choices, the lines, the names given so far and the rules used."""

    def __init__(self, seed: int, budget: int = 14) -> None:
        self.random = Random(seed)
        self.wide = seed >= WIDE_FROM
        self.budget = budget
        self.used: Counter[str] = Counter()
        self.lines: list[str] = []
        self.indent = 0
        self._names: Counter[str] = Counter()

    def chance(self, probability: float) -> bool:
        """Say yes with this probability."""
        return self.random.random() < probability

    def pick(self, items: Sequence[str]) -> str:
        """Return one of the items."""
        return self.random.choice(items)

    def fresh(self, stem: str) -> str:
        """Return a name not used before."""
        self._names[stem] += 1
        return f"{stem}{self._names[stem]}"

    def line(self, text: str) -> None:
        """Write a line at the current indentation."""
        self.lines.append("    " * self.indent + text)

    def choose(self, kind: str, scope: Scope, depth: int) -> str | None:
        """Return what one of the rules of `kind` gives, tried in random order by weight."""
        left = [found for found in RULES[kind] if self.wide or not found.wide]
        while left:
            found = self.random.choices(left, [r.weight for r in left])[0]
            text = found.make(self, scope, depth)
            if text is not None:
                self.used[found.name] += 1
                return text
            left.remove(found)
        return None

    def expression(self, kind: str, scope: Scope, depth: int = 2) -> str:
        """Return an expression of a kind."""
        if depth > 0 and kind in RULES and self.chance(0.75):
            text = self.choose(kind, scope, depth)
            if text is not None:
                return text
        return self.leaf(kind, scope)

    def leaf(self, kind: str, scope: Scope) -> str:
        """Return a variable of a kind, or the shortest expression where there is none."""
        names = scope.names.get(kind, [])
        if names and self.chance(0.9):
            return self.pick(names)
        texts = {
            "pyint": str(self.random.randint(0, 3)),
            "pyfloat": self.pick(("0.5", "-0.75", "1.25", "0.1")),
            "pybool": self.pick(("True", "False")),
            "flag": self.comparison(scope),
        }
        return texts.get(kind) or LEAVES[kind].format(scope.base)

    def comparison(self, scope: Scope) -> str:
        """Return a condition on some vector, which holds for about half of the values."""
        vec = self.pick(scope.names.get("vec") or [scope.base])
        measure = self.pick((".sum()", ".mean()", ".max()", ".min()", "[0]", "[-1]"))
        return f"({vec}{measure} {self.pick('<>')} {self.pick(('0.3', '-0.4', '0.05'))})"

    def fill(self, text: str, scope: Scope, depth: int) -> str | None:
        """Return `text` with its holes filled; None when it asks for a variable that is not there."""
        parts = text.split("<")
        out = [parts[0]]
        for part in parts[1:]:
            hole, closed, rest = part.partition(">")
            kind = hole.removesuffix("!")
            if not closed or kind not in LEAVES:
                out.append("<" + part)
                continue
            if hole.endswith("!"):
                names = scope.names.get(kind)
                if not names:
                    return None
                out.append(self.pick(names))
            else:
                out.append(self.expression(kind, scope, depth))
            out.append(rest)
        return "".join(out)
