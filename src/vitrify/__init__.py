"""vitrify: eager tensors with autograd, and Python functions turned into static programs.

`import vitrify as paddle` gives PaddlePaddle 3's public names.
"""

from functools import partial as _partial
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING
from typing import Any as _Any

from .core.collecting import collection_paused as _collection_paused
from .core.late import OP_PACKAGES as _OP_PACKAGES
from .core.lazy import lazy_attributes as _lazy_attributes
from .ir.block_surgery import SURGERY as _SURGERY
from .ir.described import DESCRIPTIONS as _DESCRIPTIONS
from .ir.model_formats import READERS as _READERS
from .ir.model_formats import STATES as _STATES
from .ir.model_formats import WRITERS as _WRITERS
from .ir.program_desc import STRINGS as _STRINGS

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .public import *  # noqa: F403 - for type checkers: all that is public

# Packages that run saved models and need little else: asking for them imports nothing but what they use.
_ALONE = ("aot", "inference")
# Packages that not every program needs are imported when first asked for, themselves or one of these names.
_LAZY = (
    "_C_ops", "_legacy_C_ops", "common_ops_import",
    "audio", "base", "callbacks", "compat", "cuda", "distributed", "distribution", "fft", "framework", "functional",
    "geometric", "hapi", "hub", "incubate", "io", "metric", "onnx", "optimizer", "paddle_program", "pir", "profiler",
    "quantization", "random", "signal", "sparse", "special", "static", "tensor", "text", "utils", "version", "vision",
)  # fmt: skip
_NAMES = {
    "DataParallel": "distributed",
    "batch": "utils",
    **dict.fromkeys(("load", "save"), "framework"),
    **dict.fromkeys(("Model", "flops", "summary"), "hapi"),
}
_package = _lazy_attributes(__name__, modules=(*_ALONE, *_LAZY), names=_NAMES)


def _load() -> None:
    """Take over the names of `public`, with which come Tensors, ops and Layers."""
    with _collection_paused():
        public = vars(_import_module(".public", __name__))
    for name, value in public.items():
        if not name.startswith("_"):
            globals().setdefault(name, value)


def _starred() -> list[str]:
    """What `from vitrify import *` brings: no packages, and none of Python's names that Paddle leaves alone."""
    _load()
    public = vars(_import_module(".public", __name__))
    own = (name for name, value in public.items() if not name.startswith("_") and not isinstance(value, _ModuleType))
    return sorted({*own, *_NAMES} - {"int", "long", "short"})


def __getattr__(name: str) -> _Any:
    if name in _ALONE:
        return _package(name)
    if name == "__all__":
        return _starred()
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _load()
    return globals()[name] if name in globals() else _package(name)


def __dir__() -> list[str]:
    _load()
    return sorted(globals())


# What defines ops, which saved programs name.
for _name in (
    "public",
    "eager.late_call",
    "optimizer",
    "paddle_program.detection_operators",
    "static",
    "text",
    "vision",
):
    _OP_PACKAGES.add(_partial(_import_module, f".{_name}", __name__))
_DESCRIPTIONS.set(lambda: _import_module(".paddle_program.description", __name__))
_STRINGS.set(lambda: _import_module(".paddle_program.program_string", __name__))
_SURGERY.set(lambda: _import_module(".paddle_program.block_surgery", __name__))
_STATES.add(lambda: _package("framework").save_load.read_state)
_READERS.add(".json", lambda: _package("paddle_program").read_json_format)
_READERS.add(".pdmodel", lambda: _package("paddle_program").read_desc_format)
_READERS.add("__model__", lambda: _package("paddle_program").read_desc_format)
_READERS.add(".onnx", lambda: _package("onnx").read_format)
_READERS.add(".so", lambda: _package("aot").no_operators)
_READERS.add(".dylib", lambda: _package("aot").no_operators)
_WRITERS.add("paddle", lambda: _package("paddle_program").save_desc)
_WRITERS.add("paddle3", lambda: _package("paddle_program").save_json)
_WRITERS.add("onnx", lambda: _package("onnx").save_format)
_WRITERS.add("native", lambda: _package("aot").save_format)
