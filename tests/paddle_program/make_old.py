"""Makes tests/data/paddle_program/files_old.tar.xz with PaddlePaddle 2.6.2: `PYTHON -m tests.paddle_program.make_old`.

The archive holds for each operator of old_cases.py a program, its parameters where it has some, and an `.npz` with
inputs and what PaddlePaddle's Executor gives for them, and the same for Layers of files.py whose programs 3.3.1
writes otherwise. `by_hand.desc` is a program's `desc.serialize_to_string()`.
"""

import io
import tarfile
import tempfile
from pathlib import Path

import numpy as np
import paddle

from tests.paddle_program.files import LAYERS
from tests.paddle_program.make_files import save_layer
from tests.paddle_program.make_golden import DATA, without_call_stacks
from tests.paddle_program.old_cases import CASES


def listed(value):
    return value if isinstance(value, list) else [value]


def variables(block, slot, arrays, is_parameter, values):
    """A variable for each array: fed, or kept with its value."""
    found = []
    for i, array in enumerate(listed(arrays)):
        name, dtype = f"{slot.lower()}_{i}", str(array.dtype)
        if not is_parameter:
            found.append(paddle.static.data(name, list(array.shape), dtype))
        elif dtype == "float32":
            found.append(block.create_parameter(name="p_" + name, shape=array.shape, dtype=dtype))
        else:
            found.append(block.create_var(name="p_" + name, shape=array.shape, dtype=dtype, persistable=True))
        values[found[-1].name] = array
    return found


def save(case, path):
    """Save the program of one operator; gives the inputs and the outputs."""
    kind, inputs, outputs, attrs, params = case
    main, values, place = paddle.static.Program(), {}, paddle.CPUPlace()
    exe, scope = paddle.static.Executor(place), paddle.static.Scope()
    with paddle.static.program_guard(main), paddle.static.scope_guard(scope), paddle.utils.unique_name.guard():
        block = main.global_block()
        given = {slot: variables(block, slot, v, slot in params, values) for slot, v in inputs.items()}
        made, fetched = {}, []
        for slot, dtypes in outputs.items():
            if str(dtypes).startswith("="):
                made[slot] = given[dtypes[1:]]
                continue
            made[slot] = [
                block.create_var(name=f"o_{slot.lower()}_{i}", dtype=d or "float32")
                for i, d in enumerate(listed(dtypes))
            ]
            fetched += [var for var, dtype in zip(made[slot], listed(dtypes)) if dtype]
        block.append_op(type=kind, inputs=given, outputs=made, attrs=attrs)
        fed = [var for slot, found in given.items() if slot not in params for var in found]
        for var in (v for slot in params for v in given[slot]):
            scope.var(var.name).get_tensor().set(values[var.name], place)
        paddle.static.save_inference_model(path, fed, fetched, exe, program=main)
        program, names, targets = paddle.static.load_inference_model(path, exe)
        arrays = {name: values[name] for name in names}
        return list(arrays.values()), exe.run(program, feed=arrays, fetch_list=targets)


SAVED_LAYERS = ("CellRNN", "ListLoop", "ListOfFound", "NestedLoop", "Shifted")


def cases(folder):
    """(name, whether it has parameters, inputs, outputs) of each program, which is in the folder then."""
    for name in SAVED_LAYERS:
        make, specs, arrays = LAYERS[name]
        found = save_layer(make, specs, arrays, str(folder / name))
        yield name, (folder / f"{name}.pdiparams").exists(), arrays, found
    paddle.enable_static()
    for name, case in CASES.items():
        yield name, bool(case[4]), *save(case, str(folder / name))


def write_by_hand():
    """A program as its author wrote it, without operators that feed and fetch."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main), paddle.utils.unique_name.guard():
        x = paddle.static.data("x", [None, 4])
        hidden = paddle.static.nn.batch_norm(paddle.static.nn.fc(x, 3, activation="relu"), is_test=True)
        paddle.mean(paddle.nn.functional.softmax(hidden))
    (DATA / "by_hand.desc").write_bytes(without_call_stacks(main.desc.serialize_to_string()))


def main():
    folder = Path(tempfile.mkdtemp())
    with tarfile.open(DATA / "files_old.tar.xz", "w:xz", preset=9) as archive:

        def add(name, data):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))

        for name, has_params, given, found in cases(folder):
            add(f"{name}.pdmodel", without_call_stacks((folder / f"{name}.pdmodel").read_bytes()))
            if has_params:
                add(f"{name}.pdiparams", (folder / f"{name}.pdiparams").read_bytes())
            held = io.BytesIO()
            np.savez(held, **{f"x{i}": v for i, v in enumerate(given)}, **{f"y{i}": v for i, v in enumerate(found)})
            add(f"{name}.npz", held.getvalue())
    write_by_hand()


if __name__ == "__main__":
    main()
