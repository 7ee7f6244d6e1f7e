"""Liveness and definedness against brute force: what any path shows, the analysis must allow, and no more."""

from __future__ import annotations

import ast
import random

import gast
import pytest

from tests.transformers.facts.paths import NAMES, observe
from vitrify.transformers.facts import analyze
from vitrify.transformers.facts.function import FunctionFacts
from vitrify.transformers.names import Names, identifiers
from vitrify.transformers.nodes import Node, all_nodes

PROGRAMS = 100
SHORT = 14  # lines; longer programs have more paths than are tried


class Writer:
    """A random function of assignments, reads and every construct that control flows through.

    A "simple" one has no unbound names and only tests that may go either way, so that every way through it is a path.
    """

    def __init__(self, seed: int, kind: str) -> None:
        self.rng = random.Random(seed)
        self.exceptions = kind == "exceptions"
        self.simple_only = kind == "simple"
        self.lines = ["def f():"] + ["    a = b = d = 0"] * self.simple_only
        self.loops = 0

    def text(self) -> str:
        for _ in range(self.rng.randint(2, 4)):
            self.statement(1)
        self.write(1, f"return {self.rng.choice(NAMES)}")
        return "\n".join(self.lines) + "\n"

    def write(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def block(self, depth: int) -> None:
        for _ in range(self.rng.randint(1, 2)):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        roll = self.rng.random()
        if roll < 0.5 and depth < 4 and len(self.lines) < 14:
            compound = [self.if_, self.while_, self.for_] + [self.match_] * (not self.simple_only)
            self.rng.choice(compound + [self.try_, self.try_, self.with_] * self.exceptions)(depth)
        elif roll < 0.65 and depth > 1:
            self.jump(depth)
        else:
            self.simple(depth)

    def simple(self, depth: int) -> None:
        x, y = self.rng.choice(NAMES), self.rng.choice(NAMES)
        forms = [f"{x} = 0", f"{x} = {y}", f"del {x}", f"{x} += 0", f"({x}, {y}) = (0, 0)", f"{x} = {y} = 0",
                 f"c() and {x}", f"c() and ({x} := 0)", f"{x} if c() else {y}", f"print if ({x} := {y}) else 0",
                 f"import os as {x}", f"{x}: int = {y}", f"{x}: int", f"def {x}(): pass", f"def {x}(q={y}): pass",
                 f"class {x}(metaclass=Meta, q={y}): pass", f"[q for q in [{x}]]", f"c() != 1 != {y}",
                 f"({x}, *{y}) = [0]", f"assert not c() or True, {x}", f"lambda q={x}: q"]  # fmt: skip
        if self.simple_only:
            forms = [form for form in forms if not {"del", "+=", "assert"} & set(form.split())]
        if self.exceptions:
            forms += [f"{x} = m()", f"{x} = m()", "m()", f"({y}, m())", "raise E", f"assert True, {y}"]
        self.write(depth, self.rng.choice(forms))

    def jump(self, depth: int) -> None:
        jumps = ["break", "continue", "break", "continue", f"return {self.rng.choice(NAMES)}"]
        self.write(depth, "if c():")
        self.write(depth + 1, self.rng.choice(jumps if self.loops else jumps[-1:]))

    def if_(self, depth: int) -> None:
        tests = ["c()", "not c()", f"({self.rng.choice(NAMES)}, c())[1]"]
        if not self.simple_only:
            tests.append(f"c() and {self.rng.choice(NAMES)}")
        self.write(depth, f"if {self.rng.choice(tests)}:")
        self.block(depth + 1)
        for _ in range(self.rng.choice([0, 0, 1])):
            self.write(depth, "elif c():" if self.simple_only else f"elif c() or {self.rng.choice(NAMES)}:")
            self.block(depth + 1)
        self.otherwise(depth)

    def otherwise(self, depth: int, chance: float = 0.5) -> None:
        if self.rng.random() < chance:
            self.write(depth, "else:")
            self.block(depth + 1)

    def body_of_loop(self, depth: int) -> None:
        self.loops += 1
        self.block(depth + 1)
        self.loops -= 1
        self.otherwise(depth)

    def while_(self, depth: int) -> None:
        if self.rng.random() < 0.3:
            self.write(depth, "while True:")
            self.write(depth + 1, "if c():")
            self.write(depth + 2, "break")
        else:
            self.write(depth, f"while {self.rng.choice(['c()', f'({self.rng.choice(NAMES)} := c())'])}:")
        self.body_of_loop(depth)

    def for_(self, depth: int) -> None:
        self.write(depth, f"for {self.rng.choice([*NAMES, '_'])} in xs():")
        self.body_of_loop(depth)

    def match_(self, depth: int) -> None:
        x, y = self.rng.sample(NAMES, 2)
        self.write(depth, f"match {self.rng.choice(['[c(), 0]', 'c()'])}:")
        heads = [f"[True, {x}]", "True", f"{x} if c()", f"[{x}, {y}] if {x}", f"True as {y}", f"[False, *{x}]"]
        for head in self.rng.sample(heads, self.rng.randint(1, 2)):
            self.write(depth + 1, f"case {head}:")
            self.block(depth + 2)
        if self.rng.random() < 0.5:
            self.write(depth + 1, f"case {self.rng.choice(['_', x])}:")
            self.block(depth + 2)

    def try_(self, depth: int) -> None:
        self.write(depth, "try:")
        self.block(depth + 1)
        handled = self.rng.random() < 0.75
        if handled:
            name = self.rng.choice([f" as {self.rng.choice(NAMES)}", ""])
            self.write(depth, f"except E{name}:")
            self.block(depth + 1)
            self.otherwise(depth, 0.3)
        if not handled or self.rng.random() < 0.4:
            self.write(depth, "finally:")
            self.block(depth + 1)

    def with_(self, depth: int) -> None:
        manager = self.rng.choice(["Swallow()", "suppress(E)"])
        self.write(depth, f"with {manager}{self.rng.choice(['', ' as ' + self.rng.choice(NAMES)])}:")
        self.block(depth + 1)


def analyzed(text: str) -> tuple[dict[int, Node], FunctionFacts]:
    """The statements by line, and the facts."""
    fn = gast.ast_to_gast(ast.parse(text)).body[0]
    facts = analyze(fn, Names(identifiers(fn)))
    return {stmt.lineno: stmt for stmt in all_nodes(fn) if stmt in facts.graph.spans}, facts


def missed(text: str) -> list[str]:
    """What some path shows and the analysis denies."""
    stmts, facts = analyzed(text)
    found = []
    for (kind, line), seen in observe(text).items():
        stmt = stmts[line]
        live = facts.live_in(stmt) if kind == "start" else facts.live_out(stmt)
        found += [f"line {line} {kind}: {name} is live" for name in seen.live - live]
        if kind == "start":
            found += [
                f"line {line}: {name} may be unbound"
                for name in (seen.unbound & facts.scope.locals) - facts.unbound_at(stmt)
            ]
    return found


def superfluous(text: str) -> list[str]:
    """What the analysis allows and no path shows, for statements that some path reaches."""
    stmts, facts = analyzed(text)
    found = []
    for (kind, line), seen in observe(text, limit=12, paths=20000).items():
        if kind == "start":
            found += [f"line {line}: {name} is live" for name in facts.live_in(stmts[line]) & set(NAMES) - seen.live]
            unbound = facts.unbound_at(stmts[line]) - seen.unbound
            found += [f"line {line}: {name} may be unbound" for name in unbound & set(NAMES)]
    return found


@pytest.mark.parametrize("kind", ["simple", "plain", "exceptions"])
@pytest.mark.parametrize("first", range(2))
def test_every_path_is_allowed(first, kind):
    for seed in range(first * PROGRAMS, (first + 1) * PROGRAMS):
        text = Writer(seed, kind).text()
        assert not missed(text), f"program {seed}\n{text}\n{missed(text)}"


@pytest.mark.parametrize("first", range(2))
def test_nothing_is_allowed_that_no_path_shows(first):
    for seed in range(first * PROGRAMS, (first + 1) * PROGRAMS):
        text = Writer(seed, "simple").text()
        if text.count("\n") > SHORT:
            continue
        assert not superfluous(text), f"program {seed}\n{text}\n{superfluous(text)}"
