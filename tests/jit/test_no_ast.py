"""Syntax trees are worked on once for each code object: neither a hit nor a retrace nor a new closure touches one."""

from __future__ import annotations

import ast

import gast
import pytest

import vitrify as paddle
from vitrify.transformers import compile as compiling
from vitrify.transformers import pipeline, source


def scaled(factor):
    def scale(x):
        if x.sum() > 0:
            return helper(x) * factor
        return x

    return scale


def helper(x):
    while x.sum() < 10:
        x = x * 2
    return x


@pytest.fixture
def no_trees(monkeypatch):
    """Make every way into syntax trees raise, when called."""

    def forbid():
        def touched(*args, **kwargs):
            raise AssertionError("a syntax tree was worked on")

        for module, names in (
            (ast, ("parse", "walk", "fix_missing_locations")),
            (gast, ("ast_to_gast", "gast_to_ast", "parse")),
            (pipeline, ("find_definition", "compile_function")),
            (source, ("_file_text",)),
            (compiling, ("compile_tree",)),
        ):
            for name in names:
                monkeypatch.setattr(module, name, touched)

    return forbid


def test_a_hit_works_on_no_tree(no_trees):
    f = paddle.jit.to_static(scaled(2), full_graph=True)
    x = paddle.to_tensor([1.0, 2.0])
    first = f(x).numpy()
    no_trees()
    assert (f(x).numpy() == first).all()


def test_a_retrace_works_on_no_tree(no_trees):
    f = paddle.jit.to_static(scaled(2), full_graph=True)
    f(paddle.to_tensor([1.0, 2.0]))
    no_trees()
    assert f(paddle.to_tensor([1.0, 2.0, 3.0])).shape == [3]
    assert f(paddle.to_tensor([[1.0, 2.0]])).shape == [1, 2]


def test_another_closure_of_the_same_code_works_on_no_tree(no_trees):
    x = paddle.to_tensor([6.0, 6.0])
    assert paddle.jit.to_static(scaled(2), full_graph=True)(x).sum() == 24
    no_trees()
    assert paddle.jit.to_static(scaled(3), full_graph=True)(x).sum() == 36


def test_trees_are_really_forbidden(no_trees):
    no_trees()
    with pytest.raises(AssertionError, match="syntax tree"):
        paddle.jit.to_static(lambda x: x + 1, full_graph=True)(paddle.to_tensor([1.0]))
