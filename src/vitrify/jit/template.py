"""Templates: values that leave a trace, with marks where a call puts its own tensors."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..core.lazy import lazy_module
from ..core.pytree import LEAF, NOT_SET, TreeDef, unflatten
from ..eager.host_expr import evaluate
from .arguments import NO_ARGUMENTS, Arguments, Holder
from .handed import Handed, Met
from .marks import FORMS, InputLeaf, OutputLeaf
from .path_leaves import ForkLeaf, HandedLeaf, KindLeaf, StoppedLeaf, moved, set_stopped

if TYPE_CHECKING:
    from ..convert.containers.specs import Spec

# A program that was loaded runs without what converts Python, of which this is a part.
_list_items = lazy_module("vitrify.convert.containers.list_items")


@dataclass(frozen=True)
class ArgumentLeaf:
    """Marks a container or object of the caller: one among the arguments, or held by the user's objects."""

    holder: Holder


@dataclass(frozen=True)
class SharedLeaf:
    """Marks a container that stands in several places of what a call gives: made once, by `template`."""

    index: int
    template: Template


@dataclass(frozen=True)
class AttributeLeaf:
    """Marks an attribute that an object has on some paths: `flag`, from -1 downwards, tells."""

    flag: int
    template: Template


@dataclass(frozen=True)
class ItemLeaf:
    """Marks a list that is an item of another one that a call gives: `owner`, at the place that output `key` says.

    `path`: where in a tuple, which is the item, it stands.
    """

    owner: SharedLeaf
    key: int
    path: tuple[int, ...] = ()

    def found(self, owner: Any, values: Sequence[Any]) -> Any:
        """The list, in what `owner` is in this call."""
        item = owner[values[self.key].item()]
        for place in self.path:
            item = item[place]
        return item


@dataclass(frozen=True)
class ListLeaf:
    """Marks a leaf that is a list of items `spec`, taken apart into the program outputs `indices`.

    stopped: for each of those the output, from -1 downwards, that says which items have no gradient; None if all alike.
    """

    spec: Spec
    indices: tuple[int, ...]
    handed: Handed = field(default_factory=Handed)
    stopped: tuple[int | None, ...] = ()

    def build(self, values: Sequence[Any], inputs: Sequence[Any], met: Met) -> list[Any]:
        """The list, from the program's outputs and inputs."""
        columns = [self.handed.same(i, values, inputs, met) for i in self.indices]
        for i, flag, column in zip(self.indices, self.stopped, columns):
            if flag is not None:
                _stop(values[i], values[flag], column)
        made: list[Any] = _list_items.python_list(self.spec, columns)
        return made


@dataclass(frozen=True)
class TextLeaf:
    """Marks a leaf that is a text of tensors: an expression over the program outputs `indices`."""

    expression: Any
    indices: tuple[int, ...]

    def build(self, values: Sequence[Any]) -> Any:
        """The text, from the program's outputs."""
        return evaluate(self.expression, [_arrays(values[i]) for i in self.indices])


@dataclass(frozen=True, eq=False)
class CopiedLeaf:
    """Marks a byte array, NumPy array or the like that the trace made, which each call gives anew."""

    value: Any

    def build(self, values: Sequence[Any]) -> Any:
        """One that whoever gets it may change."""
        return copy(self.value)


def _stop(made: Any, flags: Any, given: Any) -> None:
    """Take the tensors of a list that the path taken left there off the tape, but those that were handed through.

    made, given: the list as the program gave it, and with those; flags: one for all of it, or a list of them.
    """
    if isinstance(made, list):
        for place, (item, found) in enumerate(zip(made, given)):
            _stop(item, flags[place] if isinstance(flags, list) else flags, found)
    elif given is made:
        set_stopped(made, flags)


def _arrays(value: Any) -> Any:
    """What an expression reads of an output: its array, or those of a list."""
    return [_arrays(item) for item in value] if isinstance(value, list) else value._data


_BUILT = (CopiedLeaf, StoppedLeaf, TextLeaf)
_BUILT_WITH_INPUTS = (ForkLeaf, HandedLeaf, KindLeaf, ListLeaf)


@dataclass(frozen=True)
class Template:
    """A structure of marks and constants."""

    tree: TreeDef
    leaves: list[Any]

    @property
    def needs_arguments(self) -> bool:
        """Whether it holds containers of the call's own."""
        return any(
            (isinstance(leaf, ArgumentLeaf) and leaf.holder.is_given)
            or (isinstance(leaf, (AttributeLeaf, SharedLeaf)) and leaf.template.needs_arguments)
            or (isinstance(leaf, ItemLeaf) and leaf.owner.template.needs_arguments)
            for leaf in self.leaves
        )

    def build(
        self,
        values: Sequence[Any],
        inputs: Sequence[Any],
        arguments: Arguments = NO_ARGUMENTS,
        shared: dict[int, Any] | None = None,
    ) -> Any:
        """The value, from the program's output tensors and the tensors given as inputs; containers are made anew.

        shared: the containers that this call made for several places so far.
        """
        made = []
        for leaf in self.leaves:
            if leaf.__class__ is OutputLeaf:
                made.append(FORMS[leaf.form](values[leaf.index]))
            elif leaf.__class__ is InputLeaf:
                made.append(inputs[leaf.index])
            elif leaf.__class__ is ArgumentLeaf:
                made.append(leaf.holder.find(arguments))
            elif isinstance(leaf, (SharedLeaf, ItemLeaf)):
                shared = {} if shared is None else shared
                whole = leaf if isinstance(leaf, SharedLeaf) else leaf.owner
                if whole.index not in shared:
                    shared[whole.index] = whole.template.build(values, inputs, arguments, shared)
                found = shared[whole.index]
                made.append(leaf.found(found, values) if isinstance(leaf, ItemLeaf) else found)
            elif isinstance(leaf, AttributeLeaf):
                shared = {} if shared is None else shared
                is_set = bool(values[leaf.flag]._data)  # one number
                made.append(leaf.template.build(values, inputs, arguments, shared) if is_set else NOT_SET)
            elif leaf.__class__ in _BUILT_WITH_INPUTS:
                shared = {} if shared is None else shared
                made.append(leaf.build(values, inputs, shared))
            elif leaf.__class__ in _BUILT:
                made.append(leaf.build(values))
            else:
                made.append(leaf)
        return made[0] if self.tree is LEAF else unflatten(self.tree, iter(made))

    def moved(self, start: int) -> Template:
        """Captured inputs, counted from -1 downwards while arguments were counted, after `start` arguments."""
        return Template(self.tree, [_moved(leaf, start) for leaf in self.leaves])


def _moved(leaf: Any, start: int) -> Any:
    if isinstance(leaf, (AttributeLeaf, SharedLeaf)):
        return replace(leaf, template=leaf.template.moved(start))
    if leaf.__class__ is ItemLeaf:
        return replace(leaf, owner=_moved(leaf.owner, start))
    return moved(leaf, start)
