"""NumPy in the middle of a program: `x.numpy()` and what is computed from it, done when the program runs.

A HostValue stands for the result of a small expression of Python calls. Its type, shape and dtype are those that the
calls give on sample data. It becomes a tensor again by one operator, through which no gradient flows.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, NoReturn, cast

import numpy as np

from ...core.errors import UnsupportedError
from ...core.meta import UNKNOWN, ListMeta, Meta
from ...core.modes import recorder, scoped
from ...core.pytree import as_plain, is_open, list_in
from ...core.size import Size
from ...eager.host_ops import host_value_op
from ...eager.tensor import Tensor, to_tensor
from ...ir.graph_tensor import as_number
from ...ir.program import Block, Variable
from ...ops.lists import list_unstack_op
from ...ops.sizes import dim_size
from ..containers.list_items import Items
from ..containers.lists import GraphList
from ..containers.specs import TensorSpec
from ..guards.array_sites import ArraySiteError
from ..state.journal import innermost_journal, is_inside, note_inside
from ..values.base import builder
from ..values.deferred import Call, Deferred, Input, Joinable, captured, parts, record
from ..values.emit import passed_on
from ..values.sequences import GraphSequence
from ..values.user_errors import note_user_error
from .array_places import ArrayPlace
from .changes import (
    ChangedArrayError,
    Writing,
    always_writes,
    copies,
    guarded,
    note_made,
    released,
    says_it_writes,
    share_memory,
    sharing,
)
from .number_forms import has_form, in_operators

SAMPLES = 4
MOST_PARTS = 64
"""Of how many parts an expression may be that is computed anew by whoever uses it."""
_KNOWN_ATTRIBUTES = frozenset({"shape", "ndim", "dtype", "size", "itemsize", "nbytes", "flags", "strides"})
_CHANGING = {
    list: frozenset({"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"}),
    np.ndarray: frozenset({"resize", "setflags"}),
}
"""The methods by which a value becomes another one in a way that is not recorded."""


class Missing:
    """Where a sample of a value should be: the call failed on it."""


class HostValue(Joinable):
    """What Python computes from tensors when the program runs."""

    __array_priority__ = 50.0
    __vitrify_host_value__ = True
    named = "what NumPy computes in the run"

    samples: tuple[Any, ...]
    block: Block
    """Where it was made."""

    def __init__(self, node: Any, samples: tuple[Any, ...]) -> None:
        super().__init__(node)
        object.__setattr__(self, "samples", samples)
        object.__setattr__(self, "block", builder().block)
        note_made(self)

    # -- what is recorded -------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # protocols that this class does not offer
        found = [getattr(s, name, Missing) for s in self._seen()]
        if found and all(value is Missing for value in found):
            getattr(self._seen()[0], name)  # which raises it, in Python's words
        if name == "size" and len(set(found)) > 1:
            return host_call(getattr, self, name)
        if name in _KNOWN_ATTRIBUTES and found:
            return self._agreed(found, name)
        if any(name in names and isinstance(s, kind) for kind, names in _CHANGING.items() for s in self._seen()):
            raise self.refused(f"what .{name}() changes")
        if found and callable(found[0]):
            return partial(host_call, _call_method, self, name)
        return host_call(getattr, self, name)

    def __getitem__(self, index: Any) -> Any:
        return host_call(operator.getitem, self, index)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return host_call(ufunc if method == "__call__" else getattr(ufunc, method), *inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return host_call(function, *args, **kwargs)

    def __len__(self) -> int:
        found = [len(s) for s in self._seen()]
        return int(self._agreed(found, "len()"))

    def raises_in(self) -> Block | None:
        return None if _cannot_raise(self.node) else self.block

    def length(self) -> Any:
        """`len()`: a number of the program where only a run knows it."""
        sizes = {len(s) for s in self._seen()}
        return len(self) if len(sizes) < 2 else host_call(len, self)

    def is_instance(self, classes: Any) -> bool:
        """`isinstance()` of what it will be."""
        return bool(self._agreed([isinstance(s, classes) for s in self._seen()], "class"))

    def eager_class(self) -> type:
        """`type()` of what it will be."""
        return cast("type", self._agreed([type(s) for s in self._seen()], "class"))

    def region(self) -> Block | None:
        return self.block

    def listed(self) -> Any:
        if not self._lists_numbers():
            return None
        if "list" not in self.__dict__:
            tensor = self.tensor(in_full=True)
            item = TensorSpec(Meta((), tensor.dtype), is_number=True)
            made = GraphList.of(Items(item, (passed_on(list_unstack_op, tensor, axis=0),)))
            object.__setattr__(self, "list", made)
        return self.__dict__["list"]

    def can_join(self, other: Any) -> bool:
        values = (self, other)
        if not all(isinstance(value, (HostValue, np.ndarray)) for value in values):
            return False
        found = [sample_of(value, number) for value in values for number in range(SAMPLES)]
        if not all(isinstance(sample, np.ndarray) for sample in found):
            return False
        return len({(s.dtype, s.ndim) for s in found}) == 1 and found[0].dtype.kind in "biufc"

    def held_of(self, value: Any) -> Variable:
        return value.tensor(in_full=True) if isinstance(value, HostValue) else builder().value(value.copy())

    def joined(self, values: tuple[Any, Any], held: Variable) -> Any:
        """An array of the path taken. By its samples it shows the memory of both, so that changes are refused."""
        builder().merged_arrays += [value for value in values if isinstance(value, np.ndarray)]
        samples = [sample_of(values[number % 2], number) for number in range(SAMPLES)]
        found = HostValue(Call(_numpy, (captured(held),)), tuple(samples))
        if any(isinstance(value, np.ndarray) for value in values):
            object.__setattr__(found, "journal", None)  # an array of Python's own would not see what is written to it
        return found

    def truth(self) -> Any:
        """`bool()` when the program runs; the value itself where it has none."""
        found = as_plain_number(host_call(bool, self))
        return self if isinstance(found, HostValue) else found

    def sequence(self) -> GraphSequence | None:
        """Numbers in a list, and the items of what has a length that only a run knows."""
        if self._lists_numbers():
            tensor = self.tensor(in_full=True)
            size = tensor.shape[0]
            return GraphSequence(size if size >= 0 else as_number(dim_size(tensor, 0)), lambda i: as_number(tensor[i]))
        length = self.length()
        if isinstance(length, int):
            return None
        return GraphSequence(length, lambda i: host_call(operator.getitem, self, i))

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    # -- what is not ------------------------------------------------------------------------------------------------

    def refused(self, use: str, kind: type[UnsupportedError] = UnsupportedError) -> UnsupportedError:
        """The error for a use that needs the value now."""
        return kind(
            f"a NumPy value computed from tensors is used as {use}, but known only when the program runs",
            loc=self.loc,
            hint="make it a tensor first (paddle.to_tensor), compute with tensors, or wrap the computation in "
            "paddle.jit.host_callback",
        )

    def _seen(self) -> tuple[Any, ...]:
        return tuple([s for s in self.samples if s is not Missing])

    def _agreed(self, found: list[Any], what: str) -> Any:
        if not found or any(value != found[0] for value in found[1:]):
            raise self.refused(f"a Python value, by its {what}")
        return found[0]

    def __bool__(self) -> bool:
        raise self.refused("a condition")

    def __hash__(self) -> int:
        raise self.refused("the key of a dict or an item of a set")

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise self.refused("an array by library code")

    def __setitem__(self, index: Any, value: Any) -> None:
        if not self._is_array():
            raise self.refused("the target of an assignment")
        host_call(operator.setitem, self, index, value)

    def __delitem__(self, index: Any) -> None:
        raise self.refused("what an item is deleted from")

    def __setattr__(self, name: str, value: Any) -> None:
        raise self.refused("the target of an assignment to its attribute")

    def __contains__(self, item: Any) -> bool:
        raise self.refused("a container that is searched")

    def _is_array(self) -> bool:
        return bool(self._seen()) and all(isinstance(s, np.ndarray) for s in self._seen())

    def check_change(self) -> None:
        """Raise UnsupportedError where what changes the array is seen through others, or not on every path."""
        if self.journal is not innermost_journal() and not (self._is_held() and is_inside(builder().block, self.block)):
            raise self.refused("what is changed where a tensor decides, or in a recursive function", ChangedArrayError)
        if any(True for _ in sharing(self)):
            raise self.refused("what is changed while another value is a view of it", ChangedArrayError)

    def become(self, node: Any, samples: tuple[Any, ...]) -> None:
        """Hold from now on what the expression gives at this point of the program."""
        if self._is_held():
            note_inside(self.journal, ArrayPlace(self))
        object.__setattr__(self, "samples", samples)
        meta = self.meta()
        if any(s.dtype != meta.dtype.np for s in self._seen()):
            raise self.refused("what is changed, of a dtype that tensors do not have", ChangedArrayError)
        builder().leaves_undone = True  # a run that finds a shape which no sample had is done again, eagerly
        self.hold(record(host_value_op, attrs={"meta": meta}, call=node)[0])

    def settle(self) -> None:
        """Be computed where it stands if much goes into it: what uses it several times would hold as many copies."""
        is_small = next(islice(parts(self.node), MOST_PARTS, None), None) is None
        if not self._is_copy() and (is_small or not self._is_fresh()):
            return
        with suppress(UnsupportedError):  # of a kind that tensors do not hold
            self.become(self.node, self.samples)

    def _is_fresh(self) -> bool:
        """Whether it shares memory with nothing: a scalar, or what arithmetic made."""
        forms, made_by = self._forms(), getattr(self.node, "function", None)
        is_made = isinstance(made_by, np.ufunc) or made_by in _ARITHMETIC
        return forms == {"scalar"} or self._is_copy() or (forms == {"array"} and is_made)

    def _is_held(self) -> bool:
        """Whether it is an array that is what a tensor of the program holds, and nobody else would see it change."""
        node = self.node
        is_array = isinstance(node, Call) and node.function is _numpy and isinstance(node.args[0], Input)
        return is_array and self.journal is not None

    def held(self) -> Variable:
        """The tensor whose content it is."""
        var: Variable = self.node.args[0].var
        return var

    def _is_copy(self) -> bool:
        """Whether it is a copy of an array, of which one may change without the other."""
        node = self.node
        is_copy = isinstance(node, Call) and node.function is _call_method and node.args[1] in ("copy", "astype")
        return is_copy and self._is_array()

    def hold(self, out: Variable) -> None:
        """Be from now on what a tensor of the program holds."""
        made_by = {"array": _numpy, "scalar": _scalar, "list": _tolist}[self.form()]
        object.__setattr__(self, "node", Call(made_by, (captured(out),)))

    # -- back to tensors --------------------------------------------------------------------------------------------

    def meta(self, in_full: bool = False) -> Meta:
        """Shape and dtype of the tensor that this value makes, sizes that differ between samples unknown.

        in_full: Python floats become float64.
        """
        made = [_as_meta(s, in_full) for s in self._seen()]
        metas = [m for m in made if m is not None]
        if not metas or any(m.dtype is not metas[0].dtype or len(m.shape) != len(metas[0].shape) for m in metas):
            raise self.refused("a tensor whose dtype and number of dimensions cannot be foreseen")
        shapes = zip(*[m.shape for m in metas])
        return Meta(tuple(sizes[0] if len(set(sizes)) == 1 else UNKNOWN for sizes in shapes), metas[0].dtype)

    def tensor(self, in_full: bool = False) -> Variable:
        """The value as a tensor of the program."""
        meta = self.meta(in_full)
        if not meta.shape and self.is_of_numbers() and has_form(self.node):
            return in_operators(self.node, meta)
        builder().leaves_undone = True  # as where it changes
        return cast("Variable", record(host_value_op, attrs={"meta": meta}, call=self.node)[0])

    def is_of_numbers(self) -> bool:
        """Whether Python's numbers alone, such as sizes, go into it: then no tensor's content is looked at."""
        found = False
        for part in parts(self.node):
            if isinstance(part, Input):
                if not part.number:
                    return False
                found = True
        return found

    def _lists_numbers(self) -> bool:
        """Whether it is a list of numbers, not of arrays, which may be of several sizes."""
        is_list = self._forms() == {"list"} and not any(type(item) is np.ndarray for s in self._seen() for item in s)
        return is_list and len(self.meta().shape) == 1

    def form(self) -> str:
        """What kind of Python value it is: array, scalar, number or list."""
        kinds = self._forms()
        if len(kinds) != 1 or "" in kinds:
            raise self.refused("a result of the function")
        return kinds.pop()

    def _forms(self) -> set[str]:
        return {_FORMS.get(type(s)) or ("scalar" if isinstance(s, np.generic) else "") for s in self._seen()}


_FORMS: dict[type, str] = {np.ndarray: "array", list: "list", int: "number", float: "number", bool: "number"}


def _as_meta(sample: Any, in_full: bool) -> Meta | None:
    with scoped(recorder, None):
        try:
            made = to_tensor(np.asarray(sample) if in_full else sample)
        except (TypeError, ValueError):
            return None
    return Meta(tuple(made.shape), made.dtype)


def _call_method(value: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    return getattr(value, method)(*args, **kwargs)


def _binary(function: Callable[[Any, Any], Any], reflected: bool) -> Callable[[HostValue, Any], Any]:
    def method(self: HostValue, other: Any) -> Any:
        if isinstance(other, (Variable, Tensor)):
            return NotImplemented  # tensors decide, as they do beside arrays
        return host_call(function, other, self) if reflected else host_call(function, self, other)

    return method


def _inplace(function: Callable[[Any, Any], Any], plain: Callable[[Any, Any], Any]) -> Callable[[HostValue, Any], Any]:
    def method(self: HostValue, other: Any) -> Any:
        is_tensor = isinstance(other, (Variable, Tensor))
        if is_tensor and not self._is_array():
            return NotImplemented
        if is_tensor or any(isinstance(s, list) for s in self._seen()):
            raise self.refused("the target of an in-place operation")
        return host_call(function if self._is_array() else plain, self, other)

    return method


def _unary(function: Callable[[Any], Any]) -> Callable[[HostValue], Any]:
    return lambda self: host_call(function, self)


def _refusing(use: str) -> Callable[..., Any]:
    def method(self: HostValue, *args: Any) -> Any:
        raise self.refused(use)

    return method


_OPERATORS = "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift"
_ARITHMETIC = frozenset(getattr(operator, f"__{name}__") for name in _OPERATORS)

for _name in _OPERATORS:
    _function = getattr(operator, f"__{_name}__")
    setattr(HostValue, f"__{_name}__", _binary(_function, reflected=False))
    setattr(HostValue, f"__r{_name}__", _binary(_function, reflected=True))
    setattr(HostValue, f"__i{_name}__", _inplace(getattr(operator, f"__i{_name}__"), _function))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(HostValue, f"__{_name}__", _binary(getattr(operator, _name), reflected=False))
for _name in ("neg", "pos", "abs", "invert"):
    setattr(HostValue, f"__{_name}__", _unary(getattr(operator, _name)))
for _name in ("int", "float", "complex", "index"):
    setattr(HostValue, f"__{_name}__", _refusing("a Python number"))
for _name in ("str", "repr", "format"):
    setattr(HostValue, f"__{_name}__", _refusing("text in code that is not converted"))


# -- calls ------------------------------------------------------------------------------------------------------------


def host_call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What `function` gives for these arguments when the program runs."""
    if always_writes(function):
        return _changed(Writing.of(function, args, kwargs))
    node = Call(function, tuple(map(captured, args)), {name: captured(v) for name, v in kwargs.items()})
    samples, errors = [], []
    for number in range(SAMPLES):
        try:
            given = [sample_of(a, number) for a in args]
            named = {name: sample_of(v, number) for name, v in kwargs.items()}
            samples.append(released(quietly(function, given, named)))
        except Exception as err:  # noqa: BLE001 - library code may raise anything on data it does not like
            if says_it_writes(err):
                return _changed(Writing.of(function, args, kwargs))
            errors.append(err)
            samples.append(Missing)
    if len(errors) == SAMPLES and isinstance(errors[0], (TypeError, AttributeError)):
        raise note_user_error(errors[0])  # of what the arguments are, whatever they hold
    if any(isinstance(s, Tensor) for s in samples):
        return function(*args, **kwargs)  # it hands over to the tensor's own method
    found = HostValue(node, tuple(samples))
    found.settle()
    return found if found.is_of_numbers() else as_plain_number(found)


def _cannot_raise(node: Any) -> bool:
    """Whether an expression has a value for whatever a run gives: what a tensor holds, arithmetic and slices of it."""
    if not isinstance(node, Call):
        return True
    is_known = node.function is _numpy or node.function is _tolist or isinstance(node.function, np.ufunc)
    if node.function is operator.getitem:
        is_known = isinstance(node.args[1], slice)
    return is_known and not node.keywords and all(map(_cannot_raise, node.args))


def as_plain_number(value: Any) -> Any:
    """What is a Python number for sure, as a number of the program; anything else as it is."""
    if not isinstance(value, HostValue) or {type(s) for s in value._seen()} not in _NUMBERS:
        return value
    return as_number(value.tensor(in_full=True))


_NUMBERS = ({bool}, {int}, {float})


def index_of(value: Any) -> Any:
    """An integer of NumPy's that only a run knows as a number of the program, to count to or to index by."""
    if isinstance(value, HostValue) and value._forms() == {"scalar"} and value.meta().dtype.is_integer:
        return as_number(value.tensor(in_full=True))
    return value


def tensor_index(key: Any) -> Any:
    """An index of a tensor, in which tensors stand for arrays and lists that only a run knows."""
    if type(key) is tuple:
        return tuple(map(tensor_index, key))
    if isinstance(key, HostValue) and key._forms() in ({"array"}, {"list"}):
        return key.tensor()
    return index_of(key)


def _changed(call: Writing) -> Any:
    """What a call gives that writes to arrays, each of which holds from here on what it is then."""
    rows = [[sample_of(value, number) for value in call.values] for number in range(SAMPLES)]
    made = [copies(row) for row in rows]
    results = [_tried(call.run, row) for row in made]
    if all(result is Missing for result in results):
        raise _written(call, *call.values)
    found = [_tried(call.targets, row) for row in rows]
    numbers = set().union(*[targets for targets in found if targets is not Missing])
    targets = {number: _target(call, call.values[number]) for number in sorted(numbers)}
    given = _result(call, targets, made, results)
    nodes = {number: call.node(number) for number in targets}
    for number, target in targets.items():
        after = [Missing if result is Missing else row[number] for row, result in zip(made, results)]
        target.become(nodes[number], tuple(after))
    return given


def _target(call: Writing, value: Any) -> HostValue:
    if not isinstance(value, HostValue):
        raise _written(call, value)
    value.check_change()
    return value


def _written(call: Writing, *values: Any) -> ArraySiteError:
    name = getattr(call.function, "__name__", call.function)
    found: ArraySiteError = ChangedArrayError(
        f"{name} writes what only a run of the program knows to an array that was there before",
        hint="let it return a new array (`a = np.add(a, b)`), or convert with full_graph=False",
    )
    for value in values:
        found = found.of(value)
    return found


def _result(call: Writing, targets: dict[int, HostValue], made: list[list[Any]], results: list[Any]) -> Any:
    """What the call gives: None, one of the arrays that it writes to, or another value."""
    known = [(row, result) for row, result in zip(made, results) if result is not Missing]
    if all(result is None for _, result in known):
        return None
    for number, target in targets.items():
        if all(result is row[number] for row, result in known):
            return target
        if any(share_memory([row[number]], [result]) for row, result in known):
            raise target.refused("what is changed by a call that gives a view of it", ChangedArrayError)
    return HostValue(call.node(None), tuple(results))


def _tried(run: Callable[[Any], Any], row: list[Any]) -> Any:
    if any(value is Missing for value in row):
        return Missing
    try:
        return quietly(run, [row], {})
    except Exception:  # noqa: BLE001 - library code may raise anything on data it does not like
        return Missing


def quietly(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    """What a call gives on samples, without its warnings and unseen by the program; Missing where one is."""
    if any(a is Missing for a in (*args, *kwargs.values())):
        return Missing
    with warnings.catch_warnings(), np.errstate(all="ignore"), scoped(recorder, None):
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def sample_of(value: Any, number: int) -> Any:
    """What `value` may be when the program runs; unknown sizes differ from one sample to the next."""
    if is_open(list_in(value)):
        return _sample_list(captured(value), number)
    value = as_plain(value)
    if isinstance(value, HostValue):
        return guarded(value.samples[number])
    if isinstance(value, np.ndarray):
        return guarded(value)
    if isinstance(value, (Variable, Tensor)):
        return _sample_tensor(captured(value), number)
    if isinstance(value, Deferred):
        return Missing
    if type(value) in (list, tuple, Size):
        return type(value)([sample_of(item, number) for item in value])
    if type(value) is dict:
        return {key: sample_of(item, number) for key, item in value.items()}
    return value


def _sample_list(node: Any, number: int) -> Any:
    """What a list may be of which only a run knows the length: `node` calls what makes it of lists of tensors."""
    if isinstance(node, Call):
        return node.function(*[_sample_list(part, number) for part in node.args])
    return _sample_items(node, node.var.meta, number) if isinstance(node, Input) else node


def _sample_items(node: Input, meta: Any, number: int) -> Any:
    if not isinstance(meta, ListMeta):
        return _sample_like(node, meta, number)
    return [_sample_items(node, meta.item, number) for _ in range(number + 2)]


def _sample_tensor(node: Any, number: int) -> Any:
    if not isinstance(node, Input):
        return node.function()  # a parameter
    return _sample_like(node, node.var._known(), number)


def _sample_like(node: Input, meta: Any, number: int) -> Any:
    shape = [size if size >= 0 else number + 2 for size in meta.shape]
    rng = np.random.default_rng(min(number, 2))  # the last two are of opposite signs: masks of them differ
    values = (rng.uniform(0.1, 0.9, shape), np.ones(shape), drawn := rng.normal(0.0, 3.0, shape), -drawn)[number]
    array = np.asarray(values > 0.5 if meta.dtype.is_bool else values).astype(meta.dtype.np)
    if node.number:
        return array.item()
    with scoped(recorder, None):
        return to_tensor(array, stop_gradient=node.stop_gradient)


def array_of(tensor: Any) -> HostValue:
    """`tensor.numpy()`."""
    return cast("HostValue", host_call(_numpy, tensor))


def list_of(tensor: Any) -> HostValue:
    """`tensor.tolist()`."""
    return cast("HostValue", host_call(_tolist, tensor))


def _numpy(tensor: Any) -> Any:
    return tensor.numpy()


def _scalar(tensor: Any) -> Any:
    return tensor.numpy()[()]


def _tolist(tensor: Any) -> Any:
    return tensor.tolist()
