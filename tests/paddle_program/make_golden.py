"""Makes tests/data/paddle_program with a PaddlePaddle: `PYTHON -m tests.paddle_program.make_golden KIND`.

KIND is `json` for PaddlePaddle 3, which saves `.json` programs, and `pdmodel` for PaddlePaddle 2. The call stacks that
Paddle writes into `.pdmodel` files are taken out: they name folders of the machine they were made on.
"""

import importlib.util
import io
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np
import paddle

from tests.paddle_program.corpus import C, inputs
from tests.paddle_program.models import models

ROOT = Path(__file__).parent.parent.parent
DATA = ROOT / "tests" / "data" / "paddle_program"


def without_call_stacks(data):
    spec = importlib.util.spec_from_file_location("desc", ROOT / "src/vitrify/paddle_program/program_desc_pb2.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    program = module.ProgramDesc.FromString(data)
    for block in program.blocks:
        for op in block.ops:
            kept = [a for a in op.attrs if a.name != "op_callstack"]
            del op.attrs[:]
            op.attrs.extend(kept)
    return program.SerializeToString(deterministic=True)


def wrappers(folder):
    """The functions of the corpus with parameters by name, as Paddle needs them, in a module of their own."""
    lines = ["import paddle as P", "from tests.paddle_program.corpus import C", "L = [f for f, _ in C.values()]"]
    for i, (_, specs) in enumerate(C.values()):
        names = ", ".join(f"a{j}" for j in range(len(specs)))
        lines += [f"f{i} = L[{i}]", f"def g{i}({names}):", f"    return f{i}(P, {names})"]
    (folder / "wrappers_of_corpus.py").write_text("\n".join(lines))
    sys.path.insert(0, str(folder))
    return importlib.import_module("wrappers_of_corpus")


def saved(function, specs, path, suffix):
    paddle.jit.save(paddle.jit.to_static(function, input_spec=specs, full_graph=True), str(path))
    data = Path(str(path) + suffix).read_bytes()
    return without_call_stacks(data) if suffix == ".pdmodel" else data


def main(kind):
    suffix = "." + kind
    folder = Path(tempfile.mkdtemp())
    module = wrappers(folder)
    with tarfile.open(DATA / f"operators_{kind}.tar.xz", "w:xz", preset=9) as archive:
        for i, (name, (_, shapes)) in enumerate(C.items()):
            specs = [paddle.static.InputSpec(list(s), d, f"a{j}") for j, (s, d) in enumerate(shapes)]
            try:
                data = saved(getattr(module, f"g{i}"), specs, folder / name, suffix)
                getattr(module, f"g{i}")(*map(paddle.to_tensor, inputs(name)))
            except (AttributeError, TypeError, ValueError, NotImplementedError) as err:
                print(f"{name}: not in this version of Paddle: {type(err).__name__}")
                continue
            info = tarfile.TarInfo(name + suffix)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    for name, (make, specs, given) in models().items():
        paddle.seed(3)
        net = make()
        net.eval()
        for value in net.state_dict().values():
            if value.ndim == 1:
                rng = np.random.default_rng(value.size)
                value.set_value(paddle.to_tensor(rng.random(value.shape).astype("float32") + 0.2))
        found = net(*map(paddle.to_tensor, given)).numpy()
        data = saved(net, specs, folder / name, suffix)
        (DATA / f"{name}_{kind}{suffix}").write_bytes(data)
        (DATA / f"{name}_{kind}.pdiparams").write_bytes((folder / (name + ".pdiparams")).read_bytes())
        np.save(DATA / f"{name}_{kind}.npy", found)


if __name__ == "__main__":
    main(sys.argv[1])
