"""`import paddle` gives vitrify when asked for, and only then."""

import importlib
import subprocess
import sys
import textwrap

import pytest

import vitrify
from vitrify import compat
from vitrify.core.errors import UnsupportedError


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


@pytest.mark.parametrize("how", ["script", "module", "none"])
def test_programs_run_without_edits(tmp_path, how):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "net.py").write_text("import paddle.nn as nn\n\nNet = nn.Linear\n")
    main = "import sys\nfrom parts.net import Net\nif __name__ == '__main__': print(Net.__module__, sys.argv[1:])\n"
    (tmp_path / "train.py").write_text(main)
    programs = {"script": [str(tmp_path / "train.py"), "--epochs", "3"], "module": ["-m", "train", "-x"], "none": []}
    command = [sys.executable, "-m", "vitrify.compat", *programs[how]]
    folder = tmp_path if how == "module" else tmp_path / "parts"
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    said = {"script": "vitrify.nn.layer.common ['--epochs', '3']\n", "module": "vitrify.nn.layer.common ['-x']\n"}
    assert done.stdout == said.get(how, "")
    assert done.stderr.startswith("usage:") if how == "none" else done.stderr == ""


def test_modules_that_functions_hide_stay_hidden():
    """`paddle.amp.auto_cast` is a function; the module of that name is reached by `from` alone."""
    with compat.as_paddle():
        inner = importlib.import_module("paddle.amp.auto_cast")
        assert inner.auto_cast is vitrify.amp.auto_cast and callable(vitrify.amp.auto_cast)
        assert importlib.import_module("paddle").amp.auto_cast is inner.auto_cast


def test_inner_modules_leave_what_has_their_names():
    """Paddle's `distributed.communication.reduce` is a module and, as an attribute, the function in it."""
    holders = vitrify.distributed, vitrify.io
    before = [dict(vars(holder)) for holder in holders]
    with compat.as_paddle():
        for path in compat._INNER:
            importlib.import_module(f"paddle.{path}")
        inner = importlib.import_module("paddle.distributed.communication.reduce")
        assert inner.reduce is vitrify.distributed.reduce and callable(vitrify.distributed.reduce)
    assert vitrify.distributed.communication.__name__ == "vitrify.distributed.communication"
    for holder, names in zip(holders, before):
        assert {name for name, held in names.items() if vars(holder)[name] is not held} == set()


def test_the_hook_goes_away():
    with compat.as_paddle():
        assert importlib.import_module("paddle") is vitrify
        assert importlib.import_module("paddle.nn.functional") is vitrify.nn.functional
        assert importlib.import_module("paddle").paddle is vitrify
        with pytest.raises(ModuleNotFoundError, match=r"paddle\.no_such"):
            importlib.import_module("paddle.no_such")
    assert "paddle" not in sys.modules and not hasattr(vitrify, "paddle")
    assert vitrify.nn.__spec__.name == "vitrify.nn"
    compat.uninstall()


def test_paddle_itself_is_not_replaced(monkeypatch):
    monkeypatch.setitem(sys.modules, "paddle", importlib.import_module("json"))
    with pytest.raises(ImportError, match="imported already"):
        compat.install()


def test_inner_modules_lead_to_what_they_hold():
    """Of each: the paths that model code imports from, and a name there."""
    names = {
        "autograd.py_layer": "PyLayer", "base.executor": "global_scope", "framework.io": "load",
        "hapi.dynamic_flops": "flops",
        "incubate.nn.layer.fused_transformer": "FusedMultiHeadAttention", "io.dataloader": "BatchSampler",
        "io.dataloader.batch_sampler": "BatchSampler", "io.dataloader.collate": "default_convert_fn",
        "io.reader": "DataLoader", "metric.metrics": "Metric", "nn.initializer.constant": "Constant",
        "nn.initializer.kaiming": "KaimingNormal", "nn.layer.distance": "PairwiseDistance", "nn.layer.layers": "Layer",
        "nn.layer.transformer": "_convert_attention_mask", "optimizer.adamw": "AdamW", "optimizer.momentum": "Momentum",
        "static.input": "InputSpec", "utils.download": "get_weights_path_from_url",
        "vision.transforms.transforms": "Compose",
    }  # fmt: skip
    with compat.as_paddle():
        for path, name in names.items():
            assert hasattr(importlib.import_module(f"paddle.{path}"), name), path
        for path in compat._INNER:
            importlib.import_module(f"paddle.{path}")
    assert callable(vitrify.nn.initializer.Constant(1.0)) and vitrify.nn.Layer.__module__ == "vitrify.eager.layer"


def test_weights_that_somebody_put_there(tmp_path):
    url = "https://example.com/models/net.pdparams"
    with pytest.raises(UnsupportedError, match="vitrify does not download"):
        vitrify.utils.download.get_path_from_url(url, str(tmp_path))
    (tmp_path / "net.pdparams").write_bytes(b"x")
    assert vitrify.utils.download.get_path_from_url(url, str(tmp_path)) == str(tmp_path / "net.pdparams")
    with pytest.raises(ValueError, match="has the MD5 sum"):
        vitrify.utils.download.get_path_from_url(url, str(tmp_path), md5sum="0" * 32)


def test_repositories_that_ask_for_a_version_find_paddles():
    own = vitrify.__version__
    with compat.as_paddle():
        import paddle

        assert paddle.__version__ == paddle.version.full_version != own
    assert vitrify.__version__ == own


def test_inner_names_that_language_models_import():
    with compat.as_paddle():
        import paddle
        from paddle.common_ops_import import convert_dtype, convert_np_dtype_to_dtype_
        from paddle.dataset.common import md5file
        from paddle.distributed.communication.group import _get_global_group
        from paddle.distributed.fleet.layers.mpu import mp_ops
        from paddle.distributed.fleet.meta_parallel.parallel_layers import PipelineLayer, SharedLayerDesc
        from paddle.nn.layer.layers import Layer, in_declarative_mode
        from paddle.utils.download import is_url
    assert paddle.framework.io.EagerParamBase is paddle.framework.EagerParamBase
    assert convert_dtype(convert_np_dtype_to_dtype_("int64")) == "int64"
    assert _get_global_group().nranks == 1
    assert is_url("https://a/b") and not is_url("/a/b")
    assert issubclass(PipelineLayer, Layer) and md5file(__file__) and SharedLayerDesc
    x = paddle.ones([2])
    assert mp_ops._c_identity(mp_ops._c_concat(mp_ops._c_split(mp_ops._mp_allreduce(x)))) is x
    assert not in_declarative_mode()


def test_a_program_in_the_making_is_told_from_eager_code():
    from vitrify.nn.layer.layers import in_declarative_mode

    def f(x):
        return x + (1 if in_declarative_mode() else 2)

    x = vitrify.zeros([1])
    assert f(x).item() == 2 and vitrify.jit.to_static(f, full_graph=True)(x).item() == 1


def test_a_module_in_a_module_that_there_is_not():
    with compat.as_paddle(), pytest.raises(ModuleNotFoundError, match=r"No module named 'paddle\.no_such'"):
        importlib.import_module("paddle.no_such.inner")
