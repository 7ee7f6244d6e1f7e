"""Random numbers of Python's and NumPy's own generators, drawn by each run of the program in the order of the source.

A draw is an operator with an effect: it happens once, where eager code draws, and moves the generator on as there. What
kind of value it gives is learned from twins of the generator, so that nothing is drawn while a program is built.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError
from ...eager.host_ops import draw_op
from ...ir.graph_tensor import as_number
from ..values.deferred import Call, captured, record
from .changes import says_it_writes
from .generators import of_run
from .value import SAMPLES, HostValue, Missing, quietly, sample_of

GENERATORS = (random.Random, random.SystemRandom, np.random.RandomState, np.random.Generator)


def drawn(function: Callable[..., Any], owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `function(owner, *args, **kwargs)` gives when the program runs: a number, or numbers in an array or list.

    None where it gives anything else. Raises what it raises for each twin of the generator `owner`.
    """
    samples, errors = [], []
    for number in range(SAMPLES):
        try:
            given = [_twin(owner, number), *(sample_of(a, number) for a in args)]
            named = {name: sample_of(v, number) for name, v in kwargs.items()}
            samples.append(quietly(function, given, named))
        except Exception as err:  # noqa: BLE001 - library code may raise anything on data it does not like
            if says_it_writes(err):
                return None
            errors.append(err)
            samples.append(Missing)
    if len(errors) == SAMPLES:
        raise errors[0]
    found = HostValue(None, tuple(samples))
    try:
        form, meta = found.form(), found.meta(in_full=True)
    except UnsupportedError:
        return None
    drawing, operands = tuple(map(captured, args)), {name: captured(v) for name, v in kwargs.items()}
    own = of_run(owner, function)
    node = Call(function, (owner, *drawing), operands) if own is None else Call(own.function, drawing, operands)
    (out,) = record(draw_op, attrs={"meta": meta}, call=node)
    if form == "number":
        return as_number(out)
    found.hold(out)
    return found


def _twin(owner: Any, number: int) -> Any:
    """A generator of the same kind, from which nobody else draws."""
    if isinstance(owner, np.random.Generator):
        return np.random.default_rng(number)
    return np.random.RandomState(number) if isinstance(owner, np.random.RandomState) else random.Random(number)
