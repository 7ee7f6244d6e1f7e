"""`vitrify run` and `vitrify bench`: a model on arrays from files, or on random ones."""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Sequence
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ..core.atomic_file import atomic_file
from ..core.errors import ArgumentError, UserCodeError
from ..core.meta import UNKNOWN
from ..core.suggest import did_you_mean
from ..eager.tensor import wrap
from ..inference import Config, Predictor
from .progress import counted, stage

Array = np.ndarray[Any, Any]


def main(given: argparse.Namespace) -> int:
    """Run the model once; print what it gives, or write it to a file."""
    with stage(f"reading {given.model}"):
        predictor = Predictor(Config(given.model))
    with stage("running"):
        outputs = run(predictor, inputs_of(predictor, given))
    if given.output:
        os.makedirs(os.path.dirname(os.path.abspath(given.output)), exist_ok=True)
        with atomic_file(given.output) as file:
            np.savez(file, **outputs)  # type: ignore[arg-type]  # a name that is `allow_pickle`
    for name, array in outputs.items():
        print(f"{name}: {array.dtype.name}{list(array.shape)}")
        if not given.output:
            print(np.array2string(array, threshold=64))
    return 0


def bench(given: argparse.Namespace) -> int:
    """Time runs of the model."""
    start = time.perf_counter()
    with stage(f"reading {given.model}"):
        predictor = Predictor(Config(given.model))
    loaded = time.perf_counter()
    arrays = inputs_of(predictor, given)
    run(predictor, arrays)
    first = time.perf_counter()
    times = []
    for _ in counted(given.repeat, "run"):
        begin = time.perf_counter()
        run(predictor, arrays)
        times.append(time.perf_counter() - begin)
    print(f"load    {1e3 * (loaded - start):10.3f} ms\nfirst   {1e3 * (first - loaded):10.3f} ms")
    for name, value in (("median", statistics.median(times)), ("fastest", min(times)), ("slowest", max(times))):
        print(f"{name:7} {1e3 * value:10.3f} ms")
    return 0


def run(predictor: Predictor, arrays: Sequence[Array]) -> dict[str, Array]:
    """The outputs by name."""
    try:
        found = predictor.run([wrap(array) for array in arrays])
    except UserCodeError as err:
        if err.hint is None and any(UNKNOWN in shape for shape in predictor.get_input_tensor_shape().values()):
            err.hint = "--size N gives random inputs other sizes where these are left open, --input a file's"
        raise
    return {name: value.numpy() for name, value in zip(predictor.get_output_names(), found)}


def inputs_of(predictor: Predictor, given: argparse.Namespace) -> list[Array]:
    """The inputs' arrays: those named on the command line, random ones for the others. Raises ArgumentError."""
    names = predictor.get_input_names()
    read: dict[str, Array] = {}
    for place, text in enumerate(given.input):
        name, _, file = text.rpartition("=")
        if not name and file.endswith(".npz"):
            read.update(_read(file, True))
            continue
        if not name and place >= len(names):
            raise ArgumentError(f"the model takes {len(names)} inputs, but {len(given.input)} files are given")
        name = name or names[place]
        _check_name(name, names)
        read[name] = _read(file, False)[""]
    for name in read:
        _check_name(name, names)
    rng = np.random.default_rng(given.seed)
    shapes = predictor.get_input_tensor_shape()
    types = predictor.get_input_types()
    return [
        read[name] if name in read else _random(rng, shapes[name], types[name].name.lower(), given.size)
        for name in names
    ]


def _check_name(name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise ArgumentError(
            f"the model has no input {name!r}; there are {', '.join(names)}", hint=did_you_mean(name, names)
        )


def _read(file: str, several: bool) -> dict[str, Array]:
    """The arrays of a file, by name if there are several; raises ArgumentError for what holds none."""
    try:
        with open(file, "rb") as source:
            found = np.load(source, allow_pickle=False)
            arrays = {"": found} if isinstance(found, np.ndarray) else dict(found)
    except (ValueError, EOFError, BadZipFile) as err:
        raise ArgumentError(
            f"{file} holds no array", hint="write one with numpy.save, or several with numpy.savez"
        ) from err
    if several is ("" in arrays):
        raise ArgumentError(
            f"{file} holds {'several arrays' if '' not in arrays else 'one array'}",
            hint="--input NAME=FILE.npy takes one array, --input FILE.npz several",
        )
    return arrays


def _random(rng: np.random.Generator, shape: Sequence[int], dtype: str, size: int) -> Array:
    sizes = [size if s == UNKNOWN else s for s in shape]
    if dtype == "bool":
        return rng.random(sizes) < 0.5
    if "int" in dtype:
        return np.zeros(sizes, dtype)  # whatever they number is there at 0
    return rng.standard_normal(sizes).astype("float32" if dtype == "bfloat16" else dtype)
