"""`vitrify diff`: whether two models hold the same and compute the same."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from ..inference import Config, Predictor
from ..ir.content_hash import content_hash
from ..ir.model_file import ModelFile
from ..ir.model_formats import read_any_model
from .progress import stage
from .run import inputs_of, run
from .show import native_model

MOST_LINES = 20


def main(given: argparse.Namespace) -> int:
    """Print what differs; 0 where outputs agree, 1 where not, or where they cannot be compared.

    exact: 1 also where programs or parameters differ, be it by the names of these.
    """
    paths, same = (given.model, given.other), True
    if any(native_model(path) is not None for path in paths):
        print("programs: not compared, as machine code does not tell")
        same = False
    else:
        with stage("reading"):
            models = [read_any_model(path, mapped=True) for path in paths]
        is_program, lines = _programs(*models), _tensors(*models)
        print("programs: " + ("the same" if is_program else "differ"))
        for line in lines:
            print(line)
        same = is_program and not lines
    found = _outputs(given)
    print("\n".join(found) if found else f"outputs: agree to {given.tolerance:g}")
    return int(bool(found) or (given.exact and not same))


def _programs(model: ModelFile, other: ModelFile) -> bool:
    if list(model.functions) != list(other.functions):
        return False
    pairs = zip(model.functions.values(), other.functions.values())
    return all(content_hash(a.program) == content_hash(b.program) for a, b in pairs)


def _tensors(model: ModelFile, other: ModelFile) -> list[str]:
    """What is in one only, what is in both under other names, and what differs under one name."""
    lone = [name for name in model.tensors if name not in other.tensors]
    left = [name for name in other.tensors if name not in model.tensors]
    lines, renamed = [], []
    for name in lone:
        twin = next((n for n in left if _equal(model.tensors[name], other.tensors[n])), None)
        if twin is None:
            lines.append(f"only in the first: {name}")
        else:
            left.remove(twin)
            renamed.append(f"renamed: {name} is {twin} in the second")
    lines += [f"only in the second: {name}" for name in left]
    for name in (name for name in model.tensors if name in other.tensors):
        if not _equal(model.tensors[name], other.tensors[name]):
            lines.append(f"differs: {name}")
    lines += renamed
    more = len(lines) - MOST_LINES
    return lines if more <= 0 else [*lines[:MOST_LINES], f"and {more} tensors more"]


def _equal(a: Any, b: Any) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and bool(np.array_equal(a.view(np.uint8), b.view(np.uint8)))


def _outputs(given: argparse.Namespace) -> list[str]:
    """Where the outputs differ, for the same inputs."""
    first, second = (Predictor(Config(path)) for path in (given.model, given.other))
    shapes = [list(p.get_input_tensor_shape().values()) for p in (first, second)]
    if len(shapes[0]) != len(shapes[1]):
        return [f"outputs: the first takes {len(shapes[0])} inputs, the second {len(shapes[1])}"]
    arrays = inputs_of(first, given)
    with stage("running both"):
        a, b = (list(run(p, arrays).items()) for p in (first, second))
    if len(a) != len(b):
        return [f"outputs: the first gives {len(a)}, the second {len(b)}"]
    lines = []
    for (name, x), (_, y) in zip(a, b):
        if x.shape != y.shape or x.dtype != y.dtype:
            lines.append(f"output {name}: {x.dtype}{list(x.shape)} and {y.dtype}{list(y.shape)}")
        elif not np.allclose(x, y, given.tolerance, given.tolerance, equal_nan=True):
            distance = np.max(np.abs(x.astype(np.float64) - y.astype(np.float64)))
            lines.append(f"output {name}: differs by up to {distance:g}")
    return lines
