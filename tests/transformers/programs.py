"""Random functions made of everything the transformers convert, as source text; each ends after a bounded time."""

from __future__ import annotations

import linecache
import random
from types import FunctionType

NAMES = ("a", "b", "c", "d")
FUEL = 60


class OutOfFuel(Exception):
    """The program has run long enough."""


class Program:
    """Writes one function. `rng` decides everything, so a seed is a program."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.closures: list[str] = []
        self.shared = self.rng.random() < 0.3
        self.loops = 0
        self.budget = 45

    def write(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)
        self.budget -= 1

    def source(self) -> str:
        params = self.rng.choice(["a, b", "a, b=2", "a, *c, b=1"])
        self.write(0, f"def program({params}):")
        if self.shared:
            self.write(1, "def bump():")
            self.write(2, f"nonlocal {'d'}")
            self.write(2, "d = d + 1 if d < 50 else 0")
            self.write(2, "return d")
            self.write(1, "d = 0")
            self.closures.append("bump")
        self.block(1, self.rng.randint(2, 6))
        if self.rng.random() < 0.7:
            self.write(1, f"return ({', '.join(self.rng.sample(NAMES, 2))})")
        return "\n".join(self.lines) + "\n"

    def block(self, depth: int, size: int) -> None:
        for _ in range(size):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        rng = self.rng
        nested = [self.if_, self.if_, self.for_, self.while_, self.try_, self.with_, self.match_]
        simple = [self.assign] * 5 + [self.log] * 3 + [self.augment, self.item, self.delete, self.closure, self.raise_,
                                                       self.unpack, self.attribute, self.assertion]  # fmt: skip
        jumps = [self.return_] + ([self.break_, self.continue_] * 2 if self.loops else [])
        if depth < 6 and self.budget > 0 and rng.random() < 0.55:
            rng.choice(nested)(depth)
        elif rng.random() < 0.18:
            rng.choice(jumps)(depth)
        else:
            rng.choice(simple)(depth)

    # expressions
    def name(self) -> str:
        return self.rng.choice(NAMES)

    def expr(self, depth: int = 0) -> str:
        rng = self.rng
        leaf = [self.name(), self.name(), str(rng.randint(-3, 5))]
        if depth > 2 or rng.random() < 0.4:
            return rng.choice(leaf)
        left, right, third = (self.expr(depth + 1) for _ in range(3))
        call = f"{rng.choice(self.closures)}()" if self.closures else f"log({left})"
        forms = [
            f"({left} + {right})", f"({left} * {right}) % 7", f"({left} - {right})",
            f"({left} if {third} else {right})",
            f"({left} and {right})", f"({left} or {right})", f"(not {left})", f"({left} < {right} <= {third})",
            f"log({left})", f"len([{left}, {right}])", f"sum(x for x in ({left}, {right}))", call,
            f"({self.name()} := {left})", f"[x for x in ({left}, {right}) if x][:1]", f"(lambda: {left})()",
        ]  # fmt: skip
        return rng.choice(forms)

    def test(self) -> str:
        rng = self.rng
        left, right = self.expr(1), self.expr(1)
        return rng.choice([f"{left} > {right}", f"{left}", f"0 < {left} < {right}", f"not {left}",
                           f"{left} and {right}", f"tick() % 3 == {rng.randint(0, 2)}"])  # fmt: skip

    # simple statements
    def assign(self, depth: int) -> None:
        self.write(depth, f"{self.name()} = {self.expr()}")

    def augment(self, depth: int) -> None:
        self.write(depth, f"{self.name()} {self.rng.choice(['+=', '-=', '*='])} {self.expr(2)}")

    def unpack(self, depth: int) -> None:
        first, second = self.rng.sample(NAMES, 2)
        self.write(depth, f"{first}, box.x, {second} = {self.expr(1)}, {self.expr(1)}, {self.expr(2)}")

    def attribute(self, depth: int) -> None:
        self.write(
            depth, self.rng.choice(["box.x = {0}", "box.x += {0}", "{1} = box.x"]).format(self.expr(), self.name())
        )

    def item(self, depth: int) -> None:
        self.write(depth, f"items[{self.rng.randint(0, 2)}] {self.rng.choice(['=', '+='])} {self.expr()}")

    def log(self, depth: int) -> None:
        self.write(depth, f"log({self.expr()})")

    def delete(self, depth: int) -> None:
        if self.rng.random() < 0.3:
            self.write(depth, f"del {self.name()}")
        else:
            self.log(depth)

    def closure(self, depth: int) -> None:
        if self.rng.random() < 0.4:
            self.write(depth, f"{self.name()} = (lambda k={self.rng.randint(0, 3)}: {self.name()} * k)()")
        else:
            self.assign(depth)

    def raise_(self, depth: int) -> None:
        if self.rng.random() < 0.3:
            self.write(depth, f"raise {self.rng.choice(['ValueError', 'KeyError'])}({self.expr(2)})")
        else:
            self.log(depth)

    def assertion(self, depth: int) -> None:
        self.write(depth, f"assert {self.expr(1)} != {self.rng.randint(0, 5)}, {self.expr(2)}")

    def return_(self, depth: int) -> None:
        self.write(depth, self.rng.choice(["return", f"return {self.expr()}", f"return 'r', {self.name()}"]))

    def break_(self, depth: int) -> None:
        self.write(depth, "break")

    def continue_(self, depth: int) -> None:
        self.write(depth, "continue")

    # compound statements
    def body(self, depth: int) -> None:
        self.block(depth + 1, self.rng.randint(1, 3))

    def if_(self, depth: int) -> None:
        self.write(depth, f"if {self.test()}:")
        self.body(depth)
        while self.rng.random() < 0.25:
            self.write(depth, f"elif {self.test()}:")
            self.body(depth)
        if self.rng.random() < 0.5:
            self.write(depth, "else:")
            self.body(depth)

    def loop(self, depth: int, head: str) -> None:
        self.write(depth, head)
        self.loops += 1
        self.write(depth + 1, "tick()")
        self.body(depth)
        self.loops -= 1
        if self.rng.random() < 0.3:
            self.write(depth, "else:")
            self.body(depth)

    def for_(self, depth: int) -> None:
        target = self.rng.choice([self.name(), self.name(), "a, b", "box.x"])
        over = self.rng.choice(["range(3)", f"range({self.name()} % 4)", "items", "(1, 2)"])
        self.loop(depth, f"for {target} in {'zip(items, items)' if target == 'a, b' else over}:")

    def while_(self, depth: int) -> None:
        self.loop(depth, f"while {self.rng.choice(['True', self.test(), f'({self.name()} := tick()) % 5'])}:")

    def try_(self, depth: int) -> None:
        self.write(depth, "try:")
        self.body(depth)
        kinds = self.rng.sample(["ValueError", "KeyError", "(NameError, TypeError)", "AssertionError"], 2)
        for kind in kinds[: self.rng.randint(1, 2)]:
            alias = " as err" if self.rng.random() < 0.3 else ""
            self.write(depth, f"except {kind}{alias}:")
            self.body(depth)
        if self.rng.random() < 0.3:
            self.write(depth, "else:")
            self.body(depth)
        if self.rng.random() < 0.3:
            self.write(depth, "finally:")
            self.body(depth)

    def with_(self, depth: int) -> None:
        manager = self.rng.choice(["manager()", "manager() as " + self.name(), "suppress(ValueError)"])
        self.write(depth, f"with {manager}:")
        self.body(depth)

    def match_(self, depth: int) -> None:
        self.write(depth, f"match {self.expr(1)}:")
        for pattern in self.rng.sample(["0", "1 | 2", "int() as c", "[d]", "True", "str(b)"], self.rng.randint(1, 2)):
            self.write(depth + 1, f"case {pattern}:")
            self.block(depth + 2, self.rng.randint(1, 2))
        if self.rng.random() < 0.5:
            self.write(depth + 1, "case _:")
            self.block(depth + 2, 1)


class World:
    """What a program can see and do: everything it does is in `events`."""

    def __init__(self) -> None:
        self.events: list[object] = []
        self.ticks = 0
        self.box = type("Box", (), {"x": 1})()
        self.items = [1, 0, 2]

    def tick(self) -> int:
        self.ticks += 1
        if self.ticks > FUEL:
            raise OutOfFuel
        return self.ticks

    def log(self, value: object) -> object:
        self.tick()
        self.events.append(repr(value)[:200])
        return value

    def manager(self) -> World:
        return self

    def __enter__(self) -> int:
        self.events.append("enter")
        return len(self.events)

    def __exit__(self, *exception: object) -> bool:
        self.events.append("exit")
        return False


def program_source(seed: int) -> str | None:
    """The text of program number `seed`, or None where the draw is no valid Python."""
    text = Program(seed).source()
    try:
        compile(text, "<draw>", "exec")
    except SyntaxError:
        return None
    return text


def load(text: str, seed: int) -> FunctionType:
    """The function that `text` defines, with its source available as from a file."""
    filename = f"<program {seed}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, FunctionType] = {}
    exec(compile(text, filename, "exec"), namespace)
    function = namespace["program"]
    function.__module__ = "tests.program"
    return function
