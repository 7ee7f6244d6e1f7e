"""FunctionSpec: the signature of a function to convert, and how its arguments become tensors and static values."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from ..core.dtype import from_np
from ..core.errors import ArgumentError, DTypeError
from ..core.pytree import LEAF, TreeDef, flatten, flatten_open, has_repeats, unflatten_shared
from ..eager.parameter import Parameter
from ..eager.tensor import Tensor
from ..ir.input_spec import InputSpec

_TENSORS: frozenset[type[Any]] = frozenset({Tensor, Parameter})
_PLAIN = frozenset({*_TENSORS, bool, int, float, str, type(None)})
_OF_PYTHON = (FunctionType, MethodType)


class FunctionSpec:
    """Binds calls of one function to a flat list of leaves in a canonical argument order."""

    def __init__(self, function: Callable[..., Any], input_spec: Any = None) -> None:
        self.function = function
        self.signature = inspect.signature(function)
        self.input_spec = None if input_spec is None else as_sequence(input_spec)
        params = list(self.signature.parameters.values())
        self._plain = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in params)
        self._count = len(params)
        self._defaults = [(p.name, p.default) for p in params]

    @property
    def args_name(self) -> list[str]:
        """The names of the parameters, those behind `*` and the starred ones left out."""
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        return [p.name for p in self.signature.parameters.values() if p.kind in kinds]

    @property
    def names_by_keyword(self) -> tuple[str, ...]:
        """The same for calls that give them by name: "" for those that are given by position alone."""
        only = inspect.Parameter.POSITIONAL_ONLY
        return tuple("" if self.signature.parameters[n].kind is only else n for n in self.args_name)

    def is_plain(self, args: tuple[Any, ...]) -> bool:
        """Whether a call with these arguments and no others gives each parameter a tensor of the host, in order."""
        whole = self._plain and len(args) == self._count
        return whole and all(v.__class__ in _TENSORS and isinstance(v._data, np.ndarray) for v in args)

    def flatten_call(self, args: Sequence[Any], kwargs: Mapping[str, Any], leaves: list[Any]) -> TreeDef:
        """The structure of the bound arguments, defaults filled in; their leaves are appended to `leaves`."""
        args, kwargs = self.bound(args, kwargs)
        start = len(leaves)
        parts: list[TreeDef] = []
        nested = bool(kwargs)
        for value in args:
            if value.__class__ in _PLAIN:  # by far the most: not worth a call
                leaves.append(value)
                parts.append(LEAF)
            else:
                part = flatten(value, leaves)
                nested = nested or part is not LEAF
                parts.append(part)
        if kwargs:
            parts.append(("kwargs", flatten(dict(kwargs), leaves)))
        if nested and _repeat(args, kwargs):
            del leaves[start:]
            done: dict[int, int] = {}
            parts = [flatten_open(a, leaves, done=done) for a in args]
            if kwargs:
                parts.append(("kwargs", flatten_open(dict(kwargs), leaves, done=done)))
        return tuple(parts)

    def _bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> inspect.BoundArguments:
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as err:
            if isinstance(self.function, _OF_PYTHON) and not hasattr(self.function, "__wrapped__"):
                self.function(*args, **kwargs)  # runs nothing of it: Python refuses the call in its own words
            name = getattr(self.function, "__qualname__", repr(self.function))
            raise TypeError(f"{name}() {err}") from None
        bound.apply_defaults()
        return bound

    def bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """args and kwargs as `flatten_call` takes them apart."""
        if self._plain and not kwargs and len(args) == self._count:
            return args, kwargs
        quickly = self._filled(args, kwargs) if self._plain else None
        if quickly is not None:
            return quickly, {}
        found = self._bind(args, kwargs)
        return found.args, found.kwargs

    def _filled(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any] | None:
        """All arguments in order, of a function with plain parameters; None for a call that is wrong."""
        named = 0
        filled = [*args]
        for name, default in self._defaults[len(args) :]:
            if name in kwargs:
                filled.append(kwargs[name])
                named += 1
            elif default is inspect.Parameter.empty:
                return None
            else:
                filled.append(default)
        return filled if named == len(kwargs) and len(filled) == self._count else None

    @staticmethod
    def rebuild(tree: TreeDef, leaves: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """args and kwargs with the given leaves."""
        source = iter(leaves)
        made: list[Any] = []
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for part in tree:
            if isinstance(part, tuple) and part and part[0] == "kwargs":
                kwargs = unflatten_shared(part[1], source, made)
            else:
                args.append(unflatten_shared(part, source, made))
        return tuple(args), kwargs

    def specs_for(
        self, tree: TreeDef, leaves: Sequence[Any], is_tensor: Callable[[Any], bool]
    ) -> list[InputSpec | None]:
        """The user's InputSpec for each leaf, None where the user gave none.

        `input_spec` follows the leading positional arguments, structure for structure. Raises ArgumentError when it
        does not fit the call.
        """
        if self.input_spec is None:
            return [None] * len(leaves)
        found: list[InputSpec | None] = []
        names: list[str] = []
        for part, spec, name in zip(tree, [*self.input_spec, *[None] * len(tree)], self._names(len(tree))):
            count = _count_leaves(part[1] if isinstance(part, tuple) and part and part[0] == "kwargs" else part)
            spec_leaves: list[Any] = []
            if spec is not None:
                flatten(spec, spec_leaves)
            if spec is None or len(spec_leaves) != count:
                if spec is not None and any(isinstance(s, InputSpec) for s in spec_leaves):
                    raise ArgumentError(
                        f"input_spec describes {len(spec_leaves)} values where the call has {count}",
                        hint="give input_spec the same nesting as the argument",
                    )
                spec_leaves = [None] * count
            found += [s if isinstance(s, InputSpec) else None for s in spec_leaves]
            names += [name] * count
        for leaf, spec_, name in zip(leaves, found, names):
            if spec_ is None or not is_tensor(leaf):
                continue
            dtype = from_np(leaf.dtype) if isinstance(leaf, np.ndarray) else leaf.dtype
            if not spec_.accepts(leaf.shape, dtype):
                raise DTypeError(
                    f"argument `{name}` is {dtype.name}{list(leaf.shape)}, input_spec asks for {spec_.meta}"
                )
        return found

    def _names(self, count: int) -> list[str]:
        """What each of so many arguments is called: further ones go to the last parameter, as `*args` do."""
        names = [name for name, _ in self._defaults]
        return [*names, *names[-1:] * (count - len(names))]

    def call_from_specs(self) -> tuple[TreeDef, list[Any]]:
        """The structure and leaves of a call that has InputSpecs in place of tensors; needs an input_spec.

        Tensors and arrays that stand in it are examples: they give their shapes and dtypes.
        """
        if self.input_spec is None:
            raise ArgumentError(
                "an input_spec is needed to build the program without a call",
                hint="pass input_spec=[InputSpec(...)] to to_static or jit.save, or call the function once",
            )
        leaves: list[Any] = []
        tree = self.flatten_call(tuple(self.input_spec), {}, leaves)
        return tree, [_spec_of(leaf) for leaf in leaves]


def _spec_of(leaf: Any) -> Any:
    """The InputSpec of a tensor or array; anything else as it is."""
    if isinstance(leaf, Tensor):
        return InputSpec.from_tensor(leaf)
    return InputSpec.from_numpy(leaf) if isinstance(leaf, np.ndarray) else leaf


def as_sequence(spec: Any) -> tuple[Any, ...]:
    """The InputSpecs of the arguments, of which one may stand alone; raises DTypeError for anything else."""
    if isinstance(spec, InputSpec):
        return (spec,)
    if not isinstance(spec, (list, tuple)):
        raise DTypeError(f"input_spec: expects a list or tuple, got {type(spec).__name__}")
    return tuple(spec)


def _repeat(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether one container is given twice: then what changes the one changes the other."""
    seen: set[int] = set()
    return any(has_repeats(value, seen) for value in (*args, *kwargs.values()))


def _count_leaves(tree: TreeDef) -> int:
    if tree is None:
        return 1
    return sum(_count_leaves(c) for c in tree[1])
