"""jit.save: the programs of a Layer or function, with its parameters, as files."""

from __future__ import annotations

import os
from typing import Any

from ..core.errors import ArgumentError
from ..core.lazy import lazy_module
from ..ir.model_file import ModelFile, write_model
from ..ir.model_formats import WRITERS
from .report import at_border

# What was loaded is written again without what converts and traces.
_collecting = lazy_module("vitrify.jit.collecting")
_idle_branches = lazy_module("vitrify.jit.idle_branches")


@at_border
def save(layer: Any, path: str | os.PathLike[str], input_spec: Any = None, **configs: Any) -> None:
    """Write a converted function or Layer to `path.vtmodel` and `path.vtparams`, which `jit.load` runs without source.

    layer: a Layer, or a function. Of a Layer are saved its `forward`, every other method that is a static function,
        properties with a converted getter, and what its methods under `to_static(property=True)` give. A Layer that was
        loaded is saved again with all that its file held.
    input_spec: InputSpecs of the arguments, None dimensions may vary, or tensors as examples; by default those of
        `to_static`, or of the last call. A Layer is traced twice, in evaluation and in training mode, so that it can be
        fine-tuned after loading; no gradient flows through a PyLayer there, whose `backward` is Python. Where the Layer
        cannot be traced in training mode, as one that then needs more than these arguments, a warning says so, and what
        is loaded runs in training mode as in evaluation mode.
    format: "onnx" writes `path.onnx` instead, with the settings of `onnx.export`; "paddle" writes `path.pdmodel` and
        `path.pdiparams`, which PaddlePaddle 2 and 3 read, "paddle3" `path.json` and `path.pdiparams`, or
        `params_file` in place of the latter: see docs/interchange.md. "native" writes `path.so` and `path.h`, which run
        without Python: see docs/native.md.
    Raises ArgumentError without any spec or a name in `path`, DTypeError for outputs that a file cannot hold,
    UnsupportedError for what cannot be converted and for random numbers of Python or NumPy. Source: paddle.jit.save.

    Example:
        >>> import vitrify as paddle
        >>> net = paddle.nn.Linear(4, 2)
        >>> paddle.jit.save(net, "/tmp/vitrify_linear", input_spec=[paddle.static.InputSpec([None, 4])])
        >>> paddle.jit.load("/tmp/vitrify_linear")(paddle.ones([3, 4])).shape
        paddle.Size([3, 2])
    """
    if not os.path.basename(path):
        raise ArgumentError(f"jit.save: path is a folder and the file's name without suffix, got {os.fspath(path)!r}")
    wanted = configs.pop("format", "vitrify")
    if wanted != "vitrify":
        WRITERS.writer(wanted)(layer, path, input_spec, **configs)
    else:
        write_model(path, collect(layer, input_spec))


def collect(layer: Any, input_spec: Any = None, training: bool = True) -> ModelFile:
    """The programs of a Layer or function with their tensors; `training`: those of training mode as well."""
    loaded = getattr(layer, "as_loaded", None)  # of a TranslatedLayer: what it holds, without tracing it anew
    known: ModelFile | None = None if loaded is None else loaded(training)
    if known is None or input_spec is not None:
        known = _collecting.traced(layer, input_spec, training, known)
    if not training:  # for files of others, and machine code
        known = _idle_branches.without_idle_branches(known)
    assert known is not None
    return known
