"""An item set on one path of a tensor's decision is left on others as a call finds it, not as it was when traced."""

import types

import pytest

import vitrify as paddle


class Board:
    shared = {"n": 2}

    def __init__(self):
        self.counts = {"n": 2}
        self.rows = [1, 2]
        self.nested = {"inner": {"n": 2}}


def of_a_dict(board, x):
    if x[0] >= 1:
        board.counts["n"] = 1
    return board.counts


def of_a_list(board, x):
    if x[0] >= 1:
        board.rows[1] = 7
    return board.rows


def of_a_dict_in_a_dict(board, x):
    if x[0] >= 1:
        board.nested["inner"]["n"] = 1
    return board.nested


def of_the_class(board, x):
    if x[0] >= 1:
        board.shared["n"] = 1
    return board.shared


def in_a_loop(board, x):
    for i in range(2):
        if x[0] >= 1:
            board.counts["n"] = i
    return board.counts


def in_a_tensors_loop(board, x):
    i = x[0] * 0
    while i < x[0]:
        board.counts["n"] = 5
        i = i + 1
    return board.counts


def behind_an_early_return(board, x):
    if x[0] < 1:
        return board.counts
    board.counts["n"] = 1
    return board.counts


def deleted(board, x):
    if x[0] >= 1 and "n" in board.counts:
        del board.counts["n"]
    return board.counts


FUNCTIONS = [
    of_a_dict, of_a_list, of_a_dict_in_a_dict, of_the_class, in_a_loop, in_a_tensors_loop, behind_an_early_return,
    deleted,
]  # fmt: skip


def history(function, wrap):
    """What the board holds after each call; between two of them somebody else writes to it."""
    board = Board()
    Board.shared = {"n": 2}
    static = wrap(lambda x: function(board, x) and None)
    found = []
    for step, value in enumerate((0.5, 2.0, 0.5, 0.5, 2.0, 0.5)):
        static(paddle.to_tensor([value]))
        found.append(repr((board.shared, vars(board))))
        if step == 3:
            board.counts["n"] = board.rows[1] = board.nested["inner"]["n"] = Board.shared["n"] = 9
    return found


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_other_paths_leave_it_as_it_is(function, full_graph):
    static = history(function, lambda f: paddle.jit.to_static(f, full_graph=full_graph))
    assert static == history(function, lambda f: f)


@pytest.mark.parametrize("full_graph", [True, False])
def test_of_a_namespace_that_a_function_closes_over(full_graph):
    found = []
    for wrap in (lambda f: f, lambda f: paddle.jit.to_static(f, full_graph=full_graph)):
        config = types.SimpleNamespace(flags={"b": 2})

        def switch(x, config=config):
            if x.min() >= 1:
                config.flags["b"] = 1

        function = wrap(lambda x, switch=switch: switch(x))
        seen = []
        for value in (0.5, 1.5, 0.5, 0.5):
            function(paddle.to_tensor([value]))
            seen.append(config.flags["b"])
        found.append(seen)
    assert found[0] == found[1] == [2, 1, 1, 1]
