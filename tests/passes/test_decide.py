"""Branches whose outcome follows are taken; all others stay, and results are the same."""

import numpy as np
import pytest

import vitrify as paddle
from tests.passes.programs import names, ran, same
from vitrify.ir.ssa_blocks import graph_of
from vitrify.ir.ssa_verify import verify_graph
from vitrify.passes.decide import decided


def graph_for(function, *specs):
    made = paddle.jit.to_static(function, input_spec=[paddle.static.InputSpec(*spec) for spec in specs])
    return graph_of(made.concrete_program.main_program.global_block())


def inner(graph):
    """The names of all operators, those in blocks included."""
    return [name for op in graph.ops for name in [op.op.name, *[n for g in op.regions for n in inner(g)]]]


def checked(graph, *arrays):
    """The decided graph, which is sound and gives the same."""
    found = decided(graph)
    verify_graph(found)
    for several in arrays:
        assert same(ran(found, several), ran(graph, several))
    return found


def test_what_a_question_was_answered_is_not_asked_again():
    def function(x):
        cache, is_there = None, x.sum() > 0
        if is_there:
            cache = x * 2
        y = x
        if is_there:
            if cache is None:
                y = y - 1
            else:
                y = y + cache
        return y

    graph = graph_for(function, ([3],))
    found = checked(graph, [np.float32([1, 2, 3])], [np.float32([-1, 2, -3])])
    assert inner(graph).count("if") == 3
    assert inner(found).count("if") == 2 and "subtract" not in inner(found)


def generate(x):
    """There is no cache in the first round, and none is kept behind the last."""
    cache, n = None, 0
    while n < 6:
        if cache is None:
            y = x
        else:
            y = x + cache
        n += 1
        x = paddle.concat([x, y[-1:]])[1:]
        if y.sum() > 40:
            break
        cache = y
    return x


def test_a_loop_that_goes_on_has_its_cache():
    graph = graph_for(generate, ([2],))
    arrays = [[np.float32([a, b])] for a, b in ((1, 2), (30, 20), (-4, 1), (12, 12))]
    found = checked(graph, *arrays)
    body = next(op for op in found.ops if op.op.name == "while").attrs["body"]
    before = next(op for op in graph.ops if op.op.name == "while").attrs["body"]
    assert names(before).count("if") > names(body).count("if") == 1  # whether it is the last round


def test_a_cache_that_some_round_loses_is_asked_about():
    def function(x):
        cache, n = x, 0
        while n < 4:
            if cache is None:
                x = x + 1
                cache = x
            else:
                x = x + cache
                cache = None
            n += 1
        return x

    graph = graph_for(function, ([2],))
    found = checked(graph, [np.float32([1, 2])], [np.float32([-3, 0])])
    assert inner(found).count("if") == inner(graph).count("if")


@pytest.mark.parametrize("stop", [True, False])
def test_what_is_read_behind_the_loop_is_what_stood_there_when_it_stopped(stop):
    def function(x):
        cache, n = paddle.zeros([2]), 0
        while n < 5:
            y = x + cache
            n += 1
            if y.sum() > 9:
                break
            cache = y
        return (cache, n) if stop else cache * 2

    checked(graph_for(function, ([2],)), *[[np.float32([a, a])] for a in (0, 1, 3, 7, -2)])


def test_a_condition_of_several_flags_decides_each():
    def function(x):
        done, kept, n = False, None, 0
        while not done and n < 5:
            if kept is None:
                kept = x
            else:
                kept = kept + x
            n += 1
            if kept.max() > 7:
                done = True
        return kept if kept is not None else x

    checked(graph_for(function, ([2],)), *[[np.float32([a, 1])] for a in (0, 1, 3, 8, -2)])


def test_what_has_no_branches_that_can_be_told_is_itself():
    def function(x):
        if x.sum() > 0:
            x = x * 2
        while x.sum() < 10:
            x = x + 1
        return x

    graph = graph_for(function, ([3],))
    assert decided(graph) is graph
