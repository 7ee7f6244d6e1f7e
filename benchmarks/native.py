"""Time native programs against the same models compiled just in time, and our matrix products against OpenBLAS's.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.native [--rounds 9]

Everything runs on one thread, by turns; printed is the least processor time of a call. Native programs are called
through ctypes, products through NumPy and through ctypes, which adds some five microseconds to ours.
"""

import argparse
import ctypes
import tempfile
from collections.abc import Callable, Mapping, Sequence
from time import process_time
from typing import Any

import numpy as np

import vitrify as paddle
from vitrify import aot, nn
from vitrify.codegen import gemm
from vitrify.codegen.llvm import host
from vitrify.codegen.native import loaded
from vitrify.codegen.pointwise import attributes
from vitrify.static import InputSpec
from vitrify.vision.models import resnet18

SIZES = (
    (32, 64, 64),
    (64, 64, 64),
    (128, 128, 128),
    (256, 256, 256),
    (512, 512, 512),
    (1024, 1024, 1024),
    (1, 512, 784),
)
Call = Callable[[], object]


def least(calls: Mapping[str, Call], rounds: int, repeat: int = 1) -> dict[str, float]:
    """Seconds of a call for each of some functions, which take turns."""
    found = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds + 1):
        for name, call in calls.items():
            start = process_time()
            for _ in range(repeat):
                call()
            found[name] = min(found[name], (process_time() - start) / repeat)
    return found


def product() -> Callable[[Any, Any, Any], None]:
    """Return our product of float32 matrices: c = a b."""
    target = host()
    shape = gemm.shape_of(np.dtype("float32"), target)
    name = gemm.name_of(shape.dtype)
    text = "\n\n".join([*gemm.gemm_ir(shape).values(), *gemm.declarations(shape), attributes(target)])
    word, pointer = ctypes.c_int64, ctypes.c_void_p
    types = [word] * 3 + [pointer, word, word] * 2 + [pointer, word] + [pointer] * 5
    function = ctypes.CFUNCTYPE(ctypes.c_int32, *types)(loaded(text, (name,)).addresses[name])
    scratch = np.empty(gemm.scratch_bytes(1 << 12, 1 << 12, 1 << 12, shape), np.uint8)

    def multiply(a: Any, b: Any, c: Any) -> None:
        sizes = (len(a), b.shape[1], len(b))
        function(
            *sizes, a.ctypes.data, *a.strides, b.ctypes.data, *b.strides, c.ctypes.data, c.strides[0],
            scratch.ctypes.data, None, None, None, None,
        )  # fmt: skip

    return multiply


def products(rounds: int) -> dict[tuple[int, int, int], dict[str, float]]:
    """Seconds of a product by size."""
    multiply, found = product(), {}
    for m, n, k in SIZES:
        rng = np.random.default_rng(0)
        a, b = rng.standard_normal((m, k)).astype("float32"), rng.standard_normal((k, n)).astype("float32")
        c = np.empty((m, n), "float32")
        calls = {
            "ours": lambda a=a, b=b, c=c: multiply(a, b, c),
            "numpy": lambda a=a, b=b, c=c: np.matmul(a, b, out=c),
        }
        found[m, n, k] = least(calls, rounds, max(1, int(5e7 / (m * n * k))))
    return found


def encoder() -> Any:
    """Return a transformer of four layers, of dimension 256."""
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.1), 4)


MODELS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "mlp 784-512-256-10, batch 128": (
        lambda: nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10)),
        (128, 784),
    ),
    "transformer, 4 x 256, batch 8 x 128": (encoder, (8, 128, 256)),
    "resnet18, batch 1, 224": (resnet18, (1, 3, 224, 224)),
}


def model(name: str, rounds: int) -> dict[str, float]:
    """Seconds of a call of a model in evaluation mode."""
    make, shape = MODELS[name]
    net = make()
    net.eval()
    x = np.random.default_rng(0).standard_normal(shape).astype("float32")
    with tempfile.TemporaryDirectory() as folder, paddle.no_grad():
        spec = InputSpec([None, *shape[1:]], "float32")
        paddle.jit.save(net, f"{folder}/model", input_spec=[spec], format="native")
        program, compiled, tensor = aot.load(f"{folder}/model"), paddle.jit.to_static(net), paddle.to_tensor(x)
        return least({"native": lambda: program(x), "to_static": lambda: compiled(tensor)}, rounds)


def table(rows: Mapping[str, Mapping[str, float]]) -> str:
    """Microseconds, a line for each row, and what the second column takes of the first."""
    lines = []
    for name, row in rows.items():
        first, second = row.values()
        values = "".join(f"{key:>11}{1e6 * value:12.1f}" for key, value in row.items())
        lines.append(f"{name:36}{values}{second / first:8.2f} x")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables, in microseconds."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9, help="how often each is timed (9)")
    given = parser.parse_args(arguments)
    print(table({f"{m} x {n} x {k}": row for (m, n, k), row in products(given.rounds).items()}))
    print(table({name: model(name, given.rounds) for name in MODELS}))


if __name__ == "__main__":
    main()
