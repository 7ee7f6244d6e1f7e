"""From a converted tree to a function: compile the tree itself at the user's lines, in the user's surroundings.

The tree stands in a factory function whose parameters are the free variables, inside a class named like the class
around the user's function, so that private names are mangled alike, inside one more class: a name bound in a class
scope, here those of the class and of the function, does not shadow the global of that name. Nothing of it is ever run:
the code object is taken out of the compiled module and joined to the function's own globals and closure cells.
"""

from __future__ import annotations
import __future__

import ast
import copy
from collections.abc import Mapping, Sequence, Set
from functools import reduce
from operator import or_
from types import CellType, CodeType, FunctionType

import gast

from ..core.errors import InternalError
from .context import Context
from .exchange import to_compile
from .nodes import Node
from .observe import names_only_changed, observe_reads
from .quote import copy_tree, quote
from .truths import ask_truth_once

FACTORY = "__vitrify_factory__"
_NO_CLASS = "_"  # a class of this name mangles nothing
_FUTURE_FLAGS = reduce(or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names))

_COPIED = ("__kwdefaults__", "__qualname__", "__doc__", "__module__", "__annotations__", "__type_params__")


def compile_tree(module: ast.Module | str, like: CodeType) -> CodeType:
    """A tree or text compiled as if it stood where `like` does: same file, same `from __future__` imports."""
    code: CodeType = compile(module, like.co_filename, "exec", flags=like.co_flags & _FUTURE_FLAGS, dont_inherit=True)
    return code


def inner_code(code: CodeType, path: Sequence[str]) -> CodeType:
    """The code object reached by following names through nested code objects."""
    for name in path:
        inner = [const for const in code.co_consts if isinstance(const, CodeType) and const.co_name == name]
        if not inner:
            raise InternalError(f"no code object {name!r} in {code.co_name!r}")
        code = inner[0]
    return code


def compile_function(
    tree: Node,
    fn: FunctionType,
    context: Context,
    extra: Sequence[str] = (),
    *,
    observed: bool = True,
) -> tuple[CodeType, frozenset[str]]:
    """The code object for `tree`, made from `fn`; free in it: the variables of `fn`, the helper, and `extra`.

    Beside it: the names that `fn` only changes, by methods such as `append`. observed: reads of attributes go through
    the helper.
    """
    like = fn.__code__
    class_name = context.class_name or _NO_CLASS
    own_name = getattr(tree, "name", like.co_name)
    module, names, calls = to_compile(_module(tree, [*like.co_freevars, context.vt, *extra], class_name))
    (definition,) = module.body[0].body[0].body[0].body  # factory, class, class: see _module
    changed = names_only_changed(names, calls, context.vt)
    if observed:
        ask_truth_once(definition, context.vt)
        observe_reads(definition, context.vt, class_name)
    code = inner_code(compile_tree(module, like), (FACTORY, FACTORY, class_name, own_name))
    prefix = ".".join([FACTORY, "<locals>", FACTORY, class_name, own_name])
    rename = _Rename({*context.names.generated, own_name}, prefix, fn.__qualname__, context.inner_names)
    return rename.of(code, like.co_name), changed


def instantiate(code: CodeType, fn: FunctionType, extra: Mapping[str, object]) -> FunctionType:
    """A function of `code` with the globals, cells, defaults and attributes of `fn`; `extra`: more free variables."""
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    cells.update((name, CellType(value)) for name, value in extra.items())
    cells.setdefault("__class__", CellType())  # `super` makes it free in any class, `fn` was perhaps written in none
    missing = [name for name in code.co_freevars if name not in cells]
    if missing:
        raise InternalError(f"`{fn.__qualname__}` has unknown free variables {missing}")
    closure = tuple(cells[name] for name in code.co_freevars)
    result = FunctionType(code, fn.__globals__, fn.__name__, None, closure)
    for attribute in _COPIED:
        if hasattr(fn, attribute):
            setattr(result, attribute, getattr(fn, attribute))
    return result


def _module(tree: Node, free: Sequence[str], class_name: str) -> Node:
    template = """
        def factory(variables):
            class factory:
                class name:
                    body
    """
    holes = {"factory": FACTORY, "variables": list(free), "name": class_name, "body": [_bare(tree)]}
    factory = quote(template, at=tree, **holes)
    return gast.Module(body=factory, type_ignores=[])


def _bare(tree: Node) -> Node:
    """The definition without what runs around it: decorators, defaults, annotations, type parameters."""
    bare = copy.copy(tree)
    bare.args = copy_tree(tree.args)
    bare.args.defaults = []
    bare.args.kw_defaults = [None] * len(bare.args.kwonlyargs)
    if isinstance(tree, gast.Lambda):
        return quote("target = value", at=tree, value=bare)[0]
    every = [*bare.args.args, *bare.args.posonlyargs, *bare.args.kwonlyargs, bare.args.vararg, bare.args.kwarg]
    for arg in filter(None, every):
        arg.annotation = None
    bare.decorator_list, bare.returns, bare.type_params = [], None, []
    return bare


class _Rename:
    """Gives code objects the names they would have in the user's source: generated functions vanish from them."""

    def __init__(self, generated: Set[str], prefix: str, qualname: str, inner: Mapping[tuple[int, int], str]) -> None:
        self.generated = generated
        self.prefix = prefix
        self.qualname = qualname
        self.inner = inner

    def of(self, code: CodeType, user_function: str) -> CodeType:
        """`code` renamed, inner code objects included; `user_function` is the user's function it is part of."""
        name = self._name(code, user_function)
        consts = tuple(self._const(const, name) for const in code.co_consts)
        changed: Mapping[str, str] = {}
        if hasattr(code, "co_qualname"):  # Python 3.11; in 3.10 qualified names are only string constants
            changed = {"co_qualname": self._qualified(code.co_qualname)}
        return code.replace(co_name=name, co_consts=consts, **changed)  # type: ignore[arg-type]

    def _name(self, code: CodeType, user_function: str) -> str:
        """That of the user's code which it is or, if it is made by conversion, belongs to."""
        if code.co_name in self.generated:
            return user_function
        if code.co_name != "<lambda>":
            return code.co_name
        positions = getattr(code, "co_positions", None)
        if positions is None:  # Python 3.10 knows lines alone
            lines = {line for _, _, line in code.co_lines()}
            found = {name for (line, _), name in self.inner.items() if line in lines}
            return found.pop() if len(found) == 1 else code.co_name if found else user_function
        starts = ((line, column) for line, _, column, end in positions() if column is not None and end)
        return self.inner.get(min(starts, default=(0, 0)), user_function)

    def _const(self, const: object, user_function: str) -> object:
        if isinstance(const, CodeType):
            return self.of(const, user_function)
        if isinstance(const, str) and const.startswith(self.prefix):
            return self._qualified(const)
        return const

    def _qualified(self, qualname: str) -> str:
        inner = qualname.removeprefix(self.prefix).split(".<locals>.")
        kept = [part for part in inner[1:] if part not in self.generated]
        return ".<locals>.".join([self.qualname, *kept])
