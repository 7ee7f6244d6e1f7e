"""Freed memory is kept where the system can, unless told not to."""

import os
import subprocess
import sys

import pytest

from vitrify.device.memory import keep_freed

PROBE = """
import resource
import numpy as np
import vitrify

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def work():
    for _ in range(50):
        np.ones(1 << 18) + np.ones(1 << 18)

work()
before = faults()
work()
print(faults() - before)
"""


def test_zero_changes_nothing() -> None:
    assert keep_freed(0) is False


@pytest.mark.skipif(not keep_freed(1024), reason="needs glibc")
def test_freed_memory_is_used_again() -> None:
    found = {}
    for kept in ("0", "1024"):
        environment = {**os.environ, "VITRIFY_KEEP_FREED_MB": kept}
        done = subprocess.run(
            [sys.executable, "-c", PROBE], env=environment, capture_output=True, text=True, check=True
        )
        found[kept] = int(done.stdout)
    assert found["1024"] < 500 and found["1024"] <= found["0"]
