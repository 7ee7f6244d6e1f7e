"""The ordered list of transformers, and the way of one function through it."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FunctionType

import gast

from ..core.dump import dump, is_dumped
from ..core.errors import UnsupportedError
from .assert_ import convert_asserts
from .attribute import convert_attribute_stores, convert_shapes
from .break_continue import lower_loop_jumps
from .call import convert_calls
from .called_raises import give_raised_as_value
from .compare import convert_chained_comparisons
from .compile import compile_function, instantiate
from .comprehension import convert_comprehensions
from .context import Context
from .contract import HELPER_NAME
from .dead_code import remove_dead_code
from .decided_with import lower_decided_managers
from .errors import Refusal
from .exchange import to_gast
from .final import lower_jumping_finals
from .fstring import convert_fstrings
from .handler import guard_handlers
from .ifelse import convert_branches
from .inner_names import inner_names
from .kept_tree import KeptTree
from .lists import open_lists
from .locals_ import make_locals_explicit
from .logical import convert_logical
from .loop import convert_loops
from .loop_test import move_assigning_tests
from .match import convert_matches
from .names import Names, identifiers
from .nodes import TRIES, Node, all_nodes
from .normalise import normalise
from .push import push_yields
from .quote import copy_tree
from .raise_ import convert_raises
from .render import render
from .return_ import lower_returns
from .setitem import convert_item_stores
from .source import find_definition, loc_of_node, refuse_unconvertible
from .super_ import make_super_explicit
from .suppress import lower_suppress
from .tidy import tidy
from .try_ import lower_caught_raises
from .undefined import guard_reads, initialise
from .walrus import lower_lazy_bindings

Transform = Callable[[Node, Context], Node]

PIPELINE: tuple[tuple[str, Transform], ...] = (
    ("match", convert_matches),
    ("dead_code", remove_dead_code),
    ("normalise", normalise),
    ("push", push_yields),
    ("super", make_super_explicit),
    ("locals", make_locals_explicit),
    ("loop_test", move_assigning_tests),
    ("final", lower_jumping_finals),
    ("suppress", lower_suppress),
    ("decided_with", lower_decided_managers),
    ("walrus", lower_lazy_bindings),
    ("raised", give_raised_as_value),
    ("try", lower_caught_raises),
    ("guard_reads", guard_reads),
    ("return", lower_returns),
    ("break_continue", lower_loop_jumps),
    ("handler", guard_handlers),
    ("assert", convert_asserts),
    ("raise", convert_raises),
    ("setitem", convert_item_stores),
    ("attribute", convert_attribute_stores),
    ("shape", convert_shapes),
    ("comprehension", convert_comprehensions),
    ("compare", convert_chained_comparisons),
    ("logical", convert_logical),
    ("fstring", convert_fstrings),
    ("call", convert_calls),
    ("lists", open_lists),
    ("initialise", initialise),
    ("loop", convert_loops),
    ("ifelse", convert_branches),
    ("tidy", tidy),
)
"""Each maps a tree to a tree and may edit the tree it is given, which is always a private copy.

First the user's statements become fewer kinds (match ... break_continue), then expressions and simple
statements become helper calls (assert ... call), last control flow becomes functions (initialise ... ifelse), which
`tidy` makes short.
"""

_ATTRIBUTE = "__vitrify_converted__"


@dataclass(frozen=True)
class ConvertedCode:
    """A function's code after conversion, not yet joined to globals and cells. Valid for one code object."""

    tree: KeptTree = field(repr=False)
    code: CodeType
    helper: str
    only_changed: frozenset[str] = frozenset()
    """Names of containers that the function changes without reading what they hold."""
    catches: bool = False
    """Whether it has a `try`, itself or a function in it."""
    is_watched: bool = False
    """Whether it gives items to a sink in a `try`."""

    @property
    def source(self) -> str:
        """The converted code as text."""
        return self.tree.source

    def bind(self, fn: FunctionType, helpers: object) -> FunctionType:
        """The converted form of `fn`, calling `helpers`."""
        result = instantiate(self.code, fn, {self.helper: helpers})
        result.__defaults__ = fn.__defaults__
        result.__dict__.update(fn.__dict__)
        setattr(result, _ATTRIBUTE, self)
        return result


def convert_function(fn: FunctionType, helpers: object) -> FunctionType:
    """`fn` converted: same behaviour on Python values, with the constructs of `contract` made as calls of `helpers`.

    Raises NoSourceError without source text, UnsupportedError (naming the line) for what cannot be converted.
    """
    return convert_code(fn).bind(fn, helpers)


def convert_code(
    fn: FunctionType, *, raising: bool = False, pushing: bool = False, deep_tries: frozenset[int] = frozenset()
) -> ConvertedCode:
    """The conversion of `fn` that depends on its code alone, so that callers may cache it by `fn.__code__`.

    raising, pushing, deep_tries: see `Context`.
    """
    tree, context = prepare(fn, raising, pushing, deep_tries)
    catches = any(isinstance(node, (*TRIES, gast.With)) for node in all_nodes(tree))
    for _ in _stages(tree, context, fn):
        pass
    watched = pushing and any(getattr(node, "attr", None) == "give_watched" for node in all_nodes(tree))
    code, changed = compile_function(tree, fn, context)
    made = ConvertedCode(KeptTree(tree), code, context.vt, changed, catches, watched)
    if is_dumped("converted"):
        dump("converted", f"{fn.__name__}.py", made.source)
    return made


def source_of(converted: FunctionType) -> str:
    """The text of a function made by `convert_function`."""
    record: ConvertedCode = getattr(converted, _ATTRIBUTE)
    return record.source


def is_converted(fn: FunctionType, helpers: object) -> bool:
    """Whether `fn` was converted for `helpers`, itself or as a function nested in a converted one."""
    cells = fn.__closure__ or ()
    record = getattr(fn, _ATTRIBUTE, None)  # functools.wraps copies it to functions of other code
    is_itself = record is not None and record.code is fn.__code__
    return is_itself or any(cell.cell_contents is helpers for cell in cells if _is_set(cell))


def stage_sources(fn: FunctionType) -> Iterator[tuple[str, str]]:
    """Name and resulting text of each transformer in order (for `set_code_level`)."""
    tree, context = prepare(fn)
    for name in _stages(tree, context, fn):
        yield name, render(copy_tree(tree))


def prepare(
    fn: FunctionType, raising: bool = False, pushing: bool = False, deep_tries: frozenset[int] = frozenset()
) -> tuple[Node, Context]:
    """A private copy of the function's tree, without decorators, and its surroundings."""
    refuse_unconvertible(fn)
    definition = find_definition(fn)
    tree = to_gast(definition.node)
    if raising and isinstance(tree, gast.Lambda):
        tree = _with_statements(tree, fn.__name__)
    tree.decorator_list = []
    free = fn.__code__.co_freevars
    names = Names(identifiers(tree) | set(free) | set(dir(builtins)), HELPER_NAME)
    shadowed = fn.__globals__
    is_shadowed = shadowed.__contains__
    is_super = "__class__" in free
    context = Context(
        names,
        definition.class_name,
        is_super,
        is_shadowed,
        shadowed.get,
        frozenset(free),
        raising,
        pushing,
        deep_tries,
        inner_names(tree),
    )
    return tree, context


def _with_statements(tree: Node, called: str) -> Node:
    """A lambda as a function that returns its value: what it raises is given where statements are."""
    body = [gast.copy_location(gast.Return(value=tree.body), tree.body)]
    made = gast.FunctionDef(
        name=called, args=tree.args, body=body, decorator_list=[], returns=None, type_comment=None, type_params=[]
    )
    return gast.copy_location(made, tree)


def _stages(tree: Node, context: Context, fn: FunctionType) -> Iterator[str]:
    """Run the pipeline on `tree`, in place, giving the name of each transformer when it is done."""
    for name, transform in PIPELINE:
        try:
            transform(tree, context)
        except Refusal as refusal:
            loc = loc_of_node(refusal.node, fn.__code__)
            raise UnsupportedError(refusal.message, loc=loc, hint=refusal.hint) from None
        yield name


def _is_set(cell: object) -> bool:
    try:
        cell.cell_contents  # type: ignore[attr-defined]  # noqa: B018 - reading an empty cell raises
    except ValueError:
        return False
    return True
