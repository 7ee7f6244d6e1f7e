"""What every transformer gets besides the tree: names, and facts of the function's surroundings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .names import Names, mangle
from .nodes import Node
from .quote import call_helper


@dataclass(frozen=True)
class Context:
    """Surroundings of one conversion."""

    names: Names
    class_name: str | None = None
    """The class whose body the source stands in; private names are mangled with it."""
    has_class_cell: bool = False
    """Whether the function may use `super()` without arguments."""
    global_names: Callable[[str], bool] = field(default=lambda name: False)
    """Whether a global of that name shadows a builtin."""
    global_value: Callable[[str], object] = field(default=lambda name: None)
    """What a global of that name is."""

    free: frozenset[str] = frozenset()
    """The variables of functions around that the function uses."""

    raising: bool = False
    """Whether the function gives what it returns or raises as a pair."""
    pushing: bool = False
    """Whether the function, a generator, gives what it yields to its first argument."""
    deep_tries: frozenset[int] = frozenset()
    """The lines of the `try` statements that see what called functions raise where a tensor decides that."""
    inner_names: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """The names of the code of the user's lambdas and comprehensions, by line and column where a part of it begins."""

    errors: set[str] = field(default_factory=set)
    """Variables of ours that hold an exception, or None."""
    flagged: set[str] = field(default_factory=set)
    """Variables of ours that are read only where a flag says that they are set."""
    doubtful: set[str] = field(default_factory=set)
    """Variables of which some read may find them unset."""

    @property
    def vt(self) -> str:
        """The name under which converted code finds the helpers."""
        return self.names.helper

    def call(self, function: str, *args: Node, at: Node) -> Node:
        """`vt.function(args...)`."""
        return call_helper(self.vt, function, *args, at=at)

    def mangle(self, attribute: str) -> str:
        """An attribute's name as the compiler makes it: `__x` in class `A` is `_A__x`."""
        return mangle(self.class_name, attribute)
