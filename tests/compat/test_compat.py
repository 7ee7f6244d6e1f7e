"""`import paddle` gives vitrify when asked for, and only then."""

import importlib
import subprocess
import sys
import textwrap

import pytest

import vitrify
from vitrify import compat


def test_code_for_paddle_runs_without_edits(tmp_path):
    (tmp_path / "their_model.py").write_text(
        textwrap.dedent(
            """
            import paddle
            import paddle.nn as nn
            import paddle.nn.functional as F
            from paddle import ParamAttr
            from paddle.vision.models import resnet18
            from paddle.vision.ops import DeformConv2D
            from paddle.nn.initializer import Constant
            import paddle.distributed as dist

            class Net(nn.Layer):
                def __init__(self):
                    super().__init__()
                    self.fc = nn.Linear(2, 2, weight_attr=ParamAttr(initializer=Constant(1.0)))

                @paddle.jit.to_static
                def forward(self, x):
                    if x.sum() > 0:
                        return F.relu(self.fc(x)) / dist.get_world_size()
                    return x

            print(Net()(paddle.ones([1, 2])).tolist(), paddle.__name__, nn.__spec__.name, resnet18.__module__)
            """
        )
    )
    code = "import sys, vitrify; sys.path.insert(0, sys.argv[1]); vitrify.compat.install(); import their_model"
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == "" and done.stdout == "[[2.0, 2.0]] vitrify vitrify.nn vitrify.vision.models.resnet\n"


def test_the_hook_goes_away():
    with compat.as_paddle():
        assert importlib.import_module("paddle") is vitrify
        assert importlib.import_module("paddle.nn.functional") is vitrify.nn.functional
        with pytest.raises(ModuleNotFoundError, match=r"paddle\.no_such"):
            importlib.import_module("paddle.no_such")
    assert "paddle" not in sys.modules and vitrify.nn.__spec__.name == "vitrify.nn"
    compat.uninstall()


def test_paddle_itself_is_not_replaced(monkeypatch):
    monkeypatch.setitem(sys.modules, "paddle", importlib.import_module("json"))
    with pytest.raises(ImportError, match="imported already"):
        compat.install()
