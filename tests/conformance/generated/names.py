"""What is public: functions, Tensor methods and Layers, with their parameters."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import vitrify
from tests.conformance.execution import found_at

MODULES = ("linalg", "fft", "signal", "nn.functional", "geometric", "vision.ops", "incubate", "incubate.nn.functional",
           "audio.functional", "sparse", "")  # fmt: skip

# Names -> why no calls of them are made by rule.
LEFT_OUT = {
    "they change settings that later cases would see": """set_default_dtype set_device set_flags set_grad_enabled
        set_printoptions set_rng_state set_cuda_rng_state enable_static disable_static disable_signal_handler seed
        manual_seed""",
    "they say where and how things run": """get_device get_flags get_rng_state get_cuda_rng_state get_cudnn_version
        is_compiled_with_* device_guard check_shape synchronize cpu cuda to pin_memory data_ptr element_size place""",
    "they make scopes and functions, not tensors": """no_grad enable_grad grad autocast to_static save load summary
        flops batch LazyGuard register_hook register_* remove_* apply apply_""",
    "memory that was not written yet has no values to compare": "empty empty_like Tensor.new_empty",
    "what they give or print is the framework's own": """Tensor.value Tensor.get_tensor Tensor.__* Tensor.to_dlpack
        to_dlpack from_dlpack Tensor.array Tensor.numpy_like Tensor.dump iinfo finfo dtype""",
    "files and processes": "read_file decode_jpeg Tensor.share_memory_",
}


@dataclass(frozen=True)
class Name:
    """A public name: its path, its kind (function, method, layer), its parameters."""

    path: str
    kind: str
    parameters: tuple[inspect.Parameter, ...]

    @property
    def last(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]

    @property
    def required(self) -> list[str]:
        """The parameters that must be given."""
        return [p.name for p in self.parameters if p.default is p.empty]

    @property
    def optional(self) -> list[inspect.Parameter]:
        """The parameters that may be given."""
        return [p for p in self.parameters if p.default is not p.empty]


@cache
def public_names() -> tuple[Name, ...]:
    """Return all that is public, functions first, each once."""
    found = [name for module in MODULES for name in _functions(module)]
    return (*found, *_methods(), *_layers())


def _functions(module: str) -> list[Name]:
    here = found_at(vitrify, module) if module else vitrify
    prefix = f"paddle.{module}." if module else "paddle."
    names = [name for name in sorted(dir(here)) if not _is_left_out(name)]
    functions = [(name, getattr(here, name, None)) for name in names]
    return [
        made
        for name, function in functions
        if callable(function) and not inspect.isclass(function) and not isinstance(function, ModuleType)
        if (made := _named(prefix + name, "function", function)) is not None
    ]


def _methods() -> list[Name]:
    names = [name for name in sorted(dir(vitrify.Tensor)) if not _is_left_out(name, "Tensor.")]
    functions = [(name, getattr(vitrify.Tensor, name, None)) for name in names]
    made = [_named(f"Tensor.{name}", "method", function) for name, function in functions if callable(function)]
    return [one for one in made if one is not None]


def _layers() -> list[Name]:
    classes = [(name, getattr(vitrify.nn, name)) for name in sorted(dir(vitrify.nn)) if not name.startswith("_")]
    made = [
        _named(f"paddle.nn.{name}", "layer", value)
        for name, value in classes
        if inspect.isclass(value) and issubclass(value, vitrify.nn.Layer) and value is not vitrify.nn.Layer
    ]
    return [one for one in made if one is not None]


def _named(path: str, kind: str, function: Any) -> Name | None:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    plain = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name not in ("out", "name")]
    return Name(path, kind, tuple(plain))


@cache
def _patterns() -> tuple[str, ...]:
    return tuple(pattern for names in LEFT_OUT.values() for pattern in names.split())


def _is_left_out(name: str, prefix: str = "") -> bool:
    if name.startswith("_"):
        return True
    wholes = (name, prefix + name)
    return any(one == pattern or (pattern.endswith("*") and one.startswith(pattern[:-1]))
               for pattern in _patterns() for one in wholes)  # fmt: skip
