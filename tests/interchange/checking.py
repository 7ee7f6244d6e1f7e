"""What the real consumers and our own readers make of written models."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnxruntime as ort

import vitrify as paddle
from tests.interchange.writer import Written
from tests.models.checks import outputs_of

CONSUMER = Path(__file__).with_name("consumer.py")
TIMEOUT = 600.0


def distance(found: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> float | str:
    """Return the largest difference relative to the largest number, or what is different altogether."""
    if len(found) != len(wanted):
        return f"{len(found)} outputs instead of {len(wanted)}"
    worst = 0.0
    for a, b in zip(found, wanted):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype}{list(a.shape)} instead of {b.dtype}{list(b.shape)}"
        if b.dtype.kind not in "fc":
            worst = max(worst, 0.0 if np.array_equal(a, b) else float("inf"))
        elif b.size:
            scale = max(1e-6, float(np.abs(b[np.isfinite(b)]).max(initial=0.0)))
            equal = (a == b) | (np.isnan(a) & np.isnan(b))
            apart = np.where(equal, 0.0, np.abs(np.where(equal, 0, a) - np.where(equal, 0, b)))
            worst = max(worst, float(apart.max()) / scale)
    return worst


def in_paddle(python: str, way: str, written: Sequence[Written], kind: str) -> dict[str, float | str]:
    """Return what PaddlePaddle makes of the models in a format: the difference, or what went wrong."""
    jobs = [w for w in written if kind not in w.refused]
    ends: dict[int, str] = {}
    while len(ends) < len(jobs):
        first = len(ends)
        for number, end in _consumed(python, way, [str(w.file(kind)) for w in jobs[first:]]):
            ends[first + number] = end
    return {w.name: ends[n] or _compared(w, kind, way) for n, w in enumerate(jobs)}


def _compared(written: Written, kind: str, way: str) -> float | str:
    held = np.load(f"{written.file(kind)}.{way}.npz")
    return distance([held[name] for name in held.files], written.outputs)


def _consumed(python: str, way: str, files: list[str]) -> Iterator[tuple[int, str]]:
    """Yield how each file ended, up to one at which the process did: "" is well."""
    env = {**os.environ, "GLOG_minloglevel": "3", "OMP_NUM_THREADS": "1"}
    command = [python, str(CONSUMER), way, *files]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=TIMEOUT)
    started = 0
    for line in done.stdout.splitlines():
        kind, _, rest = line.partition(" ")
        number, _, text = rest.partition(" ")
        if kind == "start":
            started = int(number)
        elif kind in ("done", "failed"):
            yield int(number), text
    if not done.stdout.rstrip().split("\n")[-1].startswith(("done", "failed")):
        yield started, f"the process ended with {done.returncode}"


def in_onnxruntime(written: Sequence[Written]) -> dict[str, float | str]:
    """Return what ONNX Runtime makes of the models."""
    ort.set_default_logger_severity(4)
    return {w.name: _in_session(w) for w in written if "onnx" not in w.refused}


def _in_session(written: Written) -> float | str:
    try:
        session = ort.InferenceSession(str(written.file("onnx")), providers=["CPUExecutionProvider"])
        given = {f"x{i}": array for i, array in enumerate(written.inputs())}
        found = session.run(None, {i.name: given[i.name] for i in session.get_inputs()})
    except Exception as err:  # noqa: BLE001 - its errors have no common class
        return str(err).splitlines()[0]
    return distance([np.asarray(value) for value in found], written.outputs)


def in_native(written: Sequence[Written]) -> dict[str, float | str]:
    """Return what the compiled programs give, called through their C interface."""
    return {w.name: _called(w) for w in written if "native" not in w.refused}


def _called(written: Written) -> float | str:
    try:
        found = paddle.aot.load(written.file("native"))(*written.inputs())
    except paddle.core.errors.VitrifyError as err:
        return err.message
    return distance(found, written.outputs)


def read_back(written: Sequence[Written], kind: str) -> dict[str, float | str]:
    """Return what our own reader makes of the models."""
    return {w.name: _read(w, kind) for w in written if kind not in w.refused}


def _read(written: Written, kind: str) -> float | str:
    try:
        net = paddle.jit.load(written.file(kind))
        with paddle.no_grad():
            found = outputs_of(net, tuple(written.inputs()))
    except paddle.core.errors.VitrifyError as err:
        return err.message
    return distance(found, written.outputs)
