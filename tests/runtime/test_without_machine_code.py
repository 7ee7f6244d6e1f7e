"""Where machine code is switched off, or llvmlite is missing, everything runs on NumPy's kernels."""

import os
import subprocess
import sys

import pytest

# What imports llvmlite finds that there is none.
MISSING = "import runpy, sys; sys.modules['llvmlite'] = None; sys.argv = ['', 'programs']; "
MISSING += "runpy.run_module('tests.runtime.without_machine_code', run_name='__main__')"
WAYS = {
    "switched off": (["-m", "tests.runtime.without_machine_code", "all"], {"VITRIFY_NATIVE": "0"}),
    "llvmlite is missing": (["-c", MISSING], {"VITRIFY_NATIVE": "1"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_operators_control_flow_and_training_need_no_machine_code(way):
    command, environment = WAYS[way]
    done = subprocess.run(
        [sys.executable, *command], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    constructs, cases = map(int, done.stdout.split())
    assert constructs > 15 and (cases > 100 or way != "switched off")
