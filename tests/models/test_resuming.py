"""Each model, trained on in a new process from a checkpoint, is the model that nobody stopped: eager and compiled."""

import os
import subprocess
import sys

import numpy as np
import pytest

from tests.models.resuming import WAYS, stopped
from tests.models.zoo import all_cases
from tests.peers import PATHS, ROOT


@pytest.mark.slow
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in all_cases()])
def test_a_new_process_goes_on_as_if_none_had_stopped(case, tmp_path):
    expected = {way: stopped(case, way, tmp_path) for way in WAYS}
    command = [sys.executable, "-m", "tests.models.resuming", case.name, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **PATHS}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for way, values in expected.items():
        with np.load(tmp_path / way / "resumed.npz") as found:
            assert set(found.files) == values.keys()
            for name, value in values.items():
                np.testing.assert_allclose(found[name], value, 1e-5, 1e-7, err_msg=f"{way}: {name}")
