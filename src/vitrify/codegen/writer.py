"""LLVM functions written with loops and conditions, for the fixed parts that serve all programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class Writer:
    """One function in the making. Values are the names of registers or numbers, as LLVM's text has them.

    Variables lie in memory until LLVM puts them into registers; so nobody here has to write phis.
    """

    def __init__(self, returns: str, name: str, parameters: Sequence[str]) -> None:
        self._head = f"define {returns} @{name}({', '.join(parameters)}) {{"
        self._variables: list[str] = []
        self._lines: list[str] = []
        self._count = 0

    @property
    def text(self) -> str:
        """The function as LLVM reads it."""
        return "\n".join([self._head, "entry:", *self._variables, "br label %begin", "begin:", *self._lines, "}"])

    def _fresh(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def fresh_label(self) -> str:
        """A name for blocks that no others have."""
        return self._fresh("part")

    def value(self, instruction: str) -> str:
        """The result of an instruction."""
        name = "%" + self._fresh("v")
        self._lines.append(f"{name} = {instruction}")
        return name

    def line(self, instruction: str) -> None:
        """An instruction without a result."""
        self._lines.append(instruction)

    def label(self, name: str) -> None:
        """Begin a block here; what was before runs into it."""
        self._lines += [f"br label %{name}", f"{name}:"]

    def add(self, x: object, y: object) -> str:
        """x + y, of 64 bits."""
        return self.value(f"add i64 {x}, {y}")

    def times(self, x: object, y: object) -> str:
        """x * y, of 64 bits."""
        return self.value(f"mul i64 {x}, {y}")

    def least(self, x: object, y: object) -> str:
        """The smaller of two, of 64 bits."""
        return self.value(f"select i1 {self.value(f'icmp slt i64 {x}, {y}')}, i64 {x}, i64 {y}")

    def rounded_up(self, x: object, step: int) -> str:
        """The least multiple of a power of two that is x at least."""
        return self.value(f"and i64 {self.add(x, step - 1)}, {-step}")

    def at(self, pointer: str, index: object, type: str = "i64") -> str:
        """The address of an element."""
        return self.value(f"getelementptr {type}, ptr {pointer}, i64 {index}")

    def load(self, pointer: str, index: object = 0, type: str = "i64", align: int = 8) -> str:
        """An element of an array."""
        return self.value(f"load {type}, ptr {self.at(pointer, index, type)}, align {align}")

    def store(self, value: object, pointer: str, index: object = 0, type: str = "i64", align: int = 8) -> None:
        """Write an element of an array."""
        self.line(f"store {type} {value}, ptr {self.at(pointer, index, type)}, align {align}")

    def variable(self, type: str, start: object) -> str:
        """A variable of its own memory, which starts as this."""
        found = self.space(type)
        self.line(f"store {type} {start}, ptr {found}")
        return found

    def reference(self) -> str:
        """A variable for an address, which is null from the function's beginning on, wherever it is first written."""
        found = self.space("ptr")
        self._variables.append(f"store ptr null, ptr {found}")
        return found

    def space(self, type: str, align: int = 8) -> str:
        """Memory that the function has while it runs."""
        name = "%" + self._fresh("m")
        self._variables.append(f"{name} = alloca {type}, align {align}")
        return name

    def call(self, returns: str, function: str, *arguments: str) -> str:
        """A call; its result has a name unless it returns nothing."""
        text = f"call {returns} {function}({', '.join(arguments)})"
        if returns == "void":
            self.line(text)
            return ""
        return self.value(text)

    @contextmanager
    def loop(self, count: object, start: object = 0, step: object = 1) -> Iterator[str]:
        """The body for start, start + step, ... below `count`."""
        name = self._fresh("loop")
        at = self.variable("i64", start)
        self.label(f"{name}.test")
        index = self.value(f"load i64, ptr {at}")
        more = self.value(f"icmp slt i64 {index}, {count}")
        self._lines += [f"br i1 {more}, label %{name}.body, label %{name}.done", f"{name}.body:"]
        yield index
        self.line(f"store i64 {self.add(index, step)}, ptr {at}")
        self._lines += [f"br label %{name}.test", f"{name}.done:"]

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """The body where the condition holds."""
        name = self._fresh("when")
        self._lines += [f"br i1 {condition}, label %{name}.then, label %{name}.done", f"{name}.then:"]
        yield
        self.label(f"{name}.done")

    def jump(self, condition: str, then: str, otherwise: str) -> None:
        """Go on at one of two labels; what follows is reached from elsewhere only."""
        self._lines += [f"br i1 {condition}, label %{then}, label %{otherwise}", f"{self._fresh('left')}:"]

    def go(self, name: str) -> None:
        """Go on at a label; what follows is reached from elsewhere only."""
        self._lines += [f"br label %{name}", f"{self._fresh('left')}:"]

    def leave(self, value: str) -> None:
        """Return this; what follows is reached from elsewhere only."""
        self._lines += [f"ret {value}", f"{self._fresh('left')}:"]
