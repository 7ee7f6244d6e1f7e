"""Python expressions over a program's values, evaluated on the host each time the program runs.

An expression is an operator's attribute, made of plain tuples so that programs that print or raise can be stored:

    ("tensor", i, stop)             input i as a Tensor          ("number", i)     input i as a Python number
                                    or, for a list, as a list of such
    ("flagged", i, j)               likewise, and input j says whether it stops gradients, or each item of a list
    ("call", f, args, keywords)     f: a name below, an exception of Python's or of the library's, or any function
                                    (which no file can hold)
    ("tuple", a, b), ("list", ...), ("set", ...), ("dict", (k, v), ...)
    ("value", v)                    any Python value             anything else stands for itself
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.errors import FileFormatError, VitrifyError, exception_named
from ..core.source import Loc
from .tensor import Tensor, wrap

Expression = Any
Evaluated = Callable[[Sequence[Any]], Any]
_NUMBERS = (bool, int, float, complex)


def _apply_method(name: str, text: str, *args: Any) -> Any:
    return getattr(str, name)(text, *args)


def of_kind(code: int, tensor: Tensor) -> Any:
    """The Python number of that class (see `ir/varying.py`) that a tensor stands for, the tensor itself, or None.

    A number that a float32 tensor holds is the shortest that it can be: 0.1 is not 0.10000000149011612.
    """
    if code >= len(_NUMBERS):
        return tensor if code == len(_NUMBERS) else None
    if tensor.size != 1:
        return tensor  # zeros in place of what another path has
    return _NUMBERS[code](float(str(tensor.numpy()[()])) if tensor.dtype.name == "float32" else tensor.item())


def _located(error: VitrifyError, *place: Any) -> VitrifyError:
    error.loc = Loc(*place)
    return error


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "concat": lambda *parts: "".join(parts),
    "str": str,
    "repr": repr,
    "ascii": ascii,
    **{function.__name__: function for function in (bin, chr, hash, hex, oct, range)},
    "escaped": lambda text: text.encode("ascii", "backslashreplace").decode("ascii"),
    "format": format,
    "format_text": str.format,
    "%": operator.mod,
    "getitem": operator.getitem,
    "repeat": operator.mul,
    "method": _apply_method,
    "numpy": lambda tensor: tensor.numpy(),
    "tolist": lambda tensor: tensor.tolist(),
    "of_kind": of_kind,
    "characters": lambda text: np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.int32),
    "of_characters": lambda held: held.numpy().tobytes().decode("utf-32-le", "surrogatepass"),
    "choose": lambda flag, yes, no: yes() if flag else no(),
    "located": _located,
}


SAID: dict[str, str] = {}
"""What the exceptions say that functions of FUNCTIONS make, whatever the values of the run."""


def said(error: Expression) -> str:
    """The class of the exception that an expression makes, and what it says; "..." for what only the run knows.

    For programs that run without Python, which can tell no more. Raises KeyError for what a function of Python makes.
    """
    function, args = (error[1], error[2]) if type(error) is tuple and error[0] == "call" else (error, ())
    if function == "located":
        return said(error[2][0])
    if type(function) is not str or function in FUNCTIONS:
        return SAID[function]
    text = ", ".join(map(_known_text, args))
    return f"{function}: {text}" if text else function


def _known_text(expression: Expression) -> str:
    if type(expression) is not tuple:
        return str(expression)
    kind, *parts = expression
    if kind == "value":
        return str(parts[0])
    if kind == "call" and parts[0] == "concat":
        return "".join(map(_known_text, parts[1]))
    return "..."


def name_of(function: Any) -> Any:
    """What stands for a function in an expression: itself, but for exceptions of Python's and the library's a name."""
    name = function.__name__ if isinstance(function, type) else ""
    return name if name and exception_named(name) is function else function


def _named(name: str) -> Callable[..., Any]:
    """The function of that name; raises FileFormatError for others, such as `eval`: a file may hold any name."""
    found = FUNCTIONS.get(name) or exception_named(name)
    if found is None:
        raise FileFormatError(f"a program calls {name!r}, which no expression knows")
    return found


def is_expression(attribute: Any) -> bool:
    """Whether an attribute of an operator is an expression that may read inputs."""
    return type(attribute) is tuple and bool(attribute) and type(attribute[0]) is str and attribute[0] in _FORMS


def with_stopped(expression: Expression, stopped: Mapping[int, bool | int]) -> Expression:
    """The expression in which tensors of these inputs want no gradient, or do as the input of that number says."""
    if type(expression) is not tuple or not expression or expression[0] == "value":
        return expression
    form, *parts = expression
    if form == "tensor":
        index, stop = parts
        now = stop or stopped.get(index, False)
        return (form, index, now) if isinstance(now, bool) else ("flagged", index, now)
    if form == "call":
        function, args, keywords = parts
        named = tuple([(name, with_stopped(value, stopped)) for name, value in keywords])
        return form, function, tuple([with_stopped(arg, stopped) for arg in args]), named
    if form == "dict":
        return form, *[tuple([with_stopped(part, stopped) for part in pair]) for pair in parts]
    return form, *[with_stopped(part, stopped) for part in parts]


def evaluate(expression: Expression, arrays: Sequence[Any]) -> Any:
    """The value of an expression whose inputs are `arrays`."""
    return prepared(expression)(arrays)


def prepared(expression: Expression) -> Evaluated:
    """An expression as a function from its inputs to its value, read once and called many times."""
    if type(expression) is not tuple:
        return lambda arrays: expression
    return _FORMS[expression[0]](*expression[1:])


def _tensor(index: int, stop_gradient: bool) -> Evaluated:
    def tensor(arrays: Sequence[Any]) -> Any:
        held = arrays[index]
        if held.__class__ is not np.ndarray:
            return _wrapped(held, stop_gradient)
        made = wrap(held)
        made.stop_gradient = stop_gradient
        return made

    return tensor


def _wrapped(held: Any, stop_gradient: Any) -> Any:
    if isinstance(held, (list, tuple)):
        each = isinstance(stop_gradient, (list, tuple))
        return [_wrapped(item, stop_gradient[i] if each else stop_gradient) for i, item in enumerate(held)]
    if isinstance(held, Tensor):  # its gradient is wanted
        return held
    tensor = wrap(held)
    tensor.stop_gradient = bool(stop_gradient)
    return tensor


def _call(function: Any, args: Sequence[Any], keywords: Sequence[tuple[str, Any]]) -> Evaluated:
    if type(function) is str:
        return _call_named(function, args, keywords)
    if len(args) == 1 and not keywords:
        argument = prepared(args[0])
        return lambda arrays: function(argument(arrays))
    given = [prepared(a) for a in args]
    named = [(k, prepared(v)) for k, v in keywords]
    return lambda arrays: function(*[a(arrays) for a in given], **{k: v(arrays) for k, v in named})


def _call_named(name: str, args: Sequence[Any], keywords: Sequence[tuple[str, Any]]) -> Evaluated:
    """A call of the function that has this name when the call is made: one that nobody knows may never be called."""
    if name in FUNCTIONS:
        return _call(FUNCTIONS[name], args, keywords)
    return lambda arrays: _call(_named(name), args, keywords)(arrays)


def _lazy(inner: Expression) -> Evaluated:
    compute = prepared(inner)
    return lambda arrays: lambda: compute(arrays)


def _gathered(kind: Callable[[list[Any]], Any]) -> Callable[..., Evaluated]:
    """The form of a container that is made of a list of its items."""

    def form(*items: Expression) -> Evaluated:
        parts = [prepared(i) for i in items]
        return lambda arrays: kind([part(arrays) for part in parts])

    return form


def _dict(*items: tuple[Expression, Expression]) -> Evaluated:
    parts = [(prepared(k), prepared(v)) for k, v in items]
    return lambda arrays: {k(arrays): v(arrays) for k, v in parts}


_FORMS: dict[str, Callable[..., Evaluated]] = {
    "tensor": _tensor,
    "flagged": lambda index, flag: lambda arrays: _wrapped(arrays[index], arrays[flag]),
    "number": lambda index: lambda arrays: arrays[index].item(),
    "call": _call,
    "lazy": _lazy,
    "tuple": _gathered(tuple),
    "list": _gathered(list),
    "set": _gathered(set),
    "dict": _dict,
    "value": lambda value: lambda arrays: value,
}
