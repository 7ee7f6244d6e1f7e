"""Lines of slots: the text that PaddlePaddle's datasets are made of, as samples and as batches."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from ..core.errors import ArgumentError, DTypeError, FileFormatError, ShapeError
from ..ir.program import Variable

Sample = list[np.ndarray[Any, Any]]  # the values of each slot, one after another

_PLAIN = "cat"
_ASKED = "each line has for each slot of use_var how many values follow, and these: '3 0.1 0.2 0.3 1 7'"


def lines_of(path: str, pipe_command: str, download_cmd: str) -> Iterator[bytes]:
    """Yield the lines of a file as `download_cmd FILE | pipe_command` writes them, while it writes.

    Raises ArgumentError if the shell says that a command failed.
    """
    if pipe_command == download_cmd == _PLAIN:
        with open(path, "rb") as file:
            yield from file
        return
    command = f"{download_cmd} {shlex.quote(path)} | {pipe_command}"
    with subprocess.Popen(command, shell=True, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None  # asked for above
        yield from process.stdout
    if process.returncode:
        raise ArgumentError(
            f"the dataset's command ended with exit code {process.returncode}: {command}",
            hint="run it in a shell by itself, and look at what it writes to stderr",
        )


def sample_of(line: bytes, slots: Sequence[Variable], where: str) -> Sample:
    """Return the values of each slot in a line. Raises FileFormatError, which says where and what."""
    words = line.split()
    sample: Sample = []
    at = 0
    try:
        for slot in slots:
            count = int(words[at])
            values = words[at + 1 : at + 1 + count]
            if count < 1 or len(values) < count:
                raise _misread(where, f"slot '{slot.name}' says {count} values, and {len(values)} follow")
            sample.append(np.array(values).astype(slot.dtype.np))
            at += 1 + count
    except IndexError:
        raise _misread(where, f"it ends before slot '{slot.name}'") from None
    except (ValueError, OverflowError) as err:
        raise _misread(where, f"slot '{slot.name}' of {slot.dtype.name}: {err}") from None
    if at < len(words):
        raise _misread(where, f"{len(words) - at} words follow behind the last slot")
    return sample


def _misread(where: str, what: str) -> FileFormatError:
    return FileFormatError(f"{where}: {what}", hint=_ASKED)


def batch_of(samples: Sequence[Sample], slots: Sequence[Variable]) -> dict[str, np.ndarray[Any, Any]]:
    """Return what is fed for these samples: their values behind each other, in the shape of the slot's variable.

    Raises ShapeError where a sample's values fill no whole number of rows.
    """
    feed = {}
    for slot, values in zip(slots, zip(*samples)):
        rest = [int(size) for size in slot.shape[1:]]
        for found in values:
            if found.size % prod(rest):
                raise ShapeError(
                    f"slot '{slot.name}' has {found.size} values, and rows of {slot.name} have shape {rest}",
                    hint="declare static.data with the shape of a sample behind None",
                )
        feed[slot.name] = np.concatenate(values).reshape(-1, *rest)
    return feed


def checked_slots(use_var: Any) -> list[Variable]:
    """Return the variables, which are numbers with rows of a known shape. Raises DTypeError or ShapeError."""
    slots = list(use_var)
    for slot in slots:
        if not isinstance(slot, Variable):
            raise DTypeError(f"use_var: expects variables of static.data, got {type(slot).__name__}")
        if slot.dtype.name not in ("float32", "float64", "int32", "int64"):
            raise DTypeError(
                f"use_var: '{slot.name}' is {slot.dtype.name}; a line has values of float32, float64, int32 or int64"
            )
        if not slot.shape or any(size is None or size < 1 for size in slot.shape[1:]):
            raise ShapeError(
                f"use_var: '{slot.name}' has shape {list(slot.shape)}; all sizes but the first are to be known",
                hint="static.data(name, [None, 13])",
            )
    return slots
