"""Texts to which many branches add: what a trace makes of them grows with the branches, not with their paths."""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare

ROWS = [([1.0, 2.0],), ([-1.0, -2.0],), ([5.0, 6.0],)]


def adds_names(x):
    text = ""
    for i, name in enumerate("abcdefgh"):
        if x[0] > i:
            text += name
        if x[1] > i:
            text += name.upper()
    print(text)
    return text, text == "aAB"


def adds_what_a_tensor_chooses(x):
    text = ""
    for i in range(8):
        key = ("p" if x.sum() > i else "n") + ("q" if x[0] > i else "m")
        text += key
    return text


def shows_numbers(x):
    text = "sums"
    for i in range(8):
        text = f"{text} {x.sum() + i}" if x[0] > i else f"{text}, {i}"
    return text


@pytest.mark.parametrize("function", [adds_names, adds_what_a_tensor_chooses, shows_numbers])
def test_texts_are_those_of_eager_code(function):
    compare(function, *ROWS)


@pytest.mark.parametrize("choices", [1, 2])
def test_programs_grow_with_the_number_of_branches(choices):
    def operators(count):
        def function(x):
            text = ""
            for i in range(count):
                text += ("p" if x[0] > i else "n") + ("q" if choices > 1 and x[1] > i else "m")
            return text

        static = paddle.jit.to_static(function, full_graph=True)
        static(paddle.to_tensor([1.0, 2.0]))
        (program,) = [concrete.program for concrete in static.program_cache.concrete_programs()]
        return sum(len(block.ops) for block in program.blocks)

    few, more, most = operators(8), operators(16), operators(24)
    assert most - more <= (more - few) * 1.2
