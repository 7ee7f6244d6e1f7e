"""Trees kept for `fn.code`: the text is the tree's, and nothing of the tree stays in memory."""

from __future__ import annotations

import ast
import gc

import gast
import pytest

from vitrify.transformers import convert_code
from vitrify.transformers.exchange import to_gast
from vitrify.transformers.kept_tree import KeptTree
from vitrify.transformers.render import render

SOURCE = "def f(x, *rest, key=1):\n    y = [a for a in rest if a > 0]\n    return x if y else f'{x}: {key!r}'\n"


def tree_of(source):
    return to_gast(ast.parse(source)).body[0]


def test_the_text_is_that_of_the_tree():
    tree = tree_of(SOURCE)
    assert KeptTree(tree).source == render(tree)


def test_a_tree_changed_afterwards_does_not_change_what_was_kept():
    tree = tree_of(SOURCE)
    kept, before = KeptTree(tree), render(tree)
    tree.body = [gast.Pass()]
    assert kept.source == before


def looped(x, n):
    for _ in range(n):
        if x.sum() > 0:
            x = x - 1
        else:
            x = x * 2
    return x


@pytest.fixture
def nodes():
    """A function that counts the syntax nodes in memory."""

    def count():
        gc.collect()
        return sum(isinstance(o, gast.AST) for o in gc.get_objects())

    return count


def test_converted_functions_keep_no_syntax_nodes(nodes):
    convert_code(looped)  # what converting keeps once: templates
    before = nodes()
    made = convert_code(looped)
    assert nodes() == before
    assert "looped" in made.source and len(made.tree) < 4096
