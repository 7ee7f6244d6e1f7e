"""Calls of a recursive function whose arguments differ in `stop_gradient` are calls of functions of their own."""

from __future__ import annotations

import pytest

import vitrify as paddle


def cut_off_by_each_call(x):
    def doubled(t, cuts):
        print(t)
        if t.sum() > 10:
            return t
        return doubled(t.detach() * 2 if cuts else t * 2, cuts)

    return doubled(x.abs(), True), doubled(x.abs(), False)


def added_to_zeros(x):
    def total(t, so_far):
        print(so_far)
        if t.sum() > 30:
            return so_far
        return total(t * 1.5, so_far + t)

    return total(x.abs(), paddle.zeros([3])), total(x.detach().abs(), paddle.zeros([3]))


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("function", [cut_off_by_each_call, added_to_zeros], ids=lambda f: f.__name__)
def test_recursion_shows_the_flags_of_each_call(function, full_graph, capsys):
    static = paddle.jit.to_static(function, full_graph=full_graph)
    for values in ([1.0, 2.0, 3.0], [8.0, -8.0, 0.5]) * 2:
        found = []
        for called in (function, static):
            x = paddle.to_tensor(values, stop_gradient=False)
            results = called(x)
            for result in results:
                if not result.stop_gradient:
                    result.sum().backward()
            grad = None if x.grad is None else x.grad.tolist()
            found.append(([r.stop_gradient for r in results], grad, capsys.readouterr().out))
        assert found[0] == found[1]
