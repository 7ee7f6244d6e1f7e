"""The examples of Layers that tables make run, too: the text of their modules shows none."""

import doctest

import pytest

import vitrify as paddle
from vitrify.nn.layer.examples import _CALLS


@pytest.mark.parametrize("name", _CALLS)
def test_example(name):
    layer = getattr(paddle.nn, name, None) or getattr(paddle.vision.ops, name)
    finder = doctest.DocTestFinder(recurse=False)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    examples = [test for test in finder.find(layer, name, module=False, globs={}) if test.examples]
    assert examples and all(runner.run(test).failed == 0 for test in examples)
