"""Freed memory is kept where the system can, unless told not to."""

import os
import subprocess
import sys

import pytest

from vitrify.device.memory import keep_freed

PROBE = """
import resource
import numpy as np
import vitrify.device

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


THREADS_PROBE = """
from threading import Barrier, Thread
from pathlib import Path
import numpy as np
import vitrify.device

def mebibytes():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))

def work(number):
    all_live.wait()
    for turn in range(5):
        if turn == number:
            arrays = [np.ones(1 << 17) for _ in range(32)]
            del arrays
        turns.wait()

all_live, turns = Barrier(5), Barrier(5)
before = mebibytes()
threads = [Thread(target=work, args=(number,)) for number in range(5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(mebibytes() - before)
"""


def in_fresh_process(program: str, kept: str) -> float:
    environment = {**os.environ, "VITRIFY_KEEP_FREED_MB": kept}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def test_zero_changes_nothing() -> None:
    assert keep_freed(0) is False


@pytest.mark.skipif(not keep_freed(1024), reason="needs glibc")
def test_freed_memory_is_used_again() -> None:
    kept, given_back = in_fresh_process(PROBE, "1024"), in_fresh_process(PROBE, "0")
    assert kept < 500 and kept <= given_back


@pytest.mark.skipif(not keep_freed(1024), reason="needs glibc")
def test_threads_share_what_is_kept() -> None:
    """Five threads take 32 MiB in turn, each after the other has freed it."""
    assert in_fresh_process(THREADS_PROBE, "1024") < 80
