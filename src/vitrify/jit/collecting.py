"""What jit.save writes of a Layer or function: the programs of its methods, traced, and the tensors that they share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..convert.containers.list_items import is_of_tensors
from ..core.errors import ArgumentError, DTypeError, InternalError, UnsupportedError
from ..core.identity import ById
from ..core.pytree import OpenTable, all_leaves, unflatten_plain
from ..core.source import user_stacklevel
from ..eager.host_ops import draw_op, effect_op
from ..eager.layer import Layer
from ..eager.parameter import Parameter
from ..eager.tensor import Tensor
from ..ir.attributes import check_storable, strangers_in
from ..ir.input_spec import InputSpec
from ..ir.model_file import ModelFile, SavedFunction, Slot, TensorInfo, slots_in, tree_to_json
from ..ir.program import Operator, Program
from ..ops.hand_gradient import with_gradient_op
from ..ops.like import assign_op
from .api import to_static
from .concrete_program import ConcreteProgram
from .found_effects import exchanged_buffers
from .function_spec import FunctionSpec
from .key import ByContent
from .marks import InputLeaf, OutputLeaf
from .path_leaves import ForkLeaf, HandedLeaf, KindLeaf, StoppedLeaf
from .saved_tensors import TRAIN, elements
from .saved_value import SavedValue
from .static_function import StaticFunction
from .template import CopiedLeaf, ListLeaf, SharedLeaf, Template


def traced(layer: Any, input_spec: Any, training: bool, loaded: ModelFile | None) -> ModelFile:
    """The programs of a Layer or function, traced; with what `loaded` holds besides, where it was read from a file."""
    note: dict[str, Any] = {}
    if isinstance(layer, Layer):
        functions = _layer_functions(layer)
        names = _structured_names(layer)
        note = _values(layer)
    elif callable(layer):
        functions = {"forward": _as_static(layer)}
        names = {}
    else:
        raise DTypeError(f"jit.save: expects a Layer or a function, got {type(layer).__name__}")
    writer = _Writer(names)
    for name, function in functions.items():
        spec = input_spec if name == "forward" or len(functions) == 1 else None
        if spec is None and name in note.get("read", ()):
            spec = []
        if isinstance(layer, Layer):
            with _in_mode(layer, False):
                writer.add(name, function, spec, check_storable if training else _nothing)
            if training:
                with _in_mode(layer, True):
                    _add_training(writer, name, function, spec)
        else:
            writer.add(name, function, spec)
    return writer.model(note) if loaded is None else writer.beside(loaded)


def _add_training(writer: _Writer, name: str, function: StaticFunction, spec: Any) -> None:
    """Keep the program of training mode, if there is one; warns where there is none.

    There need not be: a detector in training mode reads boxes that no InputSpec names, a layer draws in Python.
    """
    try:
        writer.add(name + TRAIN, function, spec, check_storable)
    except InternalError:  # a fault of our own is none of the Layer's
        raise
    except Exception as error:  # noqa: BLE001 - whatever the Layer's code raises where it is not given what it trains on
        reason = str(error).partition("\n")[0] or type(error).__name__
        warnings.warn(
            f"jit.save: `{name}` is saved for evaluation mode alone, which a loaded model runs in training mode as "
            f"well: there is no program of it in training mode: {reason}",
            stacklevel=user_stacklevel(),
        )


def _as_static(function: Callable[..., Any]) -> StaticFunction:
    found = to_static(function)
    assert isinstance(found, StaticFunction)
    return found


def _layer_functions(layer: Layer) -> dict[str, StaticFunction]:
    """The Layer's forward, and its other methods that are static functions."""
    forward = layer.forward
    functions = {"forward": forward if isinstance(forward, StaticFunction) else _as_static(forward)}
    for name in dir(type(layer)):
        found = getattr(type(layer), name, None)
        if name != "forward" and isinstance(found, StaticFunction):
            functions[name] = getattr(layer, name)
        elif isinstance(found, property) and isinstance(found.fget, StaticFunction):
            functions[name] = found.fget.__get__(layer, type(layer))
    # Those of this Layer alone: layer.infer = to_static(layer.infer). What is kept of properties has names of our own.
    held = {name: value for name, value in vars(layer).items() if name.isidentifier()}
    own = {name: value for name, value in held.items() if isinstance(value, StaticFunction)}
    return own | functions


def _values(layer: Layer) -> dict[str, Any]:
    """What the file notes of methods that give plain data: their values, and which names are read, not called."""
    kind = type(layer)
    found = {name: getattr(kind, name, None) for name in dir(kind)}
    values = {name: value for name, value in found.items() if isinstance(value, SavedValue)}
    read = [n for n, v in found.items() if isinstance(v, property) and isinstance(v.fget, StaticFunction)]
    read += [name for name, value in values.items() if not value.is_called]
    if not values and not read:
        return {}
    return {"values": {name: _plain(name, value.value(layer)) for name, value in values.items()}, "read": read}


def _plain(name: str, value: Any) -> Any:
    """What a method under `to_static(property=True)` gave. Raises DTypeError where that holds a tensor."""
    if any(isinstance(leaf, Tensor) for leaf in all_leaves(value)):
        raise DTypeError(
            f"jit.save: `{name}` gives a Tensor, and with property=True numbers, texts and containers of them are kept",
            hint="leave property=True out, and its program is saved; or keep the tensor by register_buffer",
        )
    return value


def _structured_names(layer: Layer) -> dict[int, str]:
    """id of each parameter and buffer -> its name in state_dict."""
    found = {id(p): name for name, p in layer.named_parameters()}
    found.update((id(b), name) for name, b in layer.named_buffers())
    return found


@contextmanager
def _in_mode(layer: Layer, training: bool) -> Iterator[None]:
    """The whole Layer in one mode; every sublayer's own flag is put back."""
    held = [(sub, sub.training) for sub in layer.sublayers(include_self=True)]
    try:
        layer.train() if training else layer.eval()
        yield
    finally:
        for sub, flag in held:
            sub.training = flag


def _nothing(program: Program) -> None:
    """No check of a program: what writes it in another format says what it cannot hold."""


class _Writer:
    """Collects programs and the tensors they share."""

    def __init__(self, names: dict[int, str]) -> None:
        self._names = dict(names)
        self._functions: dict[str, SavedFunction] = {}
        self._tensors: dict[str, Tensor] = {}

    def add(
        self, name: str, function: StaticFunction, input_spec: Any, check: Callable[[Program], None] = _nothing
    ) -> None:
        """Trace `function` and keep its program, unless `check` raises for it."""
        tree, leaves = _call_to_save(function, input_spec)
        concrete = _traced(function, tree, leaves)
        writes = [*concrete.writes, *exchanged_buffers(concrete)]
        _leave_out_host_calls(concrete.program)
        _leave_out_hand_gradients(concrete.program)
        _refuse_draws(concrete.program)
        check(concrete.program)
        concrete.block.outputs = [*concrete.outputs, *[var for _, var in writes]]
        input_tree, output_tree = _input_tree(tree, leaves), _output_tree(concrete.output)
        self._functions[name] = SavedFunction(
            program=concrete.program,
            inputs=tuple(leaf for leaf in leaves if isinstance(leaf, InputSpec)),
            input_tree=input_tree,
            output_tree=output_tree,
            tensors=tuple(self._tensor_name(t) for t in concrete.captured),
            writes=tuple(index for index, _ in writes),
            parameters=function.function_spec.names_by_keyword[: len(input_tree[0])],
        )

    def _tensor_name(self, tensor: Tensor) -> str:
        name = self._names.get(id(tensor))
        if name is None:
            name = self._names[id(tensor)] = f"captured_{len(self._names)}"
        self._tensors[name] = tensor
        return name

    def beside(self, loaded: ModelFile) -> ModelFile:
        """Everything collected, in the place of what is called alike in a model that was loaded."""
        made = self.model({})
        note = {**loaded.note, "names": {**loaded.note["names"], **made.note["names"]}}
        functions = {**loaded.functions, **made.functions}
        return ModelFile(functions, {**loaded.tensors, **made.tensors}, {**loaded.infos, **made.infos}, note)

    def model(self, note: dict[str, Any]) -> ModelFile:
        """Everything collected."""
        return ModelFile(
            functions=self._functions,
            tensors={name: elements(t) for name, t in self._tensors.items()},
            infos={
                name: TensorInfo(isinstance(t, Parameter), not t.stop_gradient) for name, t in self._tensors.items()
            },
            note={"names": {name: t.name for name, t in self._tensors.items()}, **note},
        )


def _leave_out_host_calls(program: Program) -> None:
    """Take out the calls of Python functions that give nothing to the program: logging, warnings. Warns of each."""
    for block in program.blocks:
        for operator in [op for op in block.ops if op.op is effect_op]:
            if any(strangers_in(tuple(operator.attrs.values()))):
                block.ops.remove(operator)
                where = f": {operator.locs[0]}" if operator.locs else ""
                warnings.warn(f"jit.save leaves out a call of a Python function{where}", stacklevel=user_stacklevel())


def _refuse_draws(program: Program) -> None:
    """Raise UnsupportedError where the program draws from generators of Python or NumPy: no file holds these."""
    for block in program.blocks:
        for operator in block.ops:
            if operator.op is draw_op:
                raise UnsupportedError(
                    "jit.save: random numbers of Python or NumPy are drawn here, whose generators no file holds",
                    loc=operator.locs[0] if operator.locs else None,
                    hint="draw them with tensor operations (paddle.rand, paddle.randint, ...), or in training mode "
                    "alone, or pass them as arguments",
                )


def _leave_out_hand_gradients(program: Program) -> None:
    """Let no gradient flow through PyLayers, whose `backward` is Python, which no file holds."""
    for block in program.blocks:
        block.ops[:] = [kept for operator in block.ops for kept in _without_hand_gradient(operator)]


def _without_hand_gradient(operator: Operator) -> list[Operator]:
    if operator.op is not with_gradient_op:
        return [operator]
    for var in operator.outputs:
        var.stop_gradient = True
    pairs = zip(operator.inputs, operator.outputs)
    return [Operator(assign_op, (x,), (out,), {}, operator.locs, operator.role) for x, out in pairs]


def _call_to_save(function: StaticFunction, input_spec: Any) -> tuple[Any, list[Any]]:
    """The structure and leaves of the call to trace, with InputSpecs in place of tensors."""
    if input_spec is None and not function.function_spec.signature.parameters:  # there is but one call of it
        input_spec = ()
    if input_spec is not None:
        return FunctionSpec(function.dygraph_function, input_spec).call_from_specs()
    if function.function_spec.input_spec is not None:
        return function.function_spec.call_from_specs()
    return _last_call(function)


def _last_call(function: StaticFunction) -> tuple[Any, list[Any]]:
    entries = list(function.program_cache.entries())
    if not entries:
        raise ArgumentError(
            f"jit.save: nothing says what {function.__name__} takes",
            hint="pass input_spec=[paddle.static.InputSpec([None, 4], 'float32')], or call it once before",
        )
    key, program = entries[-1]
    tensors = iter(key.specs)
    values = iter(key.values)
    kinds = program.concrete.tensor_leaves
    return key.structure, [next(tensors) if is_tensor else _value(next(values)[1]) for is_tensor in kinds]


def _traced(function: StaticFunction, tree: Any, leaves: Sequence[Any]) -> ConcreteProgram:
    """The program to save: it passes gradients on to its inputs, whatever those it was made for wanted.

    Where it changes some in place, as `batch_norm` its running statistics, none is differentiable.
    """
    try:
        return function.trace_call(tree, [_with_gradient(leaf, True) for leaf in leaves])
    except UnsupportedError:
        return function.trace_call(tree, [_with_gradient(leaf, False) for leaf in leaves])


def _with_gradient(leaf: Any, wanted: bool) -> Any:
    if not isinstance(leaf, InputSpec):
        return leaf
    differentiable = wanted and leaf.dtype.is_inexact
    return InputSpec(leaf.shape, leaf.dtype, leaf.name, not differentiable)


def _value(held: Any) -> Any:
    return held.value if isinstance(held, (ByContent, ById)) else held


def _input_tree(tree: Any, leaves: Sequence[Any]) -> Any:
    """(args, kwargs) with a Slot for every tensor."""
    marked = []
    count = 0
    for leaf in leaves:
        if isinstance(leaf, InputSpec):
            marked.append(Slot("input", count))
            count += 1
        else:
            marked.append(leaf)
    args, kwargs = FunctionSpec.rebuild(tree, marked)
    strange = [i for i, part in enumerate(args) if not _is_plain(part)]
    behind = args[strange[0] :] if strange else ()
    if any(slots_in(part) for part in behind):
        raise ArgumentError(
            f"jit.save: argument {strange[0]} is a {type(behind[0]).__name__}, which no file holds",
            hint="let it stand behind the tensors, where it is built in, or bind it by functools.partial",
        )
    return args[: len(args) - len(behind)], {name: part for name, part in kwargs.items() if _is_plain(part)}


def _is_plain(part: Any) -> bool:
    """Whether a file can hold an argument: functions and objects are built into the program alone."""
    try:
        tree_to_json(part)
    except DTypeError:
        return False
    return True


def _output_tree(template: Template) -> Any:
    """What the program gives, in containers that need no class of the user's when they are read."""
    _refuse_tables(template.tree)
    return unflatten_plain(template.tree, map(_slot, template.leaves))


def _refuse_tables(tree: Any) -> None:
    """Raise DTypeError for a dict or set of which only a run knows the keys."""
    kind, children, _ = tree or (object, (), None)
    if issubclass(kind, OpenTable):
        raise DTypeError(
            "jit.save: the function returns a dict or set whose keys are known only when it runs",
            hint="return its keys and values as tensors (paddle.stack of a list of each)",
        )
    for child in children:
        _refuse_tables(child)


def _slot(leaf: Any) -> Any:
    if isinstance(leaf, SharedLeaf):
        return _output_tree(leaf.template)
    if isinstance(leaf, OutputLeaf):
        return Slot("output", leaf.index, leaf.form)
    if isinstance(leaf, (KindLeaf, ForkLeaf, HandedLeaf, StoppedLeaf)):
        return Slot("output", leaf.index)
    if isinstance(leaf, InputLeaf):
        return Slot("input", leaf.index)
    if isinstance(leaf, CopiedLeaf):
        return leaf.value
    if isinstance(leaf, ListLeaf):
        if len(leaf.indices) > 1 or not is_of_tensors(leaf.spec):
            raise DTypeError(
                "jit.save: the function returns a list of containers whose length is known only when it runs",
                hint="return a list of tensors for each member of the containers",
            )
        return Slot("output", leaf.indices[0])
    return leaf
