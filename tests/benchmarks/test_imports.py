"""`import vitrify` leaves alone what many programs never need, and the benchmark of its time runs."""

import subprocess
import sys

import pytest

from benchmarks import imports

HEAVY = [
    "scipy",
    "google.protobuf",
    "multiprocessing",
    "PIL",
    "cupy",
    "tensorboardX",
    "numpy.testing",
    "concurrent.futures",
]
LATER = ["vitrify.vision", "vitrify.hapi", "vitrify.io", "vitrify.optimizer", "vitrify.distribution", "vitrify.sparse"]


def test_what_takes_long_is_imported_when_it_is_needed():
    code = f"import sys, vitrify; vitrify.Tensor; print([name for name in {HEAVY + LATER} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


@pytest.mark.slow
def test_the_benchmark_names_the_parts(capsys):
    assert imports.main(["--rounds", "1", "--limit", "60"]) == 0
    assert "vitrify.ops" in capsys.readouterr().out
