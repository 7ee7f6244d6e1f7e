"""Trees of gast's and Python's made from each other: exactly what gast makes, and a place for each node."""

import ast
from pathlib import Path

import gast
import pytest

from vitrify.transformers.exchange import to_compile, to_gast, to_plain

FILES = sorted(Path(__file__).parent.glob("*.py"))


def dumped(tree):
    return ast.dump(tree, include_attributes=True)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_trees_are_those_of_gast(path):
    plain = ast.parse(path.read_text(encoding="utf-8"), type_comments=True)
    tree = gast.ast_to_gast(plain)
    assert dumped(to_gast(plain)) == dumped(tree)
    assert dumped(to_plain(tree)) == dumped(gast.gast_to_ast(tree))


def test_names_and_calls_are_those_of_the_new_tree():
    tree = to_gast(ast.parse("a = f(b).g(c)"))
    plain, names, calls = to_compile(tree)
    inside = set(ast.walk(plain))
    assert [name.id for name in names] == ["a", "f", "b", "c"]
    assert len(calls) == 2 and inside.issuperset(names) and inside.issuperset(calls)


@pytest.mark.parametrize("cls", [gast.FunctionDef, gast.Name, gast.Call, gast.ExceptHandler])
def test_nodes_without_a_place_get_that_of_the_node_around_them(cls):
    text = "def f(a):\n    try:\n        g(a)\n    except E as e:\n        pass"
    tree = to_gast(ast.parse(text))
    for node in ast.walk(tree):
        if isinstance(node, cls):
            for attribute in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
                vars(node).pop(attribute, None)
    expected = ast.fix_missing_locations(gast.gast_to_ast(tree))
    assert dumped(to_compile(tree)[0]) == dumped(expected)
    compile(to_compile(tree)[0], "f.py", "exec")
