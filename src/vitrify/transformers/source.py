"""Where a function's source stands: the node of its definition in the tree of the statements around it.

Parsing all that stands around a function in its file, not the text of the function, keeps line and column numbers,
multi-line strings and the class around a method as they are, and tells apart several lambdas on one line. What is kept
of a file is where its statements begin, not their trees: those of a program's files are millions of objects, which
every search for cycles goes over.
"""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
import os
import re
import time
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from operator import attrgetter
from types import CodeType, FunctionType

from ..core.cache import BoundedCache
from ..core.identity import WeakIdentityMap
from ..core.source import Loc
from .compile import compile_tree, inner_code
from .errors import NoSourceError, UnsupportedFunctionError
from .names import mangle
from .nodes import Node, children

_NO_SOURCE_HINT = (
    "define the function in a file or notebook cell; code typed into a plain REPL or made by exec() has no source"
)
_NAME_OF_ANY_TEXT = "<string>"
"""What exec() names every text; from Python 3.13 on, lines of this name are there, those of `python -c`."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
"""A line as Python's parser counts them; `str.splitlines` knows more ends of lines."""
_ASYNCHRONOUS = {
    inspect.CO_COROUTINE: "coroutines (`async def`)",
    inspect.CO_ASYNC_GENERATOR: "async generators",
}


@dataclass(frozen=True)
class Definition:
    """A function's definition: its (ast) node and the name of the class whose body it stands in."""

    node: Node
    class_name: str | None


_REMEMBERED: WeakIdentityMap[CodeType, Definition] = WeakIdentityMap()
"""Definitions of code that stands in no file as it is: segments of split functions."""


def remember(code: CodeType, definition: Definition) -> None:
    """Let `find_definition` give `definition` for functions of `code`."""
    _REMEMBERED.put(code, definition)


def find_definition(fn: FunctionType) -> Definition:
    """The definition of `fn`. Raises NoSourceError when it is not available or no longer what was compiled."""
    code = fn.__code__
    remembered = _REMEMBERED.get(code)
    if remembered is not None:
        return remembered
    candidates = _defined_at(code.co_filename, _file_text(fn), code.co_name, code.co_firstlineno)
    matching = [found for found in candidates if _parameter_names(found) == _code_parameters(code)]
    may_be_another = code.co_filename == _NAME_OF_ANY_TEXT
    if len(matching) == 1 and (may_be_another or _is_young(code.co_filename)):
        matching = matching if _is_still_there(_file_text(fn), code) else []
    if not matching and may_be_another:
        raise _not_available(code)
    if not matching:
        raise NoSourceError(
            f"the source of function `{code.co_name}` is not what was compiled: "
            f"no such definition at {code.co_filename}:{code.co_firstlineno}",
            hint="the file has changed since it was imported; import it again",
        )
    return matching[0] if len(matching) == 1 else _same_code(matching, code)


def refuse_unconvertible(fn: FunctionType) -> None:
    """Raise UnsupportedFunctionError for coroutines, naming the line."""
    _refuse(fn.__code__, _ASYNCHRONOUS)


def refuse_generator(fn: FunctionType) -> None:
    """Raise UnsupportedFunctionError for a generator function: as a whole it is no program, though its parts are."""
    _refuse(fn.__code__, {inspect.CO_GENERATOR: "generator functions"})


def _refuse(code: CodeType, kinds: dict[int, str]) -> None:
    for flag, kind in kinds.items():
        if code.co_flags & flag:
            raise UnsupportedFunctionError(
                f"{kind} are not converted: `{code.co_name}`",
                loc=loc_of(code),
                hint="call it from converted code as it is, or return a list instead",
            )


def loc_of(code: CodeType) -> Loc:
    """The location of a code object's first line."""
    return Loc(code.co_filename, code.co_firstlineno, code.co_name)


def loc_of_node(node: Node, code: CodeType) -> Loc:
    """The location of a statement or expression in the function compiled to `code`."""
    col, end = (node.col_offset, node.end_col_offset) if node.lineno == node.end_lineno else (None, None)
    return Loc(code.co_filename, node.lineno, code.co_name, col, end)


def _file_text(fn: FunctionType) -> str:
    code = fn.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, fn.__globals__)
    if not lines:
        raise _not_available(code)
    return "".join(lines)


def _not_available(code: CodeType) -> NoSourceError:
    where = f"{code.co_filename}:{code.co_firstlineno}"
    return NoSourceError(f"the source of function `{code.co_name}` ({where}) is not available", hint=_NO_SOURCE_HINT)


@dataclass(frozen=True)
class _Piece:
    """One statement of a file, or several that share a line, with the empty lines and comments before it."""

    last: int
    """The number of its last line."""
    begin: int
    end: int
    """Where its text begins and ends in the file's."""


_PIECES: BoundedCache[tuple[str, str], tuple[_Piece, ...]] = BoundedCache("statements of files", limit=1024)
"""By file name and text, so that an edited file is a new entry."""

_Index = dict[tuple[str, int], tuple[Definition, ...]]
_INDEXES: BoundedCache[tuple[str, int], _Index] = BoundedCache("source definitions", limit=32)
"""By the text of a piece, and how many lines stand before it."""


def _defined_at(filename: str, text: str, name: str, line: int) -> tuple[Definition, ...]:
    """The definitions of a file that have this name and first line."""
    pieces = _PIECES.get_or_build((filename, text), lambda: _pieces(filename, text))
    number = bisect_left(pieces, line, key=attrgetter("last"))
    if number == len(pieces):
        return ()
    piece = pieces[number]
    before = pieces[number - 1].last if number else 0
    part = text[piece.begin : piece.end]
    return _INDEXES.get_or_build((part, before), lambda: _index(filename, part, before)).get((name, line), ())


def _pieces(filename: str, text: str) -> tuple[_Piece, ...]:
    """The pieces of a file, in order."""
    try:
        tree = ast.parse(text, filename)
    except SyntaxError as err:
        raise NoSourceError(f"the source file {filename} does not parse: {err.msg}", hint="reload the module") from err
    lines = _LINE.findall(text)
    ends = [0, *accumulate(map(len, lines))]
    found: list[_Piece] = []
    for stmt in tree.body:
        before = found[-1].last if found else 0
        if stmt.lineno <= before:
            before = found[-2].last if len(found) > 1 else 0
            found.pop()
        last = stmt.end_lineno or stmt.lineno
        found.append(_Piece(last, ends[before], ends[last]))
    return tuple(found)


def _index(filename: str, part: str, before: int) -> _Index:
    """All definitions in a piece behind so many lines of a file, by name and first line."""
    index: dict[tuple[str, int], list[Definition]] = {}
    for definition in _definitions(ast.parse("\n" * before + part, filename)):
        for key in _keys(definition.node):
            index.setdefault(key, []).append(definition)
    return {key: tuple(found) for key, found in index.items()}


def _definitions(tree: ast.AST) -> Iterator[Definition]:
    """The definitions in a tree, in the order of the source."""
    pending: list[tuple[ast.AST, str | None]] = [(tree, None)]
    while pending:
        node, class_name = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield Definition(node, class_name)
        elif isinstance(node, ast.ClassDef):
            class_name = node.name
        pending += [(child, class_name) for child in children(node)][::-1]


def _keys(node: Node) -> set[tuple[str, int]]:
    """A decorated function starts at its first decorator when Python compiled it, at `def` when we did."""
    if isinstance(node, ast.Lambda):
        return {("<lambda>", node.lineno)}
    return {(node.name, node.lineno), (node.name, min([node.lineno, *(d.lineno for d in node.decorator_list)]))}


def _parameter_names(definition: Definition) -> list[str]:
    args = definition.node.args
    plain = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    every = [*plain, *filter(None, (args.vararg, args.kwarg))]
    return [mangle(definition.class_name, arg.arg) for arg in every]


def _code_parameters(code: CodeType) -> list[str]:
    stars = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars])


def _same_code(candidates: list[Definition], code: CodeType) -> Definition:
    """Of several definitions on a line, the one that compiles to `code`, at its columns if these are known.

    Alone a definition compiles otherwise than in its file where it calls what that file imports; its names stay.
    """
    by_text = [found for found in candidates if _fingerprint(_compiled(found, code)) == _fingerprint(code)]
    by_place = [found for found in by_text or candidates if _contains_columns(found.node, code)]
    by_names = [found for found in candidates if _compiled(found, code).co_names == code.co_names]
    return (by_place or by_text or by_names or candidates)[0]


def _compiled(found: Definition, code: CodeType) -> CodeType:
    """The definition compiled with the same free variables as `code`, in a class of the same name."""
    node = found.node
    if getattr(node, "type_params", None):  # they would stand in a scope around the function
        node = copy.copy(node)
        node.type_params = []
    class_name = found.class_name or "_"
    factory, around = ast.parse(f"def factory():\n    pass\nclass {class_name}:\n    pass").body
    assert isinstance(factory, ast.FunctionDef) and isinstance(around, ast.ClassDef)
    factory.args.args = [ast.arg(arg=free) for free in code.co_freevars]
    around.body = [ast.copy_location(ast.Expr(value=node), node)] if isinstance(node, ast.Lambda) else [node]
    factory.body = [around]
    module = ast.fix_missing_locations(ast.Module(body=[factory], type_ignores=[]))
    return inner_code(compile_tree(module, code), ("factory", class_name, code.co_name))


_STARTED = time.time()


def _is_young(filename: str) -> bool:
    """Whether a file may have changed after code was imported from it: written since this process started."""
    try:
        return os.stat(filename).st_mtime > _STARTED - 1.0
    except OSError:  # a notebook cell has no file
        return False


_Places = dict[tuple[str, int], list[CodeType]]
_CODES: BoundedCache[tuple[str, str], _Places] = BoundedCache("compiled sources", limit=16)


def _is_still_there(text: str, code: CodeType) -> bool:
    """Whether compiling the file again gives `code`. (The whole file: how a name is imported changes the code.)"""
    places = _CODES.get_or_build((code.co_filename, text), lambda: _compiled_places(text, code))
    return any(_is_source_of(found, code) for found in places.get((code.co_name, code.co_firstlineno), ()))


def _compiled_places(text: str, like: CodeType) -> _Places:
    """The code of all functions of a file, by name and first line."""
    found: _Places = {}
    waiting = [compile_tree(text, like)]
    while waiting:
        code = waiting.pop()
        found.setdefault((code.co_name, code.co_firstlineno), []).append(code)
        waiting += [const for const in code.co_consts if isinstance(const, CodeType)]
    return found


def _is_source_of(compiled: CodeType, code: CodeType) -> bool:
    """Whether `code` is what the source gives, or more than that: pytest and other tools put in code of their own."""
    if _fingerprint(compiled) == _fingerprint(code):
        return True
    wanted, held = [
        [_without_path(c) for c in part.co_consts if not isinstance(c, CodeType)] for part in (compiled, code)
    ]
    has_all = set(compiled.co_names) <= set(code.co_names) and all(c in held for c in wanted)
    return has_all and len(code.co_code) > len(compiled.co_code)


def _fingerprint(code: CodeType) -> tuple[object, ...]:
    """What two compilations of one piece of source have in common wherever it stands on its line."""
    consts = tuple(_fingerprint(c) if isinstance(c, CodeType) else (type(c), _without_path(c)) for c in code.co_consts)
    return code.co_code, consts, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars


def _without_path(const: object) -> object:
    """A constant; of qualified names, which tell where a nested class stands, only what follows the function."""
    return const.rpartition("<locals>.")[2] if isinstance(const, str) else const


def _contains_columns(node: Node, code: CodeType) -> bool:
    """Whether the code's instructions lie within the columns of `node` (known from Python 3.11 on)."""
    positions = getattr(code, "co_positions", None)
    if positions is None:
        return False
    begin, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    places = [(line, col) for line, _, col, _ in positions() if line is not None and col]
    return bool(places) and all(begin <= place < end for place in places)
