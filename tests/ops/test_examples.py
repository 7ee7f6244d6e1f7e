"""The examples of functions made from tables run, too: doctest sees only those that a `def` in their module made."""

import doctest

import pytest

from vitrify.nn import functional
from vitrify.ops.methods import FAMILIES, TensorMethods


def is_from_a_table(value, family):
    return getattr(value, "__module__", None) == family.__name__ and value.__globals__ is not vars(family)


FUNCTIONS = (
    {
        f"{family.__name__}.{name}": value
        for family in FAMILIES
        for name, value in vars(family).items()
        if ">>> " in (getattr(value, "__doc__", None) or "") and is_from_a_table(value, family)
    }
    | {
        f"Tensor.{name}": value
        for name, value in vars(TensorMethods).items()
        if getattr(value, "__module__", None) in ("vitrify.ops.define", "vitrify.ops.casting") and value.__doc__
    }
    | {
        f"functional.{name}": value
        for name, value in vars(functional).items()
        if getattr(value, "__module__", None) == "vitrify.ops.define"
    }
)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_example(name):
    assert ">>> " in FUNCTIONS[name].__doc__
    finder = doctest.DocTestFinder(recurse=False)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for example in finder.find(FUNCTIONS[name], name, module=False, globs={}):
        assert runner.run(example).failed == 0
