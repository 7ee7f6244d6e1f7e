"""What a process imports to run a saved program: that is most of the time until the first result."""

import subprocess
import sys

import pytest

import vitrify as paddle

RUN = """
import sys
import numpy as np
of_numpy = set(sys.modules)
from vitrify import inference
predictor = inference.create_predictor(inference.Config(sys.argv[1]))
predictor.get_input_handle("x").copy_from_cpu(np.ones([3, 4], "float32"))
predictor.run()
print(predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu().shape)
print(*sorted({name.split(".")[1] for name in sys.modules if name.startswith("vitrify.")}))
print(*{"scipy", "llvmlite", "gast", "vitrify.codegen.native", "vitrify.codegen.whole"}.intersection(sys.modules))
print(len([name for name in sys.modules if name.startswith("vitrify")]))
print(*{"subprocess", "vitrify.ops.methods", "vitrify.device.simulated"}.intersection(sys.modules) - of_numpy)
"""


READERS = {
    "vitrify": ("", 140),
    "paddle3": ("paddle_program", 240),
    "paddle": ("paddle_program", 240),
    "onnx": ("onnx", 240),
}
"""By format: the package that reads it, and how many modules there may be; each takes a third of a millisecond."""


@pytest.mark.parametrize("form", READERS)
def test_a_program_needs_no_tensors_no_layers_and_no_compiler(form, tmp_path):
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.GELU(), paddle.nn.LayerNorm(8), paddle.nn.Linear(8, 2))
    path = str(tmp_path / "net")
    paddle.jit.save(net, path, input_spec=[paddle.static.InputSpec([None, 4], name="x")], format=form)
    done = subprocess.run([sys.executable, "-c", RUN, path], capture_output=True, text=True, check=True)
    shape, packages, others, count, late = done.stdout.split("\n")[:5]
    reader, most = READERS[form]
    assert shape == "(3, 2)"
    needed = {"aot", "codegen", "core", "device", "inference", "ir", "ops", "runtime"}
    assert set(packages.split()) <= needed | {reader}
    assert others == ""
    assert form != "vitrify" or late == ""
    assert int(count) < most
