"""Time what a GPU is good for: copies beside computation, streams, graphs. Says so where there is no GPU.

    python -m benchmarks.gpu [--seconds 0.5]

Each row is the median of rounds; times between CUDA events where the device's time counts, else of the host, which
waits for the device at the end of each round.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import vitrify as paddle
from vitrify.core.place import is_compiled_with_cuda, place_guard
from vitrify.device.cuda import cupy
from vitrify.device.cuda_streams import CudaStreams, cuda_streams
from vitrify.runtime.streams import H2D, Stream

SIZE = 2048
LAYERS = (32, 64, 64, 10)


def gpu_is_here() -> bool:
    """Whether CuPy is installed and sees a device."""
    if not is_compiled_with_cuda():
        return False
    runtime = cupy().cuda.runtime
    try:
        return bool(runtime.getDeviceCount())
    except runtime.CUDARuntimeError:
        return False


def device_time(device: CudaStreams, work: Callable[[], Any], streams: Sequence[Stream]) -> float:
    """Milliseconds of the device from the start of `work` to the end of all that it queues on these streams."""
    xp, first = device.xp, Stream("clock")
    start, end = xp.cuda.Event(), xp.cuda.Event()
    device.finish()
    device.stream(first).record(start)
    for stream in streams:
        device.wait(stream, start)
    work()
    for stream in streams:
        device.wait(first, device.record(stream))
    device.stream(first).record(end)
    end.synchronize()
    return float(xp.cuda.get_elapsed_time(start, end))


def overlap(rounds: int = 9) -> dict[str, float]:
    """Milliseconds of copies to the device, of matrix products, and of both at once."""
    device = cuda_streams(0)
    copies, compute = Stream(H2D), Stream()
    host = np.ones((SIZE, SIZE), "float32")
    x = device.put(compute, host)

    def copy() -> None:
        for _ in range(8):
            device.put(copies, host)

    def multiply() -> None:
        y = x
        for _ in range(24):
            (y,) = device.launch(compute, lambda a, b: (a @ b,), [y, x], 1, False, None)

    def both() -> None:
        multiply()
        copy()

    found = {}
    for name, work in (("copies", copy), ("products", multiply), ("both at once", both)):
        times = [device_time(device, work, [copies, compute]) for _ in range(rounds)]
        found[name] = median(times[1:])
    return found


def network() -> Any:
    """A small multi-layer perceptron."""
    layers = []
    for a, b in zip(LAYERS, LAYERS[1:]):
        layers += [paddle.nn.Linear(a, b), paddle.nn.ReLU()]
    return paddle.nn.Sequential(*layers[:-1])


def training_step(graph: bool) -> Callable[[], Any]:
    """A training step of the small network, with its programs as CUDA graphs or not."""
    strategy = paddle.static.BuildStrategy()
    strategy.allow_cuda_graph_capture = graph
    paddle.seed(0)
    model = network()
    step = paddle.jit.to_static(
        lambda x, y: paddle.nn.functional.cross_entropy(model(x), y), full_graph=True, build_strategy=strategy
    )
    optimizer = paddle.optimizer.SGD(learning_rate=0.01, parameters=model.parameters())
    x, y = paddle.randn([32, LAYERS[0]]), paddle.randint(0, LAYERS[-1], [32])

    def run() -> Any:
        loss = step(x, y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return run


def host_time(step: Callable[[], Any], seconds: float) -> float:
    """Microseconds a call, the device's work included."""
    times = []
    end = perf_counter() + seconds
    while perf_counter() < end or len(times) < 5:
        start = perf_counter()
        for _ in range(10):
            step()
        cupy().cuda.Device().synchronize()
        times.append((perf_counter() - start) / 10 * 1e6)
    return median(times)


def figures(seconds: float) -> list[tuple[str, str]]:
    """All rows: what was measured, and the figure."""
    with place_guard("gpu:0"):
        rows = [(f"{name}, {SIZE} x {SIZE} float32", f"{ms:.2f} ms") for name, ms in overlap().items()]
        for name, graph in (("kernel by kernel", False), ("as CUDA graphs", True)):
            took = host_time(training_step(graph), seconds)
            rows.append((f"training step of an MLP {'-'.join(map(str, LAYERS))}, {name}", f"{took:.0f} us"))
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; 0 even where there is no GPU."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=0.5, help="how long each step is repeated")
    options = parser.parse_args(arguments)
    if not gpu_is_here():
        print("no GPU: CuPy is not installed, or sees no device")
        return 0
    properties = cupy().cuda.runtime.getDeviceProperties(0)
    print(f"{properties['name'].decode()}, CuPy {cupy().__version__}")
    for what, figure in figures(options.seconds):
        print(f"{what:70} {figure:>12}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
