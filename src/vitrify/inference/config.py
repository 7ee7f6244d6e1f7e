"""Config: which model a predictor runs, and how."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ..aot.files import native_file
from ..core.atomic_file import atomic_file
from ..core.errors import ArgumentError, DTypeError
from ..core.lazy import lazy_module
from ..core.place import CPUPlace, CUDAPlace, Place
from ..core.source import user_stacklevel
from ..ir.model_formats import READERS, read_any_model
from ..runtime.options import ExecutionOptions
from .kinds import PrecisionType

if TYPE_CHECKING:
    from ..ir.model_file import ModelFile

C = TypeVar("C", bound=type)
_available, _tempfile = lazy_module("vitrify.device.available"), lazy_module("tempfile")

# Settings that say how Paddle's engines go about it: kept and given back, but what is computed here does not depend on
# them. (the method, what it keeps, the value that it keeps; ... stands for its first argument)
_KEPT: tuple[tuple[str, str, Any], ...] = (
    ("disable_glog_info", "glog_info_disabled", True),
    ("switch_ir_debug", "ir_debug", ...),
    ("switch_specify_input_names", "specify_input_name", ...),
    ("switch_use_feed_fetch_ops", "use_feed_fetch_ops_enabled", ...),
    ("enable_mkldnn", "mkldnn_enabled", True),
    ("disable_mkldnn", "mkldnn_enabled", False),
    ("enable_onednn", "mkldnn_enabled", True),
    ("disable_onednn", "mkldnn_enabled", False),
    ("enable_mkldnn_int8", "mkldnn_int8_enabled", True),
    ("enable_onednn_int8", "mkldnn_int8_enabled", True),
    ("enable_mkldnn_bfloat16", "mkldnn_bfloat16_enabled", True),
    ("enable_onednn_bfloat16", "mkldnn_bfloat16_enabled", True),
    ("set_mkldnn_cache_capacity", "mkldnn_cache_capacity", ...),
    ("set_onednn_cache_capacity", "mkldnn_cache_capacity", ...),
    ("set_mkldnn_op", "mkldnn_ops", ...),
    ("set_onednn_op", "mkldnn_ops", ...),
    ("set_bfloat16_op", "bfloat16_ops", ...),
    ("disable_mkldnn_fc_passes", "mkldnn_fc_passes_disabled", True),
    ("disable_onednn_fc_passes", "mkldnn_fc_passes_disabled", True),
    ("enable_profile", "profile_enabled", True),
    ("enable_new_ir", "new_ir_enabled", ...),
    ("enable_new_executor", "new_executor_enabled", ...),
    ("enable_cinn", "cinn_enabled", True),
    ("enable_low_precision_io", "low_precision_io_enabled", ...),
    ("enable_save_optim_model", "save_optimized_model", ...),
    ("use_optimized_model", "optimized_model_used", ...),
    ("enable_custom_passes", "custom_passes", ...),
    ("set_optimization_level", "optimization_level", ...),
    ("set_optim_cache_dir", "optim_cache_dir", ...),
    ("disable_onnxruntime", "onnxruntime_enabled", False),
    ("enable_ort_optimization", "ort_optimization_enabled", True),
    ("exp_disable_mixed_precision_ops", "mixed_precision_black_list", ...),
    ("exp_enable_mixed_precision_ops", "mixed_precision_white_list", ...),
    ("exp_enable_use_cutlass", "use_cutlass", True),
    ("exp_disable_tensorrt_ops", "tensorrt_ops_disabled", ...),
    ("exp_disable_tensorrt_dynamic_shape_ops", "tensorrt_dynamic_shape_ops_disabled", ...),
    ("exp_disable_tensorrt_subgraph", "tensorrt_subgraph_disabled", ...),
    ("set_trt_dynamic_shape_info", "trt_dynamic_shape_info", ...),
    ("set_tensorrt_optimization_level", "tensorrt_optimization_level", ...),
    ("enable_tuned_tensorrt_dynamic_shape", "tuned_tensorrt_dynamic_shape", True),
    ("collect_shape_range_info", "shape_range_info_path", ...),
)
# Engines that are not here: asking for one is answered with a warning, and the model runs all the same.
_ABSENT = {
    "enable_tensorrt_engine": "TensorRT",
    "enable_tensorrt_dla": "TensorRT",
    "enable_tensorrt_varseqlen": "TensorRT",
    "enable_tensorrt_inspector": "TensorRT",
    "enable_tensorrt_explicit_quantization": "TensorRT",
    "enable_tensorrt_memory_optim": "TensorRT",
    "enable_openvino_engine": "OpenVINO",
    "enable_onnxruntime": "ONNX Runtime",
    "enable_lite_engine": "Paddle Lite",
    "enable_ipu": "IPUs",
    "enable_xpu": "XPUs",
    "enable_npu": "NPUs",
    "enable_custom_device": "custom devices",
}
_ANSWERS: dict[str, Any] = {
    "specify_input_name": False,
    "glog_info_disabled": False,
    "use_feed_fetch_ops_enabled": False,
    "mkldnn_enabled": False,
    "mkldnn_int8_enabled": False,
    "new_ir_enabled": True,
    "onnxruntime_enabled": False,
    "openvino_engine_enabled": False,
    "tensorrt_engine_enabled": False,
    "tensorrt_dynamic_shape_enabled": False,
    "tuned_tensorrt_dynamic_shape": False,
    "shape_range_info_path": "",
    "use_xpu": False,
}


def _keeper(name: str, key: str, value: Any) -> Callable[..., None]:
    def keep(self: Config, first: Any = True, *args: Any, **kwargs: Any) -> None:
        given = next(iter(kwargs.values()), first)
        self._kept[key] = given if value is ... else value

    keep.__name__ = name
    keep.__doc__ = f"Keep the setting `{key}`, on which no result depends here. Source: paddle.inference.Config.{name}."
    return keep


def _refuser(name: str, what: str) -> Callable[..., None]:
    def warn(self: Config, *args: Any, **kwargs: Any) -> None:
        warnings.warn(f"Config.{name}: there is no {what} here; the model runs without", stacklevel=user_stacklevel())

    warn.__name__ = name
    warn.__doc__ = f"Warn that {what} cannot be had: the model runs without. Source: paddle.inference.Config.{name}."
    return warn


def _teller(name: str) -> Callable[..., Any]:
    def tell(self: Config) -> Any:
        return self._kept.get(name, _ANSWERS[name])

    tell.__name__ = name
    tell.__doc__ = f"What was set of `{name}`. Source: paddle.inference.Config.{name}."
    return tell


def _with_settings(cls: C) -> C:
    """The class with a method for each row of the tables above."""
    for name, key, value in _KEPT:
        setattr(cls, name, _keeper(name, key, value))
    for name, what in _ABSENT.items():
        setattr(cls, name, _refuser(name, what))
    for name in _ANSWERS:
        setattr(cls, name, _teller(name))
    cls.onednn_enabled, cls.onednn_int8_enabled = cls.mkldnn_enabled, cls.mkldnn_int8_enabled  # type: ignore[attr-defined]
    return cls


@_with_settings
class Config:
    """Which model a predictor runs, and how. Source: paddle.inference.Config.

    `Config(model_file, params_file)`, `Config(folder)`, or `Config(path)` as `path` was given to `jit.save`. Any format
    that `jit.load` reads will do. Where `x.pdmodel` or `x.json` is named but not there, `x.vtmodel` is taken.

    What changes how a model runs: the device, the number of threads, `switch_ir_optim`, `enable_memory_optim`. Settings
    of Paddle's engines (oneDNN, TensorRT, passes) are kept and change nothing; the precision is always the model's.

    Example:
        >>> import vitrify as paddle
        >>> config = paddle.inference.Config("/tmp/net.json", "/tmp/net.pdiparams")
        >>> config.set_cpu_math_library_num_threads(2)
        >>> config.cpu_math_library_num_threads(), config.use_gpu()
        (2, False)
    """

    Precision = PrecisionType

    def __init__(self, model: Any = None, params: Any = None) -> None:
        self._kept: dict[str, Any] = {}
        self._folder = self._file = self._params = ""
        self._buffers: tuple[bytes, bytes] | None = None
        self._place: Place = CPUPlace()
        self._pool_mb = 0
        self._threads = 0
        self._optimize = self._save_memory = True
        if isinstance(model, Config):
            self.__dict__.update({**model.__dict__, "_kept": dict(model._kept)})
        elif model is not None:
            self.set_model(model, *(() if params is None else (params,)))

    # --- the model ---------------------------------------------------------------------------------------------------

    def set_model(self, model: Any, params: Any = None) -> None:
        """The model's file and its parameters', or one folder or path for both."""
        for given in (model, params):
            if given is not None and not isinstance(given, (str, os.PathLike)):
                raise DTypeError(f"Config: a model is named by a path, but received {type(given).__name__}")
        self._buffers = None
        path = os.fspath(model)
        if params is None:
            self._folder, self._file, self._params = path, "", ""
        else:
            self._folder, self._file, self._params = "", path, os.fspath(params)

    def set_prog_file(self, path: str) -> None:
        """The model's file."""
        self._file, self._folder = os.fspath(path), ""

    def set_params_file(self, path: str) -> None:
        """The parameters' file."""
        self._params = os.fspath(path)

    def set_model_buffer(self, program: bytes, program_size: int, params: bytes, params_size: int) -> None:
        """The contents of the model's files, in place of their names."""
        self._buffers = (_cut(program, program_size), _cut(params, params_size))

    def model_dir(self) -> str:
        """The folder or path given for both files."""
        return self._folder

    def prog_file(self) -> str:
        """The model's file."""
        return self._file

    def params_file(self) -> str:
        """The parameters' file."""
        return self._params

    def model_from_memory(self) -> bool:
        """Whether `set_model_buffer` gave the contents."""
        return self._buffers is not None

    def native_file(self) -> str | None:
        """The library, where the model is a native program; raises as `read_model`."""
        path = self._file or self._folder
        if self._buffers is not None or not path:
            return None
        return native_file(READERS.find(path, self._params or None).file)

    def read_model(self) -> ModelFile:
        """The model's `forward`.

        Raises ArgumentError when none is named, FileNotFoundError, FileFormatError, UnsupportedError.
        """
        if self._buffers is not None:
            return _from_memory(*self._buffers)
        path = self._file or self._folder
        if not path:
            raise ArgumentError("Config: no model is named", hint="Config('net.json', 'net.pdiparams')")
        return read_any_model(path, self._params or None, only="forward")

    # --- how it runs -------------------------------------------------------------------------------------------------

    def enable_use_gpu(
        self, memory_pool_init_size_mb: int = 100, device_id: int = 0, precision_mode: Any = PrecisionType.Float32
    ) -> None:
        """Run on a GPU; where there is none warn, and run on the CPU."""
        if device_id >= _available.device_count():
            message = f"Config.enable_use_gpu: there is no GPU {device_id}; the model runs on the CPU"
            warnings.warn(message, stacklevel=user_stacklevel())
            return
        self._place, self._pool_mb = CUDAPlace(device_id), memory_pool_init_size_mb

    def disable_gpu(self) -> None:
        """Run on the CPU."""
        self._place = CPUPlace()

    def use_gpu(self) -> bool:
        """Whether a GPU is used."""
        return self._place.kind == "gpu"

    def gpu_device_id(self) -> int:
        """The GPU's number."""
        return self._place.index if self.use_gpu() else 0

    def memory_pool_init_size_mb(self) -> int:
        """The size given to enable_use_gpu; memory is taken as it is needed."""
        return self._pool_mb

    def fraction_of_gpu_memory_for_pool(self) -> float:
        """0: memory is taken as it is needed."""
        return 0.0

    def place(self) -> Place:
        """Where the model runs."""
        return self._place

    def set_cpu_math_library_num_threads(self, threads: int) -> None:
        """How many threads may compute at once: one matrix product, or several operators."""
        if threads < 1:
            raise ArgumentError(f"set_cpu_math_library_num_threads: at least 1, but received {threads}")
        self._threads = int(threads)

    def cpu_math_library_num_threads(self) -> int:
        """The number of threads, 1 when none was set."""
        return self._threads or 1

    def switch_ir_optim(self, x: Any = True) -> None:
        """Whether programs may be run in another order than written; off, they run one operator after the other."""
        self._optimize = bool(x)

    def ir_optim(self) -> bool:
        """Whether programs are optimized."""
        return self._optimize

    def enable_memory_optim(self, x: bool = True) -> None:
        """Whether operators may write results where inputs were that nothing needs any more."""
        self._save_memory = bool(x)

    def execution_options(self) -> ExecutionOptions:
        """The settings above as the runtime takes them."""
        return ExecutionOptions(threads=self._threads or 1, serial=not self._optimize, inplace=self._save_memory)

    def delete_pass(self, name: str) -> None:
        """Nothing: Paddle's passes are not among ours."""

    def pass_builder(self) -> Any:
        """An object with `delete_pass`, `all_passes` and so on, for code that edits Paddle's list of passes."""
        return PassBuilder()

    def summary(self) -> str:
        """The settings as a table."""
        rows = {
            "model_file": self._file or self._folder,
            "params_file": self._params,
            "use_gpu": self.use_gpu(),
            "cpu_math_thread": self.cpu_math_library_num_threads(),
            "ir_optim": self._optimize,
            "memory_optim": self._save_memory,
            **self._kept,
        }
        width = max(map(len, rows))
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows.items())


class PassBuilder:
    """Paddle's list of passes, of which there are none here."""

    def all_passes(self) -> list[str]:
        """No names."""
        return []

    def delete_pass(self, name: Any) -> None:
        """Nothing."""

    def append_pass(self, name: str) -> None:
        """Nothing."""

    def insert_pass(self, place: int, name: str) -> None:
        """Nothing."""

    def set_passes(self, names: list[str]) -> None:
        """Nothing."""

    def turn_on_debug(self) -> None:
        """Nothing."""


def _cut(content: bytes, size: int) -> bytes:
    """The first `size` bytes; all where the size is left at 1, as in Paddle's own examples."""
    return bytes(content)[:size] if size > 1 else bytes(content)


def _from_memory(program: bytes, params: bytes) -> ModelFile:
    """The model of two files' contents: they become files for as long as they are read."""
    if program.startswith(b"\x93VTMODEL"):
        endings = (".vtmodel", ".vtparams")
    else:
        endings = (".json" if program.lstrip()[:1] == b"{" else ".pdmodel", ".pdiparams")
    with _tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, "model" + ending) for ending in endings]
        for file, content in zip(files, (program, params)):
            with atomic_file(file) as out:
                out.write(content)
        return read_any_model(files[0], files[1], only="forward")
