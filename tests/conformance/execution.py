"""Runs one case in one framework and writes down what happened, in plain values that travel between processes."""

from __future__ import annotations

import builtins
import inspect
import re
import zlib
from typing import Any

import numpy as np

from tests.conformance.spec import Array, Case, Dtype, T
from tests.conformance.values import values_of

Record = dict[str, Any]
DIFFERENTIABLE = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
# What Paddle says where its CPU has no kernel for a dtype.
NO_KERNEL = re.compile(
    r"not registered|UNIMPLEMENTED|Unimplemented|not implemented|[nN]ot supported? "
    r"|data type of \S+ must be|must be one of \[|data we are trying to retrieve"
)


def found_at(framework: Any, path: str) -> Any:
    """Return what is at a path such as `paddle.linalg.svd` or `Tensor.sum`; AttributeError where nothing is."""
    here = framework
    for name in path.removeprefix("paddle.").split("."):
        here = getattr(here, name)
    return here


def run(framework: Any, case: Case) -> Record:
    """Return the record of a case: `absent`, `signature`, `error` or `value`, and what goes with it."""
    try:
        function = found_at(framework, case.api)
    except AttributeError:
        if case.row.call is None:
            return {"kind": "absent"}
        function = None
    if case.form == "signature":
        return {"kind": "signature", "parameters": parameters(function)}
    maker = Maker(framework, case)
    args, kwargs = maker.made(list(case.args)), {name: maker.made(value) for name, value in case.kwargs.items()}
    try:
        if case.row.call is not None:
            result = case.row.call(framework, *args, **kwargs)
        elif case.form != "function":
            result = getattr(args[0], case.api.removeprefix("Tensor."))(*args[1:], **kwargs)
        else:
            result = function(*args, **kwargs)
        record = {"kind": "value", "result": Encoder(framework, case).encoded(result)}
    except Exception as err:  # noqa: BLE001 - whatever it is, it is what happened
        return error_record(err)
    record["arguments"] = maker.changed() if case.row.compare == "values" else []
    if case.row.gradients:
        record["gradients"] = gradients(framework, result, maker)
    return record


def error_record(err: BaseException) -> Record:
    """Return the record of an exception: its builtin classes, and whether it is about a dtype without a kernel."""
    classes = [base.__name__ for base in type(err).__mro__ if getattr(builtins, base.__name__, None) is base]
    text = str(err)
    return {"kind": "error", "classes": classes, "text": text[-600:], "no_kernel": bool(NO_KERNEL.search(text))}


def parameters(function: Any) -> list[tuple[str, str]] | None:
    """Return names and defaults of parameters; None where Python cannot tell."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) for parameter in found):
        return None
    return [(p.name, "" if p.default is p.empty else repr(p.default).replace("paddle.", "")) for p in found]


class Maker:
    """Makes a case's tensors, and remembers them."""

    def __init__(self, framework: Any, case: Case) -> None:
        self.framework = framework
        self.case = case
        self.copied = case.form == "in place" or case.row.changes_arguments
        self.leaves: list[Any] = []
        self.passed: list[Any] = []
        self.before: list[Any] = []

    def made(self, value: Any) -> Any:
        """Return an argument with tensors in place of their stand-ins."""
        if isinstance(value, T):
            return self._tensor(value)
        if isinstance(value, Array):
            return values_of(value.tensor, self.case.dtype)
        if isinstance(value, Dtype):
            return getattr(self.framework, value.name)
        if isinstance(value, (list, tuple)):
            return type(value)(self.made(item) for item in value)
        if isinstance(value, slice):
            return slice(self.made(value.start), self.made(value.stop), self.made(value.step))
        return value

    def _tensor(self, stand_in: T) -> Any:
        dtype = stand_in.dtype or self.case.dtype
        leaf = self.framework.to_tensor(values_of(stand_in, self.case.dtype)).astype(dtype).detach()
        leaf.stop_gradient = dtype not in DIFFERENTIABLE or not stand_in.grad or not self.case.row.gradients
        self.leaves.append(leaf)
        self.before.append(packed(leaf))
        self.passed.append(leaf.clone() if self.copied else leaf)
        return self.passed[-1]

    def changed(self) -> list[Any]:
        """Return the tensors' contents after the call, None for those that stayed as they were."""
        after = [packed(tensor) for tensor in self.passed]
        return [None if new == old else new for new, old in zip(after, self.before)]


class Encoder:
    """Turns results into plain values."""

    def __init__(self, framework: Any, case: Case) -> None:
        self.framework = framework
        self.row = case.row

    def encoded(self, value: Any) -> Any:
        """Return a result as nested tuples of plain values, the first of each says what it is."""
        if isinstance(value, self.framework.Tensor):
            return ("tensor", self._content(value), bool(value.stop_gradient))
        if isinstance(value, np.ndarray):
            return ("array", packed_array(value))
        if isinstance(value, (list, tuple)):
            kind = "list" if isinstance(value, list) else "tuple"
            return (kind, [self.encoded(item) for item in value])
        if isinstance(value, dict):
            return ("dict", [(str(name), self.encoded(item)) for name, item in value.items()])
        if isinstance(value, np.generic):
            return ("array", packed_array(np.asarray(value)))
        for kind in (type(None), bool, int, float, complex, str):
            if isinstance(value, kind):
                return (
                    "plain",
                    kind.__name__,
                    value if type(value) is kind else kind(value),
                )  # no class of the framework
        if type(value) is type(self.framework.float32):
            return ("dtype", name_of(value))
        return ("object", type(value).__name__)

    def _content(self, value: Any) -> Any:
        if getattr(value, "is_sparse", bool)():
            value = value.to_dense()
        if self.row.compare == "shapes":
            return (name_of(value.dtype), tuple(value.shape), None)
        return packed(value)


def name_of(dtype: Any) -> str:
    """Return a dtype's name."""
    return str(dtype).rpartition(".")[2]


def packed(tensor: Any) -> tuple[str, tuple[int, ...], bytes]:
    """Return a tensor as dtype, shape and bytes; those of bfloat16 are float32."""
    dtype = name_of(tensor.dtype)
    detached = tensor.detach()
    array = (detached.astype("float32") if dtype == "bfloat16" else detached).numpy()
    return (dtype, tuple(tensor.shape), np.ascontiguousarray(array).tobytes())


def packed_array(array: np.ndarray[Any, Any]) -> tuple[str, tuple[int, ...], bytes]:
    """Return an array as dtype, shape and bytes."""
    if array.dtype.kind == "O":
        return ("object", array.shape, repr(array.tolist()).encode())
    if array.dtype.name == "bfloat16":
        return ("bfloat16", array.shape, array.astype("float32").tobytes())
    return (array.dtype.name, array.shape, np.ascontiguousarray(array).tobytes())


def gradients(framework: Any, result: Any, maker: Maker) -> Any:
    """Return the gradients of all leaves for fixed cotangents of all outputs, or the record of an error."""
    outputs = [
        tensor for tensor in tensors_in(framework, result)
        if not tensor.stop_gradient and name_of(tensor.dtype) in DIFFERENTIABLE
    ]  # fmt: skip
    if not outputs or all(leaf.stop_gradient for leaf in maker.leaves):
        return []
    try:
        framework.autograd.backward(outputs, [cotangent(framework, number, out) for number, out in enumerate(outputs)])
        return [None if leaf.grad is None else packed(leaf.grad) for leaf in maker.leaves]
    except Exception as err:  # noqa: BLE001 - see run
        return error_record(err)


def tensors_in(framework: Any, value: Any) -> list[Any]:
    """Return the tensors of a nested result."""
    if isinstance(value, framework.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_in(framework, item)]
    return []


def cotangent(framework: Any, number: int, output: Any) -> Any:
    """Return a fixed cotangent for an output."""
    shape, dtype = tuple(output.shape), name_of(output.dtype)
    generator = np.random.default_rng(zlib.crc32(f"{number} {shape}".encode()))
    values: Any = generator.uniform(-1, 1, shape)
    if dtype.startswith("complex"):
        values = values + 1j * generator.uniform(-1, 1, shape)
    return framework.to_tensor(np.asarray(values)).astype(dtype)
