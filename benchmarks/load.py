"""Time what a new process takes to load a saved GPT and to run it once: interpreter, imports, file and first inference.

    python -m benchmarks.load --paddle ~/paddle/bin/python [--onnxruntime PYTHON] [--rounds 7] [--limit 1.0]

--paddle: an interpreter with PaddlePaddle and onnxruntime, for the files that vitrify writes in their formats;
--onnxruntime: another one for the latter. All take turns; medians of whole processes, from their start to their end,
bytecode and files being warm. Every process tells the sum of what it computed, which must agree. Exit status 1 where
vitrify takes longer than the limit with any format, or longer than another consumer of the same model with the fastest.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np

import vitrify
from benchmarks.models import transformer
from vitrify.aot.files import library_suffix

SIZE = transformer.Size(layers=4, width=256, heads=8, length=128, batch=1, vocabulary=256)
LIMIT = 1.0
_OWN = """
import vitrify as paddle
net = paddle.jit.load(model)
out = net(*[paddle.to_tensor(a) for a in arrays]).numpy()
"""
_PREDICTOR = """
from vitrify import inference
predictor = inference.create_predictor(inference.Config(model + "{ending}"))
for name, array in zip(predictor.get_input_names(), arrays):
    predictor.get_input_handle(name).copy_from_cpu(array)
predictor.run()
out = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
"""
_PADDLE = """
from paddle import inference
predictor = inference.create_predictor(inference.Config(model + ".json", model + ".pdiparams"))
for name, array in zip(predictor.get_input_names(), arrays):
    predictor.get_input_handle(name).copy_from_cpu(array)
predictor.run()
out = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
"""
_ONNX = """
import onnxruntime
session = onnxruntime.InferenceSession(model + ".onnx")
out = session.run(None, {i.name: a for i, a in zip(session.get_inputs(), arrays)})[0]
"""
_FRAME = """
import sys
import numpy as np
model = sys.argv[1]
held = np.load(model + ".npz")
arrays = [held[name] for name in held.files]
{code}
print(float(np.asarray(out, "float64").sum()))
"""


@dataclass
class Consumer:
    """Who loads and runs the model, and what it took."""

    name: str
    python: str
    code: str
    seconds: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)
    told: list[float] = field(default_factory=list)

    def run(self, model: Path) -> None:
        """Load and run the model in a new process."""
        env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        command = [self.python, "-c", _FRAME.format(code=self.code), str(model)]
        before, start = _worked(), time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
        self.seconds.append(time.perf_counter() - start)
        self.worked.append(_worked() - before)
        self.told.append(float(done.stdout.split()[-1]))


def _predictor(ending: str) -> str:
    return _PREDICTOR.replace("{ending}", ending)


def _worked() -> float:
    """Return the processor time of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def save(folder: Path) -> Path:
    """Save the model in each format, with inputs; return what the files' names have in common."""
    net = transformer.gpt(vitrify, SIZE)
    net.eval()
    tokens, targets = transformer.batch(SIZE)
    model = folder / "gpt"
    np.savez(model.with_suffix(".npz"), tokens=tokens, targets=targets)
    specs = [vitrify.static.InputSpec([None, SIZE.length], "int64", name) for name in ("tokens", "targets")]
    for written in ("vitrify", "paddle3", "onnx", "native"):
        vitrify.jit.save(net, str(model), input_spec=specs, format=written)
    return model


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the medians; 1 if vitrify's is over the limit, or over another consumer's."""
    parser = argparse.ArgumentParser(prog="benchmarks.load", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--paddle", metavar="PYTHON", help="interpreter with PaddlePaddle and onnxruntime")
    parser.add_argument("--onnxruntime", metavar="PYTHON", help="interpreter with onnxruntime, where it is another")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="SECONDS")
    chosen = parser.parse_args(arguments)
    endings = {"native": library_suffix(), "own": ".vtmodel", ".json": ".json", "ONNX": ".onnx"}
    own = [
        *[Consumer(f"vitrify Predictor, {n}", sys.executable, _predictor(e)) for n, e in endings.items()],
        Consumer("vitrify jit.load", sys.executable, _OWN),
    ]
    others = [
        Consumer("paddle.inference", chosen.paddle, _PADDLE),
        Consumer("onnxruntime", chosen.onnxruntime or chosen.paddle, _ONNX),
    ]
    consumers = own + (others if chosen.paddle else [])
    with tempfile.TemporaryDirectory() as folder:
        model = save(Path(folder))
        for number in range(chosen.rounds + 1):
            for consumer in consumers:
                consumer.run(model)
                if number == 0:  # bytecode is written, files come from the disk
                    consumer.seconds.clear()
                    consumer.worked.clear()
    return report(consumers, len(own), chosen.limit)


def report(consumers: Sequence[Consumer], own: int, limit: float) -> int:
    """Print a line for each consumer, the first `own` of which are ours, and return the exit status."""
    for consumer in consumers:
        np.testing.assert_allclose(consumer.told, consumers[0].told[0], rtol=1e-4)
        print(
            f"{consumer.name:28} {median(consumer.seconds):.3f} s, the fastest {min(consumer.seconds):.3f} s, "
            f"{median(consumer.worked):.3f} s of processor time"
        )
    slowest, fastest = (choose(median(c.seconds) for c in consumers[:own]) for choose in (max, min))
    others = min((median(c.seconds) for c in consumers[own:]), default=limit)
    is_met = slowest < limit and fastest < others
    print(f"each below {limit:.3f} s, and the fastest faster than all others: {'met' if is_met else 'missed'}")
    return int(not is_met)


if __name__ == "__main__":
    sys.exit(main())
