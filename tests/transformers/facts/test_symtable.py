"""Scopes against the compiler's own: `symtable` on snippets for every binding form, and on the standard library."""

from __future__ import annotations

import ast
import symtable
import sys
import sysconfig
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import gast
import pytest

from vitrify.transformers.facts import free_names, scope_of
from vitrify.transformers.names import mangle
from vitrify.transformers.nodes import FUNCTIONS, Node, all_nodes, children

COMPREHENSIONS = {"listcomp", "setcomp", "dictcomp", "genexpr"}
STDLIB = Path(sysconfig.get_paths()["stdlib"])
SAMPLE = (
    "argparse", "ast", "asyncio/base_events", "bdb", "collections/__init__", "contextlib", "dataclasses", "difflib",
    "dis", "doctest", "enum", "functools", "inspect", "json/decoder", "logging/__init__", "multiprocessing/pool",
    "optparse", "pdb", "pickle", "statistics", "subprocess", "tarfile", "threading", "tokenize", "traceback",
    "typing", "unittest/mock", "weakref", "zipfile",
)  # fmt: skip

SNIPPETS = {
    "parameters": "def f(a, b=d1, /, c=d2, *args, k, m=d3, **kw): return a, b, c, args, k, m, kw",
    "annotated parameters": "def f(a: A, *args: B, k: C = D, **kw: E) -> F: return a",
    "assignment": "def f():\n a = b = 1\n c, (d, *e) = a\n [g, h] = b\n o.x = 1\n o[i] = 2\n (p) = 3",
    "augmented": "def f():\n a += 1\n o.x += a\n o[i] += 1",
    "annotated": "def f():\n a: int\n b: X = 1\n o.x: Y = 2\n (c): int = 3",
    "for": "def f():\n for a, *b in c: pass\n else: d = a\n for o.x in y: pass",
    "while": "def f():\n while a:\n  b = 1\n  break\n else: c = 2",
    "with": "def f():\n with a as b, c as (d, *e), g() as o.x: pass\n with h: pass",
    "try": "def f():\n try: a = 1\n except E as b: c = b\n except (G, H): pass\n else: d = 1\n finally: e = 1",
    "import": "def f():\n import a, b.c, d.e as g\n from h import i, j as k\n from . import l",
    "nested function": "def f():\n def g(x=a): return b\n b = 1\n return g",
    "function that is read later": "def f():\n def g(): return g, h\n return g",
    "async function": "async def f(a):\n async for b in c: pass\n"
    " async with d as e: await g\n return [x async for x in h]",
    "class": "def f():\n class A(b, metaclass=c):\n  d = e\n  def m(self): return d, g\n  h = d\n g = 1\n return A",
    "class reads what it binds": "def f():\n a = 1\n class A: a = a\n return A",
    "class and free names": "def f():\n a = 1\n class A:\n"
    "  b = a\n  def m(self): return __class__, super().m()\n return A",
    "class in class": "def f():\n x = 1\n class A:\n  y = x\n"
    "  class B:\n   z = y, x\n   def m(self): return x, y, z\n return A",
    "comprehension in a class": "def f():\n xs = 1\n class A:\n  y = [x for x in xs]\n  z = [w for _ in xs]\n return A",
    "class with a global": "def f():\n x = 1\n class A:\n  global x\n  x = 2\n return x",
    "class with a nonlocal": "def f():\n x = 1\n class A:\n  nonlocal x\n  x = 2\n return x",
    "lambda": "def f(a):\n g = lambda x, y=b, *c, d, **e: (x, y, c, d, e, a, h)\n return g",
    "lambda in a default": "def f(a=lambda b: (b, c)): return a",
    "lambda in a comprehension": "def f(a): return [lambda y: x + y + a for x in a]",
    "walrus": "def f():\n if (a := b): pass\n while (c := a): pass\n return (d := c)",
    "walrus in a comprehension": "def f(a): return [(b := x) for x in a if (c := x)]",
    "walrus in nested comprehensions": "def f(a): return [[(b := y) for y in x] for x in a]",
    "walrus in a lambda": "def f(a): return lambda: (b := a)",
    "walrus in a generator": "def f(a): return any((b := x) for x in a) and b",
    "walrus of a nonlocal": "def f():\n b = 1\n def g(a):\n  nonlocal b\n  return [b := x for x in a]\n return g",
    "walrus of a global": "def f(a):\n global b\n return [b := x for x in a]",
    "walrus in the comprehension of a lambda": "def f(a): return lambda: [(b := x) for x in a]",
    "comprehensions": "def f(a): return [x + y for x in a for y in x if z], {x: w for x in a}, {v for v in v}",
    "comprehension shadows": "def f(x):\n y = [x for x in x]\n return x, y",
    "comprehension shadows a name used outside": "def f(a):\n x = 1\n return [x for x in a], [x for _ in a]",
    "comprehension captured": "def f(a):\n b = 1\n def g(): return [b for _ in a]\n return g",
    "comprehension in a comprehension": "def f(a): return [[x + y + b for y in x] for x in a]",
    "comprehension over a comprehension": "def f(a): return [x for x in [y for y in a if b]]",
    "comprehension targets": "def f(a): return [x for x, (y, *z) in a if y if z]",
    "comprehension with a place as target": "def f(a, o): return [0 for o.x in a for o[i] in a]",
    "generator": "def f(a):\n b = yield a\n c = yield from b\n return c",
    "global": "def f():\n global a, b\n a = 1\n return b, c",
    "global in a nested function": "def f():\n a = 1\n def g():\n  global a\n  return a\n return g",
    "global around a nested function": "def f():\n global a\n def g(): return a\n return g",
    "nonlocal": "def f():\n a = b = 1\n def g():\n  nonlocal a\n  a = b\n"
    "  def h():\n   nonlocal a\n   a += 1\n  return h\n return g",
    "nonlocal without a use": "def f():\n a = 1\n def g():\n  nonlocal a\n return g",
    "nonlocal far away": "def f():\n a = 1\n def g():\n  def h():\n   nonlocal a\n   a = 2\n  return h\n return g",
    "delete": "def f(p):\n del a\n del p, b.c, d[e]\n del (g, [h])",
    "match": "def f(a):\n match a:\n  case [b, *c]: pass\n  case {'k': d, **e}: pass\n  case G(h, x=i) | [h, i]: pass\n"
    "  case o.x: pass\n"
    "  case -1 | 'text' | None: pass\n  case (1 | 2) as j if k: pass\n  case [_, *_]: pass\n  case _: pass",
    "except deleted": "def f():\n try: pass\n except E as e: pass\n return e",
    "global loop variable": "def f(a):\n global i\n for i in a: pass",
    "decorators": "def f(a):\n @d(a)\n def g(): pass\n @e\n class h: pass",
    "string annotations": "def f():\n a: 'b' = 1\n return a",
    "f-string": "def f(a): return f'{a!r:>{b}} {[c for c in d]}'",
    "starred": "def f(a): return g(*a, **b), [*c], {**d}",
    "slices": "def f(a):\n a[b:c, d] = e",
    "docstring and pass": "def f():\n 'doc'\n pass",
    "private names": "class A:\n def f(self):\n  __x = 1\n  def g(): return __x\n  return g",
}
NEWER = {
    (3, 11): {
        "except star": "def f():\n try: a = 1\n except* E as b: c = b",
        "starred index": "def f(a): return a[*b]",
        "starred annotation": "def f(*args: *Ts): return args",
    },
    (3, 12): {
        "type parameters": "def f[T: B, *Ts, **P](a: T, *b: *Ts) -> T: return a, T, Ts, P",
        "type parameters of an inner function": "def f(a):\n def g[T: a](x: T = d) -> T: return T, x\n return g",
        "type parameters of a class": "def f(a):\n class A[T](B[T], k=a):\n"
        "  x: T\n  def m(self, y: T): return T, a\n return A",
        "type alias": "def f(a):\n type X = dict[a, b]\n type Y[T: c] = list[T]\n return X, Y",
        "type alias of itself": "def f():\n type X = X | None\n return X",
        "type parameter that shadows": "def f(T):\n def g[T](x: T): return T\n return g, T",
        "lambda in a bound": "def f(a):\n def g[T: (lambda: (a, b))](): pass\n return g",
    },
    (3, 13): {
        "type parameter defaults": "def f(a):\n def g[T = a, *Ts = *b, **P = [c]](x: T): return P\n return g",
    },
}
for version, snippets in NEWER.items():
    if sys.version_info >= version:
        SNIPPETS |= snippets


Facts = dict[str, frozenset[str]]
HIDDEN = {"__class__", "__classdict__", "__type_params__"}
INLINES = sys.version_info >= (3, 12)  # PEP 709: tables of functions list the variables of their comprehensions, too


def definitions(node: Node, class_name: str | None = None) -> Iterator[tuple[Node, str | None]]:
    """Every function and lambda of a tree, with the class whose body it stands in."""
    if isinstance(node, (*FUNCTIONS, gast.Lambda)):
        yield node, class_name
    for child in children(node):
        yield from definitions(child, node.name if isinstance(node, gast.ClassDef) else class_name)


def ours(fn: Node, class_name: str | None) -> Facts:
    """What we say about a function."""
    scope = scope_of(fn)
    facts = {
        "params": scope.params,
        "locals": scope.locals,
        "globals": scope.globals,
        "nonlocals": scope.nonlocals,
        "free": free_names(fn) - HIDDEN,
    }
    return {key: frozenset(mangle(class_name, name) for name in names) for key, names in facts.items()}


def compilers(table: symtable.Function) -> Facts:
    """What the compiler says about a function, in the same terms."""
    symbols = [s for s in table.get_symbols() if not s.get_name().startswith(".")]
    return {
        "params": frozenset(table.get_parameters()),
        "locals": frozenset(s.get_name() for s in symbols if s.is_local() or s.is_parameter()),
        "globals": frozenset(s.get_name() for s in symbols if s.is_declared_global()),
        "nonlocals": frozenset(s.get_name() for s in symbols if s.is_nonlocal()),
        "free": frozenset(taken_from_outside(table) - HIDDEN),
    }


def taken_from_outside(table: symtable.SymbolTable) -> set[str]:
    """Names that a scope, or a scope inside it, takes from scopes around it or from the globals."""
    symbols = {s.get_name(): s for s in table.get_symbols() if not s.get_name().startswith(".")}
    taken = {name for name, s in symbols.items() if (s.is_free() or s.is_global()) and not s.is_declared_global()}
    own = {name for name, s in symbols.items() if s.is_local() or s.is_declared_global()}
    for child in table.get_children():
        inner = taken_from_outside(child)
        taken |= inner if table.get_type() == "class" else inner - own
    return taken


def tables(table: symtable.SymbolTable) -> Iterator[symtable.Function]:
    """The tables of functions and lambdas in `table`."""
    for child in table.get_children():
        if isinstance(child, symtable.Function) and child.get_name() not in COMPREHENSIONS:
            yield child
        yield from tables(child)


def leeway(fn: Node, class_name: str | None) -> tuple[set[str], set[str]]:
    """Names of which a table says more: of inlined comprehensions; of type parameters and idle annotations."""
    loops = [node.target for node in all_nodes(fn) if isinstance(node, gast.comprehension)] if INLINES else []
    notes = [node.annotation for node in all_nodes(fn) if isinstance(node, gast.AnnAssign)]
    names = [{n.id for root in roots for n in all_nodes(root) if isinstance(n, gast.Name)} for roots in (loops, notes)]
    names[1] |= {param.name for param in getattr(fn, "type_params", [])}
    return {mangle(class_name, name) for name in names[0]}, {mangle(class_name, name) for name in names[1]}


def check(text: str, filename: str = "<snippet>") -> int:
    """Compare all functions of a module; how many there were. Functions of one name on one line go in any order."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = gast.ast_to_gast(ast.parse(text))
        top = symtable.symtable(text, filename, "exec")
    said = defaultdict(list)
    for table in tables(top):
        said[table.get_name(), table.get_lineno()].append(compilers(table))
    count = 0
    for fn, class_name in definitions(tree):
        count += 1
        key = (mangle(class_name, getattr(fn, "name", "lambda")), fn.lineno)
        found, candidates = ours(fn, class_name), said[key] or said[getattr(fn, "name", "lambda"), fn.lineno]
        inlined, unevaluated = leeway(fn, class_name)
        matching = [facts for facts in candidates if agree(found, facts, inlined, unevaluated)]
        assert matching, f"{filename}:{fn.lineno} {key[0]}: {found} != {candidates}"
    return count


def agree(found: Facts, said: Facts, inlined: set[str], unevaluated: set[str]) -> bool:
    exact = all(found[key] == said[key] for key in ("params", "globals", "nonlocals"))
    same_locals = found["locals"] <= said["locals"] <= found["locals"] | inlined
    return exact and same_locals and found["free"] <= said["free"] | inlined <= found["free"] | inlined | unevaluated


@pytest.mark.parametrize("name", SNIPPETS)
def test_snippet(name):
    assert check(SNIPPETS[name]) >= 1


@pytest.mark.parametrize("name", SAMPLE)
def test_standard_library(name):
    path = STDLIB / f"{name}.py"
    if not path.exists():  # later versions make packages of some modules
        path = STDLIB / name / "__init__.py"
    assert check(path.read_text(encoding="utf-8"), str(path)) > 3
