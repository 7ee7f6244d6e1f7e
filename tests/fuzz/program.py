"""A whole program: prelude, helpers, the function `f` and the calls that are made of it."""

from __future__ import annotations

from dataclasses import dataclass

from . import everyday, expressions, idioms, wide  # noqa: F401 - they enter their rules
from .grammar import Scope, Writer
from .statements import block, bound_kind, returned

# Always the whole of it, so that its functions are converted once for all programs; shrinking drops what is not used.
START = """
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import accumulate, chain
from typing import NamedTuple

import vitrify as paddle

def tensor(values, dtype="float32"):
    return paddle.to_tensor(values, dtype, stop_gradient=not dtype.startswith("float"))

class Pair(NamedTuple):
    first: object
    second: object

@dataclass
class State:
    h: object
    n: int = 0

class Box:
    def __init__(self, value):
        self.value = value
        self.items = [value]
        self.nested = {}
        self.count = 0
        self.spare = paddle.ones([3])

    def add(self, v):
        if v.sum() > 0:
            self.value = self.value * 0.5 + v
        else:
            self.count += 1
        return self

    def peek(self, v):
        if self.count > 1:
            return v * 0.5
        return v + self.value * 0.1

    @property
    def doubled(self):
        return self.value * 2

    @doubled.setter
    def doubled(self, v):
        self.value = v * 0.5

def scaled(v, by=0.5):
    return v * by

def total(*vs, bias=0.0):
    result = bias
    for v in vs:
        result = result + v * 0.5
    return result

def limited(v, top=1.0):
    if v.sum() > top:
        return v * 0.5
    return v

def applied(function, v):
    for _ in range(2):
        v = function(v) * 0.5
    return v

def recursive(v, n):
    if n == 0 or v.sum() > 2:
        return v
    return recursive(v * 0.5 + 0.25, n - 1)

def countdown(n):
    while n > 0:
        n -= 1
        yield n

class Tracker:
    made = 0

    def __init__(self, start, *, decay=0.5):
        self.state = start
        self.decay = decay
        self.log = []
        self.best = None

    def __call__(self, v):
        self.state = self.state * self.decay + v
        if self.best is None or self.state.sum() > self.best.sum():
            self.best = self.state
        return self.state

    def note(self, v):
        if v.sum() < 0:
            return self
        self.log.append(v)
        return self

    def __add__(self, v):
        return Tracker(self.state + v, decay=self.decay)

    def __len__(self):
        return len(self.log)

    def __iter__(self):
        return iter(self.log)

    def __getitem__(self, index):
        return self.log[index] if self.log else self.state

    def __enter__(self):
        self.decay = self.decay * 0.5
        return self

    def __exit__(self, *info):
        self.decay = self.decay * 2
        return False

    @classmethod
    def of(cls, v):
        return cls(v * 1)

    @staticmethod
    def squashed(v):
        return paddle.tanh(v) if v.sum() > 0 else v * 0.5

def strict(v, limit=1.0):
    if v.sum() > limit:
        raise ValueError("planned")
    return v * 0.5

def even(v, n):
    return v if n <= 0 or v.sum() > 2 else odd(v * 0.5 + 0.1, n - 1)

def odd(v, n):
    return -v if n <= 0 else even(v + 0.2, n - 1)

def collect(v, n, into):
    if n > 0 and v.sum() < 3:
        into.append(v)
        collect(v + 0.3, n - 1, into)
    return into

def pieces(v, n):
    for i in range(n):
        yield v * (0.5 + i * 0.1)
    yield from (v, -v)

def mixed(first, /, second=0.5, *rest, last=None, **more):
    for v in (*rest, *more.values()):
        first = first + v * second
    return first if last is None else first + last

""".lstrip()

PARAMETERS = (
    "vec",
    "pyint",
    "scalar",
    "list",
    "mat",
    "int",
    "pybool",
    "dict",
    "state",
    "box",
    "pyfloat",
    "wide",
    "pair",
)
RETURNED = ("vec", "scalar", "pyint", "list", "dict", "pair", "int", "flag", "buf", "wide", "state")
RETURNED_WEIGHTS = (8, 3, 3, 3, 1, 1, 1, 1, 2, 1, 1)


@dataclass(frozen=True)
class Program:
    """Source that defines `f` and `CALLS`, and what was used to write it."""

    seed: int
    source: str
    shared: bool
    used: dict[str, int]


def write_program(seed: int) -> Program:
    """Return the program of a seed, always the same."""
    writer = Writer(seed, budget=0)
    helpers = [helper(writer) for _ in range(writer.random.choices((0, 1), (3, 2))[0])]
    parameters = [("vec", "x"), *((kind, f"p_{kind}") for kind in PARAMETERS if writer.chance(0.22))]
    scope = Scope(base="x")
    for kind, name in parameters:
        scope.add(kind, name)
    for name in helpers:
        scope.add("func", name)
    scope.fixed = frozenset(helpers)
    scope.returns = tuple(writer.random.choices(RETURNED, RETURNED_WEIGHTS, k=writer.random.choice((1, 1, 2, 3))))
    function(writer, "f", [name for _, name in parameters], scope, writer.random.randint(2, 12))
    body = "\n".join(writer.lines)
    calls = calls_of(writer, [kind for kind, _ in parameters])
    body += "\n\nCALLS = [\n" + "".join(f"    ({', '.join(c)},),\n" for c in calls) + "]\n"
    return Program(seed, START + body, writer.chance(0.3), dict(writer.used))


def calls_of(writer: Writer, kinds: list[str]) -> list[list[str]]:
    """Return the arguments of two calls: mostly of one signature, so that the second runs what the first compiled."""
    first = [argument(writer, kind, 3) for kind in kinds]
    size = 3 if writer.chance(0.8) else 4
    second = [argument(writer, kind, size) for kind in kinds]
    if writer.chance(0.7):
        second = [a if kind in {"pyint", "pyfloat", "pybool"} else b for kind, a, b in zip(kinds, first, second)]
    return [first, second]


def helper(writer: Writer) -> str:
    """Write a function of a vector, with a little control flow; returns its name."""
    name = writer.fresh("helper")
    scope = Scope(base="a", returns=("vec",))
    scope.add("vec", "a")
    scope.add("pyint", "n")
    function(writer, name, ["a", "n=1"], scope, writer.random.randint(2, 4))
    return name


def function(writer: Writer, name: str, parameters: list[str], scope: Scope, budget: int) -> None:
    """Write a function that ends in a `return` of the scope's kinds."""
    writer.budget = budget
    writer.line(f"def {name}({', '.join(parameters)}):")
    writer.indent += 1
    for _ in range(writer.random.randint(0, 2)):
        kind = bound_kind(writer)
        made = writer.fresh(kind[0])
        writer.line(f"{made} = {writer.expression(kind, scope, 2)}")
        scope.add(kind, made)
    writer.indent -= 1
    while writer.budget > 0:
        block(writer, scope, 4)
    writer.indent += 1
    writer.line(returned(writer, scope))
    writer.indent -= 1
    writer.line("")


def numbers(writer: Writer, size: int) -> str:
    """Return a list of small numbers."""
    return "[" + ", ".join(f"{writer.random.uniform(-1.5, 1.5):.2f}" for _ in range(size)) + "]"


def argument(writer: Writer, kind: str, size: int) -> str:
    """Return an argument of a kind."""
    vec = [f"tensor({numbers(writer, size)})" for _ in range(2)]
    return {
        "vec": vec[0],
        "mat": f"tensor([{numbers(writer, size)}, {numbers(writer, size)}])",
        "scalar": f"tensor({writer.random.uniform(-1.5, 1.5):.2f})",
        "wide": f"tensor({numbers(writer, size)}, 'float64')",
        "int": f"tensor({writer.random.randint(0, 4)}, 'int64')",
        "list": f"[{', '.join(vec)}]",
        "dict": f"{{'a': {vec[0]}, 'b': {vec[1]}}}",
        "pair": f"Pair({vec[0]}, {vec[1]}.sum())",
        "state": f"State({vec[0]}, {writer.random.randint(0, 2)})",
        "box": f"Box({vec[0]})",
        "pyint": str(writer.random.randint(0, 3)),
        "pyfloat": writer.pick(("0.5", "-0.5")),
        "pybool": writer.pick(("True", "False")),
    }[kind]
