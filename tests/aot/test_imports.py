"""What a process imports to run a native program: that is most of the time until the first result."""

import subprocess
import sys

RUN = """
import sys
import numpy as np
from vitrify import inference
predictor = inference.create_predictor(inference.Config(sys.argv[1]))
predictor.get_input_handle("x").copy_from_cpu(np.ones([3, 20], "float32"))
predictor.run()
print(predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu().shape)
print(*sorted({name.split(".")[1] for name in sys.modules if name.startswith("vitrify.")}))
print(*{"scipy", "llvmlite", "google", "gast"}.intersection(sys.modules))
"""


def test_a_native_program_needs_no_tensors_and_no_operators(mlp):
    done = subprocess.run([sys.executable, "-c", RUN, mlp[1]], capture_output=True, text=True, check=True)
    shape, packages, others = done.stdout.split("\n")[:3]
    assert shape == "(3, 10)"
    assert set(packages.split()) <= {"aot", "codegen", "core", "inference", "ir", "runtime"}
    assert others == ""
