"""Rates of single kernels, as ratios: convolutions against a matrix product, other kernels against NumPy.

    python -m benchmarks.kernels [--rounds 7] [--small]

Each time is the least processor time of several rounds: what else the machine does only adds to it. For convolutions
the ratio is (operations a second) / (those of a 512 x 512 product), with 0.5 wanted; for the others NumPy's time over
ours, with 1 wanted. Of single small images the products themselves are slower, and there the ratio is to the products
of those very sizes. Exit status 1 where a ratio is below what is wanted.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

import vitrify as paddle
from vitrify.nn import functional as F
from vitrify.ops.conv import conv_input_grad_op, conv_weight_grad_op

CHANNELS = (64, 128, 256)
SAME = {"stride": (1, 1), "padding": ((1, 1), (1, 1)), "dilation": (1, 1), "channel_last": False}


class Rate(NamedTuple):
    """One kernel's ratio and the least that it should be."""

    name: str
    ratio: float
    wanted: float


def least(run: Callable[[], Any], rounds: int) -> float:
    """Return the least processor seconds of a run."""
    run()
    times = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return max(min(times), 1e-9)


def drawn(*shape: int, seed: int = 0) -> Any:
    """Return a float32 tensor."""
    return paddle.to_tensor(np.random.default_rng(seed).standard_normal(shape).astype("float32"))


def large_product(rounds: int) -> float:
    """Return the operations a second of a 512 x 512 product."""
    a = np.random.default_rng(0).random((512, 512)).astype("float32")
    return 2 * 512**3 / least(lambda: a @ a, rounds)


def own_product(channels: int, side: int, rounds: int) -> float:
    """Return the operations a second of the product that a 3 x 3 convolution of one image is."""
    random = np.random.default_rng(0)
    weight, columns = (random.random(s).astype("float32") for s in ((channels, channels * 9), (channels * 9, side**2)))
    return 2 * channels**2 * 9 * side**2 / least(lambda: weight @ columns, rounds)


def convolutions(channel_counts: Sequence[int], side: int, batch: int, rounds: int) -> Iterator[Rate]:
    """Yield the rates of 3 x 3 convolutions and of both their gradients; of one image, against its own product."""
    large = large_product(rounds)
    for channels in channel_counts:
        product = large if batch > 1 else own_product(channels, side, rounds)
        images = (batch, channels, side, side)
        x, w, ct = drawn(*images), drawn(channels, channels, 3, 3), drawn(*images)
        runs: dict[str, Callable[[], Any]] = {
            "forward": lambda x=x, w=w: F.conv2d(x, w, padding=1),
            "gradient of x": lambda x=x, w=w, ct=ct: conv_input_grad_op(ct, w, x, groups=1, **SAME),
            "gradient of weight": lambda x=x, w=w, ct=ct: conv_weight_grad_op(ct, x, w, groups=1, **SAME),
        }
        operations = 2 * batch * channels * channels * 9 * side * side
        for name, run in runs.items():
            title = f"conv 3x3, {batch} x {channels} x {side} x {side}, {name}"
            yield Rate(title, operations / least(run, rounds) / product, 0.5)


def normalized(x: Any) -> Any:
    """Return NumPy's layer norm of the last dimension."""
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)


def looked_up(ids: Any, ct: Any, rows: int) -> Any:
    """Return NumPy's gradient of a lookup."""
    table = np.zeros((rows, ct.shape[1]), ct.dtype)
    np.add.at(table, ids, ct)
    return table


def others(side: int, rounds: int) -> Iterator[Rate]:
    """Yield the rates of pooling, layer norm and the gradient of an embedding."""
    images, rows = drawn(4, 32, side, side), drawn(32 * side, 256)
    windows = np.lib.stride_tricks.sliding_window_view(images.numpy(), (2, 2), (2, 3))[:, :, ::2, ::2]
    ids, table, ct = paddle.arange(32 * side) % 100, drawn(100, 64), drawn(32 * side, 64)
    table.stop_gradient = False
    found = F.embedding(ids, table)
    pairs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "max pool 2x2": (lambda: F.max_pool2d(images, 2), lambda: windows.max((4, 5))),
        "average pool 2x2": (lambda: F.avg_pool2d(images, 2), lambda: windows.mean((4, 5))),
        "layer norm": (lambda: F.layer_norm(rows, 256), lambda: normalized(rows.numpy())),
        "gradient of an embedding": (
            lambda: paddle.grad(found, table, ct, retain_graph=True),
            lambda: looked_up(ids.numpy(), ct.numpy(), 100),
        ),
    }
    for name, (ours, numpy) in pairs.items():
        yield Rate(name, least(numpy, rounds) / least(ours, rounds), 1.0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print every ratio; 1 if one is below what is wanted."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--small", action="store_true", help="sizes for a quick look, with ratios that say little")
    options = parser.parse_args(arguments)
    counts, side, large = ((8,), 8, 8) if options.small else (CHANNELS, 28, 56)
    below = 0
    rates = (convolutions(counts, s, b, options.rounds) for s, b in ((side, 4), (side // 2, 1), (side // 4, 1)))
    for rate in chain(*rates, others(large, options.rounds)):
        print(f"{rate.ratio:6.2f} (wanted {rate.wanted})  {rate.name}")
        below += rate.ratio < rate.wanted
    return int(below > 0)


if __name__ == "__main__":
    sys.exit(main())
