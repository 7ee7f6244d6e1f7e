"""`import paddle` gives vitrify, for code that was written for Paddle, from when `install` is called.

>>> import vitrify
>>> with vitrify.compat.as_paddle():
...     import paddle
...     import paddle.nn.functional as F
>>> paddle is vitrify and F is vitrify.nn.functional
True

`python -m vitrify.compat train.py --epochs 3` and `python -m vitrify.compat -m tools.train` run a program so, unedited.
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
from types import ModuleType

from .core.errors import UserCodeError
from .core.paddle_version import FULL_VERSION

_OURS, _THEIRS = "vitrify", "paddle"
_OWN_VERSION = vars(sys.modules[_OURS])["__version__"]


class PaddleLoadedError(UserCodeError, ImportError):
    """PaddlePaddle itself was imported before."""


# Inner modules of Paddle that model code imports from -> the modules here that have what they have.
_INNER = {
    "autograd.autograd": "autograd",
    "autograd.backward_mode": "autograd",
    "autograd.py_layer": "autograd",
    "base.backward": "static",
    "base.executor": "static",
    "base.layer_helper": "paddle_program.layer_helper",
    "base.unique_name": "utils.unique_name",
    "dataset": "utils",
    "dataset.common": "utils.download",
    "distributed.communication": "distributed",
    "distributed.communication.group": "distributed",
    "distributed.communication.reduce": "distributed.collective",
    **{f"distributed.fleet.{name}": "distributed.fleet" for name in ("base", "base.distributed_strategy", "fleet")},
    "distributed.fleet.base.role_maker": "distributed.fleet.roles",
    "distributed.fleet.base.topology": "distributed.fleet.topology",
    "distributed.fleet.base.util_factory": "distributed.fleet.util",
    **{f"distributed.fleet.{name}": "distributed.fleet.utils" for name in ("recompute", "recompute.recompute")},
    **{f"distributed.fleet.meta_optimizers.dygraph_optimizer.{name}": "distributed.fleet.meta_optimizers" for name in (
        "dygraph_sharding_optimizer", "hybrid_parallel_optimizer",
    )},
    "distributed.fleet.meta_parallel.sharding.group_sharded_optimizer_stage2": (
        "distributed.fleet.meta_parallel.sharding"
    ),
    "distributed.fleet.meta_parallel.parallel_layers": "distributed.fleet.meta_parallel",
    "framework.dtype": "",
    "framework.framework": "framework",
    "geometric.math": "geometric",
    "geometric.message_passing": "geometric",
    "geometric.message_passing.send_recv": "geometric",
    "geometric.sampling": "geometric",
    "geometric.sampling.neighbors": "geometric",
    "hapi.dynamic_flops": "hapi.flops",
    "hapi.hub": "hub",
    "hapi.model_summary": "hapi",
    "incubate.distributed": "distributed",
    "incubate.distributed.fleet": "distributed.fleet.utils",
    "incubate.nn.layer": "incubate.nn",
    "incubate.nn.layer.fused_linear": "incubate.nn",
    "incubate.nn.loss": "incubate",
    "incubate.nn.layer.fused_dropout_add": "incubate.nn",
    "incubate.nn.layer.fused_transformer": "incubate.nn",
    "incubate.operators": "incubate",
    "incubate.tensor": "incubate",
    "incubate.tensor.math": "incubate",
    "io.dataloader": "io",
    "io.dataloader.batch_sampler": "io",
    "io.dataloader.collate": "io.collate",
    "io.dataloader.dataset": "io",
    "io.dataloader.sampler": "io",
    "io.dataloader.dataloader_iter": "io",
    "io.dataloader.worker": "io",
    "io.reader": "io",
    "jit.dy2static": "jit",
    "jit.dy2static.logging_utils": "jit",
    "jit.dy2static.program_translator": "jit",
    "jit.translated_layer": "jit",
    "metric.metrics": "metric",
    "nn.initializer.lazy_init": "eager.lazy_init",
    "nn.layer.distance": "nn",
    **{f"nn.utils.{name}": "nn.utils" for name in ("clip_grad_norm_", "clip_grad_value_")},
    "nn.utils.spectral_norm_hook": "nn.utils",
    "nn.utils.transform_parameters": "nn.utils",
    "nn.utils.weight_norm_hook": "nn.utils",
    **{f"nn.quant.{name}": "nn.quant" for name in ("qat", "qat.conv", "qat.linear")},
    **{f"profiler.{name}": "profiler" for name in ("profiler_statistic", "utils")},
    "sparse.binary": "sparse",
    "sparse.nn.layer": "sparse.nn.layers",
    "sparse.multiary": "sparse",
    "sparse.unary": "sparse",
    **{f"quantization.{name}": "quantization.base" for name in ("base_observer", "base_quanter")},
    **{f"quantization.{name}": "quantization.quantize" for name in ("ptq", "qat")},
    "quantization.observers.groupwise": "quantization.observers.abs_max",
    "static.input": "static",
    "static.io": "static",
    **{f"static.nn.{name}": "static.nn" for name in ("common", "sequence_lod", "static_pylayer")},
    "static.nn.metric": "static",
    "tensor.einsum": "tensor",
    "tensor.to_string": "",
    "utils.cpp_extension.cpp_extension": "utils.cpp_extension",
    "utils.cpp_extension.extension_utils": "utils.cpp_extension",
    "utils.install_check": "utils",
    **{f"vision.transforms.functional_{name}": "vision.transforms.functional" for name in ("cv2", "pil", "tensor")},
    "vision.transforms.transforms": "vision.transforms.classes",
    **{f"nn.initializer.{name}": "nn.initializer" for name in (
        "assign", "bilinear", "constant", "dirac", "initializer", "kaiming", "normal", "orthogonal", "uniform",
        "xavier",
    )},
    **{f"optimizer.{name}": "optimizer" for name in (
        "adadelta", "adagrad", "adamax", "adamw", "lamb", "momentum", "nadam", "radam",
        "rmsprop", "rprop", "sgd",
    )},
}  # fmt: skip


def _own_name(name: str) -> str:
    inner = name[len(_THEIRS) + 1 :]
    return ".".join(filter(None, (_OURS, _INNER.get(inner, inner))))


class _Alias(Loader):
    """Gives a module of vitrify as it is, its own description included."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(_own_name(spec.name))
        spec.loader_state = module.__spec__, module.__loader__
        return module

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        if spec is not None and spec.loader_state is not None:
            theirs, (module.__spec__, module.__loader__) = spec.name, spec.loader_state
            _enter_hidden(theirs, module)
            if theirs == _THEIRS:  # Paddle's package imports its own modules, so `paddle.paddle` is itself
                vars(module)[_THEIRS] = module


def _enter_hidden(theirs: str, package: ModuleType) -> None:
    """Enter the modules of a package that its attributes of the same names hide, such as the function `amp.auto_cast`.

    Importing such a module later would put it in the attribute's place.
    """
    outer = theirs.removeprefix(_THEIRS).lstrip(".")
    for inner in _INNER:
        parent, _, child = inner.rpartition(".")
        if parent == outer and child in vars(package):
            module = sys.modules.setdefault(f"{theirs}.{child}", import_module(_own_name(f"{_THEIRS}.{inner}")))
            _enter_hidden(f"{theirs}.{child}", module)
    start = package.__name__ + "."
    for name, module in list(sys.modules.items()):
        child = name.removeprefix(start)
        if name.startswith(start) and "." not in child and getattr(package, child, module) is not module:
            sys.modules.setdefault(f"{theirs}.{child}", module)


class _Finder(MetaPathFinder):
    """Finds `paddle.x` where there is a `vitrify.x`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _THEIRS and not fullname.startswith(_THEIRS + "."):
            return None
        try:
            own = find_spec(_own_name(fullname))
        except ModuleNotFoundError:  # nor is there what it would be in
            return None
        if own is None:
            return None
        return spec_from_loader(fullname, _Alias(), is_package=own.submodule_search_locations is not None)


_FINDER = _Finder()


def _loaded() -> dict[str, ModuleType]:
    return {name: module for name, module in sys.modules.items() if name.split(".")[0] == _THEIRS}


def install() -> None:
    """From now on `import paddle` and `import paddle.x` give vitrify and its modules.

    Until `uninstall`, `paddle.__version__` is that of the PaddlePaddle whose names these are: repositories refuse to be
    imported where it is too old.

    Raises PaddleLoadedError (an ImportError) where PaddlePaddle itself was imported before.
    """
    if any(not module.__name__.startswith(_OURS) for module in _loaded().values()):
        raise PaddleLoadedError("compat.install: PaddlePaddle itself is imported already", hint="call it first of all")
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
        vars(sys.modules[_OURS])["__version__"] = FULL_VERSION


def uninstall() -> None:
    """From now on `import paddle` is what it was; modules that hold vitrify keep it."""
    if _FINDER in sys.meta_path:
        sys.meta_path.remove(_FINDER)
        vars(sys.modules[_OURS])["__version__"] = _OWN_VERSION
        own = sys.modules.get(_THEIRS)
        if own is not None:
            vars(own).pop(_THEIRS, None)
        for name in _loaded():
            del sys.modules[name]


@contextmanager
def as_paddle() -> Iterator[None]:
    """A block in which `import paddle` gives vitrify."""
    installed = _FINDER in sys.meta_path
    install()
    try:
        yield
    finally:
        if not installed:
            uninstall()


def run(arguments: Sequence[str]) -> None:
    """Run a program that is written for Paddle: `script.py` or `-m module`, and the arguments it gets.

    Raises SystemExit where there is none of both. As in Python itself the script's folder is where it imports from.
    """
    named = list(arguments[:1]) == ["-m"]
    program = list(arguments[named:])
    if not program or program[0].startswith("-"):
        raise SystemExit("usage: python -m vitrify.compat (SCRIPT | -m MODULE) [ARGUMENT ...]")
    install()
    sys.argv = program
    if named:
        runpy.run_module(program[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(program[0]))
        runpy.run_path(program[0], run_name="__main__")


__all__ = ["PaddleLoadedError", "as_paddle", "install", "run", "uninstall"]

if __name__ == "__main__":
    import_module(f"{_OURS}.compat").run(sys.argv[1:])  # the one module of that name, which holds the finder
