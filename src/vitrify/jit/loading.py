"""jit.load: a saved function as a Layer that needs no source."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from ..core.errors import ArgumentError, DTypeError, FileFormatError
from ..core.modes import grad_enabled
from ..core.pytree import LEAF, all_leaves, flatten
from ..eager.layer import Layer
from ..eager.parameter import Parameter
from ..eager.tensor import Tensor, as_tensor, wrap
from ..ir.builder import Builder, current_builder
from ..ir.model_file import ModelFile, SavedFunction, Slot, TensorInfo
from ..ir.model_formats import read_any_model
from ..ir.program import Program, Variable
from ..ir.regions import copy_ops
from ..runtime.options import DEFAULT, ExecutionOptions
from .concrete_program import ConcreteProgram
from .marks import FORMS, InputLeaf, OutputLeaf
from .partial_program import PartialProgramLayer
from .saved_tensors import TRAIN, elements
from .template import Template

_ARRAYS = (Tensor, Variable, np.ndarray)


class SavedProgram:
    """One saved function, callable with the arguments it was saved for."""

    def __init__(
        self, name: str, saved: SavedFunction, tensors: dict[str, Tensor], options: ExecutionOptions = DEFAULT
    ) -> None:
        self.name = name
        self.saved = saved
        self._options = options
        self._captured = [tensors[n] for n in saved.tensors]
        self._compiled: dict[Any, PartialProgramLayer] = {}
        self._lock = Lock()
        self._leaves: list[Any] = []
        self._tree = flatten(saved.input_tree, self._leaves)
        self._names = self._names_of_arguments()

    @property
    def program(self) -> Program:
        """The forward program."""
        return self.saved.program

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        builder = current_builder()
        if builder is not None:
            return self._inline(builder, args, kwargs)
        tensors = self._tensors(args, kwargs)
        return self._ready(tensors)(tensors, self._captured)

    def _inline(self, builder: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Copy the program into the one being built."""
        concrete = self._concrete()
        inputs = [*self._tensors(args, kwargs), *self._captured]
        mapping = {var: builder.value(given) for var, given in zip(concrete.block.inputs, inputs)}
        copy_ops(concrete.block, builder.block, mapping)
        for index, var in concrete.writes:
            builder.assign(inputs[index], mapping[var])
        return concrete.output.build([mapping[v] for v in concrete.outputs], inputs)

    def _ready(self, tensors: Sequence[Tensor]) -> PartialProgramLayer:
        """The program compiled for the current grad mode, and for cotangents of just the inputs that want one."""
        stops = (*[t.stop_gradient for t in tensors], *[t.stop_gradient for t in self._captured])
        key = stops if grad_enabled.get() else None
        found = self._compiled.get(key)
        if found is None:
            with self._lock:  # compiling a backward adds outputs to the forward program
                found = self._compiled[key] = PartialProgramLayer(self._concrete(), stops=stops, options=self._options)
        return found

    def _concrete(self) -> ConcreteProgram:
        saved = self.saved
        block = saved.program.global_block()
        n = len(block.outputs) - len(saved.writes)
        leaves: list[Any] = []
        tree = flatten(saved.output_tree, leaves)
        outputs = [v for v in block.outputs if v is not None]
        return ConcreteProgram(
            saved.program,
            len(saved.inputs),
            self._captured,
            outputs[:n],
            Template(tree, [_unmarked(leaf) for leaf in leaves]),
            list(zip(saved.writes, outputs[n:])),
        )

    def _tensors(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The argument tensors in the program's order; raises ArgumentError when the call has another structure."""
        args, kwargs = self._with_defaults(args, kwargs)
        leaves: list[Any] = []
        tree = flatten((args, kwargs), leaves)
        if tree != self._tree and _nameless(tree) != _nameless(self._tree):
            raise ArgumentError(
                f"{self.name}: called with {_shape_of(args, kwargs)}, saved for {_shape_of(*self.saved.input_tree)}"
            )
        found = []
        for given, wanted in zip(leaves, self._leaves):
            if isinstance(wanted, Slot):
                found.append(self._checked(given, wanted.index))
            elif isinstance(given, _ARRAYS) or given != wanted:
                raise ArgumentError(
                    f"{self.name}: an argument is {_shown(given)}; it was saved with {wanted!r} built in"
                )
        return found

    def _with_defaults(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """Arguments may be given by name; trailing ones that were Python values when saved may be left out."""
        saved_args, saved_kwargs = self.saved.input_tree
        given, named = [*args], {**saved_kwargs, **kwargs}
        for part, names in list(zip(saved_args, self._names))[len(args) :]:
            name = next((n for n in names if n in kwargs and n not in saved_kwargs), None)
            if name is not None:
                given.append(named.pop(name))
            elif any(isinstance(leaf, Slot) for leaf in all_leaves(part)):
                return args, {**saved_kwargs, **kwargs}
            else:
                given.append(part)
        return (*given,), named

    def _names_of_arguments(self) -> list[tuple[str, ...]]:
        """By which names each positional argument may be given: of the spec, and of the parameter unless a spec of
        another one is called so."""
        saved_args, _ = self.saved.input_tree
        of_specs = [self._name_of(part) for part in saved_args]
        of_parameters = [*self.saved.parameters, *[""] * len(saved_args)]
        return [
            tuple(n for n in (spec, "" if parameter in of_specs else parameter) if n)
            for spec, parameter in zip(of_specs, of_parameters)
        ]

    def _name_of(self, part: Any) -> str:
        """The name of an argument that is one tensor: that of its spec, else that of the variable; "" for others."""
        if not isinstance(part, Slot) or part.kind != "input":
            return ""
        return self.saved.inputs[part.index].name or self.saved.program.global_block().inputs[part.index].name

    def _checked(self, value: Any, index: int) -> Any:
        spec = self.saved.inputs[index]
        if not isinstance(value, _ARRAYS):
            raise DTypeError(f"{self.name}: argument {index} must be a tensor, got {type(value).__name__}")
        tensor = value if isinstance(value, Variable) else as_tensor(value)
        if not spec.accepts(tensor.shape, tensor.dtype):
            raise ArgumentError(
                f"{self.name}: argument {spec.name or index} is {tensor.dtype.name}{list(tensor.shape)}, "
                f"the program was saved for {spec.meta}"
            )
        return tensor


def _nameless(tree: Any) -> Any:
    """The structure with plain tuples for namedtuples, whose classes no file holds."""
    if tree is LEAF:
        return tree
    kind, children, extra = tree
    inner = tuple(map(_nameless, children))
    return (tuple, inner, None) if extra == "fields" else (kind, inner, extra)


def _shown(value: Any) -> str:
    return f"a tensor of shape {[*value.shape]}" if isinstance(value, _ARRAYS) else repr(value)


def _given(value: Any) -> Any:
    return value


def _unmarked(leaf: Any) -> Any:
    if not isinstance(leaf, Slot):
        return leaf
    if leaf.form not in FORMS:
        raise FileFormatError(f"an output of the stored function is a {leaf.form!r}, which this version does not know")
    return OutputLeaf(leaf.index, leaf.form) if leaf.kind == "output" else InputLeaf(leaf.index)


def _shape_of(args: Sequence[Any], kwargs: dict[str, Any]) -> str:
    return f"{len(args)} positional arguments" + (f" and {sorted(kwargs)}" if kwargs else "")


class TranslatedLayer(Layer):
    """A loaded model: runs, trains further and is saved again like any Layer; it has no Python source.

    Its parameters and buffers have the names they had in the saved Layer. Arguments may be given by the names of the
    parameters, tensors by those of their specs, too; what was no tensor when it was saved may be left out, and is
    refused with another value.
    Source: paddle.jit.TranslatedLayer.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/net"
        >>> net = paddle.nn.Linear(2, 3)
        >>> paddle.jit.save(net, path, input_spec=[paddle.static.InputSpec([None, 2])])
        >>> loaded = paddle.jit.load(path)
        >>> isinstance(loaded, paddle.jit.TranslatedLayer), len(loaded.parameters())
        (True, 2)
        >>> bool((loaded(paddle.ones([4, 2])) == net(paddle.ones([4, 2]))).all())
        True
    """

    def __init__(self, model: ModelFile) -> None:
        super().__init__()
        tensors = {name: _tensor(name, model) for name in model.tensors}
        for name, tensor in tensors.items():
            _place(self, name, tensor)
        programs = {name: SavedProgram(name, saved, tensors) for name, saved in model.functions.items()}
        note = model.note if isinstance(model.note, dict) else {}
        self.__dict__.update(_programs=programs, _tensors=tensors, _note=note)
        read, values = note.get("read"), note.get("values")
        self.__dict__["_read"] = {n for n in read if isinstance(n, str)} if isinstance(read, list) else set()
        for name in programs:
            if name != "forward" and not name.endswith(TRAIN) and name not in self._read:
                self.__dict__[name] = self._method(name)
        for name, value in values.items() if isinstance(values, dict) else ():
            self.__dict__[name] = value if name in self._read else partial(_given, value)
        self.eval()

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_read", ()) and name in self._programs:
            return self._run(name, (), {})  # a property of the saved Layer
        return super().__getattr__(name)

    def as_loaded(self, training: bool = True) -> ModelFile:
        """The model of all functions that were loaded, and of the tensors as they are now. `training`: those of
        training mode as well."""
        tensors: dict[str, Tensor] = self.__dict__["_tensors"]
        functions = {n: p.saved for n, p in self._programs.items() if training or not n.endswith(TRAIN)}
        return ModelFile(
            functions,
            {name: elements(t) for name, t in tensors.items()},
            {name: TensorInfo(isinstance(t, Parameter), not t.stop_gradient) for name, t in tensors.items()},
            {**self._note, "names": {name: t.name for name, t in tensors.items()}},
        )

    def _method(self, name: str) -> Callable[..., Any]:
        def method(*args: Any, **kwargs: Any) -> Any:
            return self._run(name, args, kwargs)

        method.__name__ = name
        return method

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the saved `forward`, as it was in this Layer's mode (training or evaluation)."""
        return self._run("forward", args, kwargs)

    def _run(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        programs: dict[str, SavedProgram] = self.__dict__["_programs"]
        chosen = programs.get(name + TRAIN) if self.training else None
        return (chosen or programs[name])(*args, **kwargs)

    def program(self, method_name: str = "forward") -> Program:
        """The program of one method, in this Layer's mode."""
        programs: dict[str, SavedProgram] = self.__dict__["_programs"]
        chosen = programs.get(method_name + TRAIN) if self.training else None
        return (chosen or programs[method_name]).program


def _tensor(name: str, model: ModelFile) -> Tensor:
    info = model.infos[name]
    array = model.tensors[name]
    if not array.flags.writeable:
        array = np.array(array)
    tensor: Tensor = Parameter(wrap(array), trainable=info.trainable) if info.parameter else wrap(array)
    names = (model.note or {}).get("names")
    if isinstance(names, dict) and isinstance(names.get(name), str):
        tensor.name = names[name]
    return tensor


def _place(layer: Layer, path: str, tensor: Tensor) -> None:
    """Put a tensor at a dotted path, making plain Layers on the way."""
    *parents, last = path.split(".")
    for part in parents:
        child = layer._sub_layers.get(part)
        if child is None:
            child = Layer()
            layer.add_sublayer(part, child)
        layer = child
    if isinstance(tensor, Parameter):
        layer.add_parameter(last, tensor)
    else:
        layer.register_buffer(last, tensor)


def load(path: str | os.PathLike[str], **configs: Any) -> TranslatedLayer:
    """The Layer that `jit.save` wrote to `path.vtmodel` and `path.vtparams`, in evaluation mode.

    Other formats are read as well: Paddle's `path.json` or `path.pdmodel` with `path.pdiparams`, and `path.onnx`
    (docs/interchange.md). model_filename, params_filename: other names of the files, in the folder of `path`. Reads
    data only: no code is run and no source is needed. Raises FileFormatError when a file is truncated, changed or
    belongs to another save, UnsupportedError for another format's operators that are not known here, OSError when it
    is not there.
    Source: paddle.jit.load.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> net = paddle.nn.Linear(2, 3)
        >>> path = tempfile.mkdtemp() + "/net"
        >>> paddle.jit.save(net, path, input_spec=[paddle.static.InputSpec([None, 2])])
        >>> paddle.jit.load(path)(paddle.ones([4, 2])).shape
        paddle.Size([4, 3])
    """
    unknown = set(configs) - {"model_filename", "params_filename", "keep_name_table"}
    if unknown:
        raise ArgumentError(f"jit.load: no setting is called {sorted(unknown)}")
    file = os.fspath(path)
    params = configs.get("params_filename")
    folder = file if os.path.isdir(file) else os.path.dirname(file)
    if configs.get("model_filename"):
        file = os.path.join(folder, configs["model_filename"])
    return TranslatedLayer(read_any_model(file, None if params is None else os.path.join(folder, params)))
