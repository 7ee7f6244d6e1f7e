"""Packages of models that are installed beside libraries convert as files of the user's do; libraries do not."""

import importlib
import sys
import textwrap

import numpy as np
import pytest

import vitrify as paddle
from vitrify.convert.values import model_packages, user_code
from vitrify.convert.values.user_code import is_user_code

NET = """
    import paddle
    from .clipping import clipped


    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = paddle.nn.Linear(4, 4)
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            y = self.linear(x)
            if y.sum() > 0:
                y = y * 2
            while y.abs().max() > 1:
                y = y / 2
            return clipped(y), isinstance(y, paddle.Tensor)
"""
CLIPPING = """
    def clipped(y):
        if y.min() < 0:
            return y - 1
        return y
"""
LIBRARY = """
    def doubled(y):
        if y.min() < 0:
            return y - 1
        return y
"""
LATER = "from vitrify import to_tensor"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A folder such as pip installs to, with a package of models and a library."""
    folder = tmp_path / "site-packages"
    files = {
        "zoo_of_nets/__init__.py": NET,
        "zoo_of_nets/clipping.py": CLIPPING,
        "plain_library/__init__.py": LIBRARY,
        "plain_library/models.py": LATER,
        "one_file_of_nets.py": NET.replace("from .clipping import clipped", "clipped = abs"),
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text))
    model_packages._USES.clear()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(user_code, "_LIBRARY_ROOTS", (*user_code._LIBRARY_ROOTS, f"{folder}/"))
    with paddle.compat.as_paddle():
        yield importlib.import_module
    for name in [name for name in sys.modules if name.partition(".")[0] in ("zoo_of_nets", "plain_library")]:
        del sys.modules[name]
    sys.modules.pop("one_file_of_nets", None)


def test_models_of_an_installed_package_convert(installed):
    net = installed("zoo_of_nets").Net()
    static = paddle.jit.to_static(net.forward, full_graph=True)
    for sign in (1, -1, 1):
        x = paddle.to_tensor(np.linspace(-1, 2, 8, dtype="float32").reshape(2, 4)) * sign
        want, is_tensor = net(x)
        got, is_tensor_too = static(x)
        assert np.array_equal(want.numpy(), got.numpy())
        assert is_tensor is is_tensor_too is True
    assert net.calls == 6, "what forward counts is counted by the program, too"


def test_a_model_of_one_installed_file_converts(installed):
    net = installed("one_file_of_nets").Net()
    x = paddle.ones([2, 4])
    assert np.array_equal(net(x)[0].numpy(), paddle.jit.to_static(net.forward, full_graph=True)(x)[0].numpy())


def test_all_of_a_package_of_models_is_the_users_and_nothing_of_a_library(installed):
    assert is_user_code(installed("zoo_of_nets").clipped)
    assert not is_user_code(installed("plain_library").doubled)
    with pytest.raises(TypeError, match="known only when the program runs"):
        paddle.jit.to_static(installed("plain_library").doubled, full_graph=True)(paddle.ones([2]))


def test_a_package_may_turn_out_to_hold_models_later(installed):
    function = installed("plain_library").doubled
    assert not is_user_code(function)
    installed("plain_library.models")
    assert is_user_code(function)


def test_values_of_a_package_are_asked_nothing(installed):
    class Odd(type):
        def __getattribute__(cls, name):
            raise AssertionError("code of the value's class ran")

    library = installed("plain_library")
    library.odd = Odd("odd", (), {})
    assert not is_user_code(library.doubled)
