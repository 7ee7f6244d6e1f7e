"""Makes tests/data/paddle_program/files_KIND.tar.xz with PaddlePaddle 3.3.1: `PYTHON -m ...make_files KIND`.

KIND is `json` or `pdmodel`, which needs FLAGS_enable_pir_api=0 in the environment. The archive holds for each of what
files.py names the program, its parameters where it has some, and an `.npz` with inputs and what PaddlePaddle's Executor
gives for them. What this PaddlePaddle cannot save in a format is said and left out.
"""

import io
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np
import paddle

from tests.paddle_program.files import FUNCTIONS, LAYERS
from tests.paddle_program.make_golden import DATA, without_call_stacks


def flat(found):
    return [x for v in found for x in flat(v)] if isinstance(found, (list, tuple)) else [found]


def save_function(function, arrays, path, exe):
    main, start = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, start):
        fed = [paddle.static.data(f"x{i}", a.shape, str(a.dtype)) for i, a in enumerate(arrays)]
        fetched = flat(function(*fed))
        exe.run(start)
        given = {f"x{i}": a.copy() for i, a in enumerate(arrays)}
        found = exe.run(main, feed=given, fetch_list=fetched)
        paddle.static.save_inference_model(path, fed, fetched, exe, program=main)
    return found


def save_layer(make, specs, arrays, path):
    paddle.seed(1)
    layer = make()
    layer.eval()
    paddle.jit.save(layer, path, input_spec=specs)
    return [t.numpy() for t in flat(paddle.jit.load(path)(*map(paddle.to_tensor, arrays)))]


def entries(kind, folder):
    """The files of each case."""
    for name, (make, specs, arrays) in LAYERS.items():
        yield name, arrays, lambda path, of=(make, specs, arrays): save_layer(*of, path)
    paddle.enable_static()
    exe = paddle.static.Executor(paddle.CPUPlace())
    for name, (function, *arrays) in FUNCTIONS.items():
        yield name, arrays, lambda path, of=(function, arrays): save_function(*of, path, exe)


def main(kind):
    folder = Path(tempfile.mkdtemp())
    with tarfile.open(DATA / f"files_{kind}.tar.xz", "w:xz", preset=9) as archive:

        def add(name, data):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))

        for name, arrays, save in entries(kind, folder):
            try:
                found = save(str(folder / name))
            except Exception as err:  # noqa: BLE001 - errors of Paddle's have no common class
                print(f"{name}: {type(err).__name__}")
                continue
            data = (folder / f"{name}.{kind}").read_bytes()
            add(f"{name}.{kind}", without_call_stacks(data) if kind == "pdmodel" else data)
            params = folder / f"{name}.pdiparams"
            if params.exists() and params.stat().st_size:
                add(params.name, params.read_bytes())
            held = io.BytesIO()
            given = {f"x{i}": a for i, a in enumerate(arrays)}
            np.savez(held, **given, **{f"y{i}": np.asarray(t) for i, t in enumerate(found)})
            add(f"{name}.npz", held.getvalue())


if __name__ == "__main__":
    main(sys.argv[1])
