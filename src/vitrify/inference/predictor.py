"""Predictor: a saved model that runs on what its input handles hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from ..core.collecting import collection_paused
from ..core.errors import ArgumentError, DTypeError
from ..core.lazy import lazy_module
from ..core.suggest import did_you_mean
from .config import Config
from .handle import Array, Tensor

if TYPE_CHECKING:
    from ..eager.tensor import Tensor as EagerTensor
    from .native_model import NativeModel
    from .program_model import ProgramModel

Hook = Callable[[str, str, "EagerTensor"], None]
# Each kind of model imports what it needs: a native program neither Tensors nor ops.
_eager = lazy_module("vitrify.eager.tensor")
_native_model = lazy_module("vitrify.inference.native_model")
_program_model = lazy_module("vitrify.inference.program_model")


def _model_of(config: Config) -> ProgramModel | NativeModel:
    with collection_paused():
        file = config.native_file()
        if file is None:
            return cast("ProgramModel", _program_model.ProgramModel(config))
        return cast("NativeModel", _native_model.NativeModel(file, config))


class Predictor:
    """Runs a saved model: fill the inputs' handles, `run()`, read the outputs' handles.

    A predictor belongs to one thread at a time; `clone()` gives one for another thread that shares the parameters.
    Raises FileNotFoundError, FileFormatError and UnsupportedError when it is made. Source: paddle.inference.Predictor.

    Example:
        >>> import numpy as np, tempfile, vitrify as paddle
        >>> path = tempfile.mkdtemp() + "/net"
        >>> paddle.jit.save(paddle.nn.Linear(4, 2), path, input_spec=[paddle.static.InputSpec([None, 4], name="x")])
        >>> predictor = paddle.inference.create_predictor(paddle.inference.Config(path))
        >>> predictor.get_input_names()
        ['x']
        >>> predictor.get_input_handle("x").copy_from_cpu(np.ones([3, 4], "float32"))
        >>> predictor.run()
        >>> predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu().shape
        (3, 2)
    """

    def __init__(self, config: Config, _model: ProgramModel | NativeModel | None = None) -> None:
        if not isinstance(config, Config):
            raise DTypeError(f"create_predictor: expects a Config, but received {type(config).__name__}")
        self._config = config
        self._model = _model_of(config) if _model is None else _model
        self._in = {n: Tensor(n, m, True) for n, m in zip(self._model.inputs, self._model.input_metas)}
        self._out = {n: Tensor(n, m, False) for n, m in zip(self._model.outputs, self._model.output_metas)}
        self._hooks: dict[str, list[Hook]] = {"feed": [], "fetch": []}

    def get_input_names(self) -> list[str]:
        """The inputs' names, in the model's order."""
        return list(self._in)

    def get_output_names(self) -> list[str]:
        """The outputs' names, in the model's order."""
        return list(self._out)

    def get_input_handle(self, name: str) -> Tensor:
        """The handle of an input; raises ArgumentError for a name that the model has not."""
        return self._handle(self._in, "input", name)

    def get_output_handle(self, name: str) -> Tensor:
        """The handle of an output; raises ArgumentError for a name that the model has not."""
        return self._handle(self._out, "output", name)

    def _handle(self, handles: dict[str, Tensor], what: str, name: str) -> Tensor:
        if name not in handles:
            raise ArgumentError(
                f"the model has no {what} {name!r}; there are {', '.join(handles)}", hint=did_you_mean(name, handles)
            )
        return handles[name]

    def get_input_tensor_shape(self) -> dict[str, list[int]]:
        """Each input's shape, -1 for sizes that may vary."""
        return {name: list(meta.shape) for name, meta in zip(self._model.inputs, self._model.input_metas)}

    def get_input_types(self) -> dict[str, Any]:
        """Each input's DataType."""
        return {name: handle.type() for name, handle in self._in.items()}

    def run(self, inputs: Sequence[EagerTensor] | None = None) -> Any:
        """Compute the outputs from what the handles hold; given a list of Tensors, from these, and return a list.

        Raises ArgumentError for an input without a value or another number of inputs; ShapeError and DTypeError for
        values that the model does not take.
        """
        if inputs is not None:
            self._take(inputs)
        self._call_hooks("feed", self._in)
        found: Sequence[EagerTensor | Array] = self._model.run([*self._in.values()])
        for handle, value in zip(self._out.values(), found):
            handle.give(value)
        self._call_hooks("fetch", self._out)
        return None if inputs is None else [handle.value() for handle in self._out.values()]

    def _take(self, inputs: Sequence[EagerTensor]) -> None:
        if not isinstance(inputs, (list, tuple)) or not all(isinstance(t, _eager.Tensor) for t in inputs):
            raise DTypeError("Predictor.run: expects a list of Tensors", hint="paddle.to_tensor(array)")
        if len(inputs) != len(self._in):
            raise ArgumentError(f"Predictor.run: the model takes {len(self._in)} inputs, but received {len(inputs)}")
        for handle, tensor in zip(self._in.values(), inputs):
            handle.take(tensor)

    def clone(self, stream: Any = None) -> Predictor:
        """A predictor for another thread: handles of its own, the same parameters and compiled program."""
        return Predictor(self._config, self._model)

    def register_input_hook(self, hook: Hook) -> None:
        """Call `hook("feed", name, tensor)` for each input before a run."""
        self._hooks["feed"].append(hook)

    def register_output_hook(self, hook: Hook) -> None:
        """Call `hook("fetch", name, tensor)` for each output after a run."""
        self._hooks["fetch"].append(hook)

    def _call_hooks(self, what: str, handles: dict[str, Tensor]) -> None:
        for hook in self._hooks[what]:
            for name, handle in handles.items():
                hook(what, name, handle.value())

    def clear_intermediate_tensor(self) -> None:
        """Let go of the outputs; what lies between them and the inputs is freed within each run."""
        for handle in self._out.values():
            handle.drop()

    def try_shrink_memory(self) -> int:
        """0: between runs a predictor holds its parameters and handles only, so there is nothing to give back."""
        return 0


def create_predictor(config: Config) -> Predictor:
    """The predictor of a Config. Source: paddle.inference.create_predictor.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> spec = [paddle.static.InputSpec([None, 2], name="x")]
        >>> paddle.jit.save(paddle.nn.Linear(2, 3), folder + "/net", input_spec=spec, format="paddle3")
        >>> config = paddle.inference.Config(folder + "/net.json", folder + "/net.pdiparams")
        >>> predictor = paddle.inference.create_predictor(config)
        >>> predictor.get_input_handle("x").copy_from_cpu(paddle.ones([4, 2]).numpy())
        >>> predictor.run()
        >>> predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu().shape
        (4, 3)
    """
    return Predictor(config)


class PredictorPool:
    """`size` predictors that share one model, one for each thread. Source: paddle.inference.PredictorPool.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/net"
        >>> spec = [paddle.static.InputSpec([None, 2], name="x")]
        >>> paddle.jit.save(paddle.nn.Linear(2, 3), path, input_spec=spec, format="paddle3")
        >>> config = paddle.inference.Config(path + ".json", path + ".pdiparams")
        >>> pool = paddle.inference.PredictorPool(config, 2)
        >>> pool.retrieve(0) is pool.retrieve(1), pool.retrieve(1).get_input_names()
        (False, ['x'])
    """

    def __init__(self, config: Config, size: int) -> None:
        if size < 1:
            raise ArgumentError(f"PredictorPool: size must be at least 1, but received {size}")
        first = Predictor(config)
        self._predictors = [first, *[first.clone() for _ in range(size - 1)]]

    def retrieve(self, index: int) -> Predictor:
        """Predictor number `index`; raises ArgumentError beyond the pool's size."""
        if not 0 <= index < len(self._predictors):
            raise ArgumentError(f"PredictorPool: there is no predictor {index} among {len(self._predictors)}")
        return self._predictors[index]

    retrive = retrieve  # as older versions of Paddle spell it
