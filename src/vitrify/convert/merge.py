"""Joining what two paths computed into one value: the outputs of a tensor `if`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..core.dtype import DType, default_dtype, promote, promote_scalar
from ..core.dtype import scalar_dtype as dtype_of_number
from ..core.pytree import flatten, unflatten
from ..eager.tensor import Tensor
from ..ir.builder import UNSET
from ..ir.numbers import as_number, is_number, number_dtype, sample
from ..ir.program import Block, Variable
from ..ops.creation import full
from ..ops.like import cast
from ..ops.promote import SCALARS
from .text_choice import TextSlot, chosen, is_text
from .values import Undefined, Unmergeable, builder


@dataclass
class Joined:
    """The outputs of two blocks under construction: parallel lists, one entry an output."""

    then: Block
    orelse: Block
    sides: tuple[list[Any], list[Any]] = field(default_factory=lambda: ([], []))
    pairs: dict[tuple[Any, Any], int] = field(default_factory=dict)

    def add_pair(self, a: Any, b: Any, dtype: DType) -> int:
        """Index of the output for a value that is `a` or `b`: the same for two variables that are one tensor."""
        if not (isinstance(a, Variable) and isinstance(b, Variable)):
            return self.add((a, dtype), (b, dtype))
        if (a, b) not in self.pairs:
            self.pairs[a, b] = self.add((a, dtype), (b, dtype))
        return self.pairs[a, b]

    def add(self, a: Any, b: Any) -> int:
        """Index of a new output."""
        self.sides[0].append(a)
        self.sides[1].append(b)
        return len(self.sides[0]) - 1


@dataclass(frozen=True)
class Slot:
    """Stands for output `index` of the operator until it exists; `flag` is the output that says whether it is set."""

    index: int
    flag: int | None = None
    name: str = ""
    line: int = 0
    is_number: bool = False


def merge(name: str, a: Any, b: Any, joined: Joined) -> Any:
    """`a` (then) and `b` (orelse) as one value: itself where both agree, a structure with Slots where they differ."""
    if a is b:
        return a
    left: list[Any] = []
    right: list[Any] = []
    trees = flatten(a, left), flatten(b, right)
    if trees[0] != trees[1]:
        if isinstance(a, Undefined) or isinstance(b, Undefined):
            return _merge_unset_structure(name, a, b, joined)
        return Unmergeable(name, f"one branch gives {_kind(a)} and the other {_kind(b)}")
    merged = [_merge_leaf(name, x, y, joined) for x, y in zip(left, right)]
    failed = next((m for m in merged if isinstance(m, Unmergeable)), None)
    return failed if failed is not None else unflatten(trees[0], iter(merged))


def _merge_unset_structure(name: str, a: Any, b: Any, joined: Joined) -> Any:
    """One side is unset, the other a container: each leaf is set or unset with it."""
    unset, given = (a, b) if isinstance(a, Undefined) else (b, a)
    leaves: list[Any] = []
    tree = flatten(given, leaves)
    pairs = [(unset, leaf) if unset is a else (leaf, unset) for leaf in leaves]
    return unflatten(tree, iter([_merge_leaf(name, x, y, joined) for x, y in pairs]))


def _merge_leaf(name: str, a: Any, b: Any, joined: Joined) -> Any:
    if a is b or (a.__class__ is b.__class__ and isinstance(a, (*SCALARS, str, bytes)) and _same(a, b)):
        return a
    if isinstance(a, Undefined) or isinstance(b, Undefined):
        return _merge_unset(name, a, b, joined)
    if is_text(a) and is_text(b):
        return chosen(a, b, joined.add, placeholder_for)
    dtype = common_dtype(a, b)
    if dtype is None:
        if a.__class__ is b.__class__ and not is_numeric(a) and _same(a, b):
            return a
        return Unmergeable(name, f"one branch gives {_kind(a)} and the other {_kind(b)}")
    numbers = is_python_number(a) and is_python_number(b)
    flags = [unset_flag(v) for v in (a, b)]
    index = joined.add_pair(a, b, dtype)
    if flags == [None, None]:
        return Slot(index, is_number=numbers)
    source = next(f for f in flags if f is not None)
    flag = joined.add(*[(True if f is None else f[0], None) for f in flags])
    return Slot(index, flag, source[1], source[2], numbers)


def _same(a: Any, b: Any) -> bool:
    return bool(a == b) or (a != a and b != b)


def _merge_unset(name: str, a: Any, b: Any, joined: Joined) -> Any:
    """One branch leaves the variable unset: zeros stand in there, and a flag tells the paths apart."""
    if isinstance(a, Undefined) and isinstance(b, Undefined):
        return a if isinstance(a, Unmergeable) else b
    unset, given = (a, b) if isinstance(a, Undefined) else (b, a)
    if isinstance(unset, Unmergeable):
        return unset
    if not is_numeric(given):
        return Unmergeable(name, f"only one branch sets it, to {_kind(given)}")
    dtype = number_dtype(dtype_of(given)) if is_python_number(given) else dtype_of(given)
    held = unset_flag(given)
    entries = ((placeholder_for(given), dtype), (given, dtype))
    flags = (False, True if held is None else held[0])
    if unset is b:
        entries, flags = entries[::-1], flags[::-1]
    index = joined.add(*entries)
    flag = joined.add((flags[0], None), (flags[1], None))
    name = unset.name if not unset.name.startswith("place") else name
    return Slot(index, flag, name, unset.line, is_python_number(given))


@dataclass(frozen=True)
class Placeholder:
    """Zeros of a shape, made in the block where a variable is unset."""

    shape: tuple[int, ...]


def placeholder_for(value: Any) -> Placeholder:
    """Zeros like `value`; unknown sizes become 0."""
    shape = getattr(value, "shape", ())
    return Placeholder(tuple(0 if d < 0 else d for d in shape))


def unset_flag(value: Any) -> tuple[Any, str, int] | None:
    """(flag Variable, name, line) of a tensor that some path left unset, else None."""
    return value.__dict__.get(UNSET) if isinstance(value, Variable) else None


def is_python_number(value: Any) -> bool:
    """Whether the value is a Python number in eager code."""
    return isinstance(value, SCALARS) or is_number(value)


def is_numeric(value: Any) -> bool:
    """Whether a tensor can stand for the value."""
    return isinstance(value, (Variable, Tensor, *SCALARS))


def dtype_of(value: Any) -> DType:
    """The dtype of a tensor, or the one a Python number takes alone."""
    from_scalar = isinstance(value, SCALARS)
    return scalar_dtype(value) if from_scalar else value.dtype


def scalar_dtype(value: Any) -> DType:
    """int64, the default float, bool or complex64 for a Python number."""
    return default_dtype() if isinstance(value, float) else dtype_of_number(value)


def common_dtype(a: Any, b: Any) -> DType | None:
    """The dtype in which one tensor can stand for both values (numbers, or anything with a dtype); None for none."""
    if not all(isinstance(v, SCALARS) or isinstance(getattr(v, "dtype", None), DType) for v in (a, b)):
        return None
    if is_python_number(a) and is_python_number(b):
        return promote(number_dtype(dtype_of(a)), number_dtype(dtype_of(b)), True, True)
    a, b = (sample(v) if is_number(v) else v for v in (a, b))
    if isinstance(a, SCALARS):
        return promote_scalar(b.dtype, a)
    if isinstance(b, SCALARS):
        return promote_scalar(a.dtype, b)
    return promote(a.dtype, b.dtype, True, True)


def emit(value: Any, dtype: DType | None) -> Variable:
    """`value` as a Variable of the current block, cast to `dtype`; not checked for being unset."""
    if isinstance(value, Placeholder):
        return full(list(value.shape), 0, dtype)  # type: ignore[no-any-return]
    if isinstance(value, SCALARS):
        return full([], value, dtype or scalar_dtype(value))  # type: ignore[no-any-return]
    var: Variable = builder().passed_on(value)
    if dtype is not None and var.dtype is not dtype:
        var = cast(var, dtype)
    return var


def _kind(value: Any) -> str:
    if isinstance(value, Variable):
        return f"a tensor ({value.meta})"
    if isinstance(value, Tensor):
        return f"a tensor ({value.dtype.name}{value.shape})"
    if isinstance(value, (*SCALARS, str, bytes)):
        return f"{type(value).__name__} {value!r}"[:60]
    return "None" if value is None else f"a {type(value).__name__}"


def fill_slots(value: Any, results: list[Any]) -> Any:
    """A merged value with its Slots replaced by operator outputs."""
    if isinstance(value, (Undefined, Variable)):
        return value
    leaves: list[Any] = []
    tree = flatten(value, leaves)
    if not any(isinstance(leaf, (Slot, TextSlot)) for leaf in leaves):
        return value
    return unflatten(tree, iter([_filled(leaf, results) for leaf in leaves]))


def _filled(leaf: Any, results: list[Any]) -> Any:
    if isinstance(leaf, TextSlot):
        return leaf.filled(results)
    if not isinstance(leaf, Slot):
        return leaf
    var = as_number(results[leaf.index]) if leaf.is_number else results[leaf.index]
    if leaf.flag is not None:
        var.__dict__[UNSET] = (results[leaf.flag], leaf.name, leaf.line)
    return var
