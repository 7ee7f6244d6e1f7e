"""Native programs that tests share."""

import shutil

import numpy as np
import pytest

import vitrify as paddle
from vitrify.aot.linking import LINKERS
from vitrify.codegen.llvm import why_not_here


def pytest_collection_modifyitems(items):
    has_linker = any(shutil.which(name) for name, _ in LINKERS)
    reason = why_not_here() or ("" if has_linker else "there is no linker")
    for item in items:
        if item.path.name == "test_object_file.py":  # which is about what is made without a linker
            continue
        if reason and "tests/aot" in str(item.path):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def mlp(tmp_path_factory):
    """(a Layer, the path of its program) of an MLP that takes any number of rows."""
    paddle.seed(0)
    net = paddle.nn.Sequential(paddle.nn.Linear(20, 64), paddle.nn.ReLU(), paddle.nn.Linear(64, 10))
    path = str(tmp_path_factory.mktemp("mlp") / "mlp")
    paddle.jit.save(net, path, input_spec=[paddle.static.InputSpec([None, 20], name="x")], format="native")
    return net, path


@pytest.fixture
def rows():
    """A function that gives arrays of some rows."""
    return lambda n: np.random.default_rng(n).standard_normal((n, 20)).astype("float32")
