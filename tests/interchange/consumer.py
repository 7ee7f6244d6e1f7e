"""Runs saved programs with PaddlePaddle itself: `python consumer.py WAY FILE...` writes FILE.WAY.npz for each.

The ways: `inference` (paddle.inference with default flags), `jit` (paddle.jit.load), `static` (load_inference_model).
A line is printed for each file: its number, and what went wrong if something did.
"""

import os
import sys

WAY, FILES = sys.argv[1], sys.argv[2:]
if WAY != "inference" and all(name.endswith(".pdmodel") for name in FILES):
    os.environ["FLAGS_enable_pir_api"] = "0"  # noqa: SIM112 - its name

import numpy as np  # noqa: E402
import paddle  # noqa: E402


def by_inference(file, arrays):
    """Return what paddle.inference gives."""
    stem = os.path.splitext(file)[0]
    config = paddle.inference.Config(file, stem + ".pdiparams")
    config.disable_glog_info()
    predictor = paddle.inference.create_predictor(config)
    for i, array in enumerate(arrays):
        if f"x{i}" in predictor.get_input_names():
            predictor.get_input_handle(f"x{i}").copy_from_cpu(array)
    predictor.run()
    return [predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()]


def by_jit(file, arrays):
    """Return what paddle.jit.load gives."""
    net = paddle.jit.load(os.path.splitext(file)[0])
    net.eval()
    out = net(*map(paddle.to_tensor, arrays))
    return [t.numpy() for t in (out if isinstance(out, (list, tuple)) else [out])]


def by_static(file, arrays):
    """Return what static.load_inference_model and an Executor give."""
    paddle.enable_static()
    exe = paddle.static.Executor(paddle.CPUPlace())
    with paddle.static.scope_guard(paddle.static.Scope()):
        program, names, targets = paddle.static.load_inference_model(os.path.splitext(file)[0], exe)
        feed = {f"x{i}": array for i, array in enumerate(arrays) if f"x{i}" in names}
        return exe.run(program, feed=feed, fetch_list=targets)


def main():
    """Run every file."""
    run = {"inference": by_inference, "jit": by_jit, "static": by_static}[WAY]
    for number, file in enumerate(FILES):
        print(f"start {number}", flush=True)
        held = np.load(os.path.join(os.path.dirname(file), "inputs.npz"))
        try:
            found = run(file, [held[f"x{i}"] for i in range(len(held.files))])
        except Exception as err:  # noqa: BLE001 - whatever it is, this file is not understood
            text = [line for line in str(err).splitlines() if "Error" in line or "(at " in line] or [str(err)]
            print(f"failed {number} {type(err).__name__}: {' '.join(text)[-300:]}", flush=True)
            continue
        np.savez(f"{file}.{WAY}.npz", *map(np.asarray, found))
        print(f"done {number}", flush=True)


main()
