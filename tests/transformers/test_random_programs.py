"""Random programs, converted, do what they do unconverted: value, exception, and every observable event in order."""

from __future__ import annotations

import contextlib
import linecache
from types import FunctionType

import pytest

from tests.transformers.programs import OutOfFuel, World, load, program_source
from tests.transformers.python_helpers import PythonHelpers
from tests.transformers.shrink import shrink
from vitrify.core.errors import InternalError, UnsupportedError
from vitrify.transformers import convert_function, source_of

ARGUMENTS = ((0, 1), (1, 2), (3, -2))
BATCH = 50


def observe(fn: FunctionType, args: tuple[int, ...]) -> tuple[object, ...]:
    """Everything that can be seen of one run."""
    world = World()
    names = {"log": world.log, "tick": world.tick, "box": world.box, "items": world.items, "manager": world.manager}
    fn.__globals__.update(names, suppress=contextlib.suppress)
    try:
        result: tuple[object, ...] = ("value", repr(fn(*args))[:200])
    except OutOfFuel:
        result = ("out of fuel",)
    except NameError:
        result = ("unbound",)
    except Exception as err:  # noqa: BLE001 - whatever it is, both must raise it
        result = (type(err), "" if isinstance(err, (TypeError, AttributeError)) else str(err)[:200])
    return *result, world.events, repr(world.box.x)[:200], repr(world.items)[:200]


def difference(text: str, seed: int = -1) -> str | None:
    """What converting `text` changes, if anything."""
    original = load(text, seed)
    try:
        converted = convert_function(original, PythonHelpers(deep=False))
    except UnsupportedError:
        return None
    for args in ARGUMENTS:
        expected, found = observe(original, args), observe(converted, args)
        if found != expected:
            return f"program {seed}, arguments {args}\n{text}\n{source_of(converted)}\n{expected}\n{found}"
    linecache.cache.pop(f"<program {seed}>")
    return None


def fails(text: str) -> bool:
    """Whether converting `text` changes it (or is impossible)."""
    try:
        return difference(text) is not None
    except (InternalError, SyntaxError, UnboundLocalError):
        return False


def check(seed: int) -> bool:
    """Compare program `seed` with its converted form; whether there was one to compare."""
    text = program_source(seed)
    if text is None:
        return False
    assert difference(text, seed) is None, difference(shrink(text, fails))
    return True


@pytest.mark.parametrize("batch", [0, *(pytest.param(batch, marks=pytest.mark.slow) for batch in range(1, 8))])
def test_random_programs(batch: int) -> None:
    compared = sum(check(seed) for seed in range(batch * BATCH, (batch + 1) * BATCH))
    assert compared > BATCH / 2
