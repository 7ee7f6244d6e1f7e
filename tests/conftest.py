"""What all tests share: seeds, the slow ones run last, those that need a GPU or machine code are skipped without."""

import gc
import os
import random
import signal
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings

from vitrify.codegen.llvm import why_not_here
from vitrify.core import names
from vitrify.core.config import NATIVE, set_flags
from vitrify.core.rng import seed

# Examples are timed by nobody: on a busy machine a deadline fails at random. CI draws the same ones each time.
settings.register_profile("vitrify", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("vitrify")

# What a program computes to the last bit must not depend on how often others ran before it: groups of operators are
# compiled where a test asks for it.
set_flags({"native_after_ms": 1e9})

# Shells make what they run in the background deaf for Ctrl-C, which tests of interrupts press.
signal.signal(signal.SIGINT, signal.default_int_handler)


def cuda_is_here() -> bool:
    """Say whether CuPy is installed and sees a device."""
    if find_spec("cupy") is None:
        return False
    cupy = import_module("cupy")
    try:
        return bool(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


def seed_all() -> None:
    """Start all random numbers from the beginning: no test depends on those that ran before it, or on the day."""
    random.seed(0)
    np.random.seed(0)
    seed(0)


@pytest.hookimpl(tryfirst=True)
def pytest_collectstart(collector: pytest.Collector) -> None:
    if isinstance(collector, pytest.Module):
        seed_all()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files without slow tests where only such are asked for.

    Nine files of ten have none, and every worker reads and imports all that it does not leave out.
    """
    if not only_slow(config.option.markexpr) or not collection_path.name.startswith("test_"):
        return None
    return (collection_path.is_file() and not names_slow(collection_path)) or None


def only_slow(marks: str) -> bool:
    """Say whether `-m` asks for slow tests alone, as "slow and not gpu" does."""
    return "slow" in marks.split(" and ") and " or " not in marks


def names_slow(path: Path) -> bool:
    """Say whether a file can mark tests as slow."""
    return "slow" in path.read_text(encoding="utf-8")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    gc.disable()  # what is collected stays
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    # Tens of thousands of tests, which each search for cycles would go over: it took a tenth of the time of all tests.
    gc.collect()
    gc.freeze()
    # Python goes over all that is old once a quarter as much has grown old since, what is frozen not counted: every few
    # tests, for a tenth of their time. Those that are about memory collect themselves.
    gc.set_threshold(2000, 10, 30)
    # Programs that tests write follow each other within a second, in files of one name and maybe of one size: Python
    # would take the bytecode of the one before.
    sys.dont_write_bytecode = True


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    seed_all()
    numbers, _ = names.switch()
    names.switch(numbers)  # a test may name its parameters as an earlier one did


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a test as pytest itself does, but let a worker tell of it in one message rather than five.

    Messages between processes took longer than most tests: what began, was set up and taken down well goes unsaid.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed or report.duration > 0.1:
            if report.passed:
                report.keywords = {}
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files that tests compare with")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow = {item: item.get_closest_marker("slow") is not None for item in items}
    unseen = [path for path in {item.path for item in items if slow[item]} if not names_slow(path)]
    if unseen:
        raise pytest.UsageError(f"slow tests are marked by the files that hold them, not elsewhere: {unseen}")
    # A stable sort: within each group the order of the files stays.
    items.sort(key=slow.__getitem__)
    if any(item.get_closest_marker("gpu") for item in items) and not cuda_is_here():
        skip(items, "gpu", "needs CuPy and a CUDA device")
    if not NATIVE.setting.get() or why_not_here():
        skip(items, "native", "needs machine code, which is switched off or cannot be made here")


def skip(items: list[pytest.Item], marker: str, reason: str) -> None:
    """Skip the tests that have a marker."""
    for item in items:
        if item.get_closest_marker(marker):
            item.add_marker(pytest.mark.skip(reason=reason))
