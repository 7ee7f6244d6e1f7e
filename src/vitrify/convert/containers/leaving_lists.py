"""Lists of lists that leave the trace: each of them gets rows of its own, so none may share rows with another."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Any

from ...core.errors import UnsupportedError
from ...core.pytree import eager_class, is_open
from ..values.base import builder, is_tensor
from .inner_lists import is_known_elsewhere, known_origin
from .list_items import holds_mixed, shared_level
from .lists import GraphList
from .specs import TWICE, ListSpec, StructSpec, holds_lists


def check_kept(leaving: Iterable[Any], known: Callable[[Any], bool]) -> None:
    """Raise UnsupportedError where a list leaves that holds by value a dict or object that others have, too.

    In eager code its item is that very one. known: whether somebody has a container behind the call.
    """
    kinds = {eager_class(value) for value in builder().kept.values() if not is_tensor(value) and known(value)}
    specs = [value.items.spec for value in leaving if is_open(value) and value.items.error is None] if kinds else ()
    if any(_holds(spec, kinds) for spec in specs):
        raise UnsupportedError(
            "a list whose length is known only when the program runs leaves the function with a dict or object in it "
            "that others have, too: its item would be another one",
            hint="put copies into the list, or give back the numbers of the items",
        )


def _holds(spec: Any, kinds: Container[type]) -> bool:
    if isinstance(spec, StructSpec):
        return spec.kind in kinds or any(_holds(child, kinds) for child in spec.children)
    return isinstance(spec, ListSpec) and _holds(spec.item, kinds)


def check_inner_lists(leaving: Iterable[Any], staying: Iterable[Any]) -> None:
    """Raise UnsupportedError where lists leave that may have lists in common, or have one twice: each gets its own.

    staying: lists that the caller has already, which those that leave may have in common with it.
    """
    found = [value for value in leaving if isinstance(value, GraphList)]
    specs = [value.items.spec for value in found if is_open(value) and value.items.error is None]
    if any(map(holds_mixed, specs)):
        raise UnsupportedError(
            "a list whose length is known only when the program runs leaves the function with Python numbers and "
            "tensors as items",
            hint="make all of them tensors (paddle.to_tensor(0.0) for 0.0), or give back what is computed of them",
        )
    levels = [TWICE if _holds(spec, builder().twice) else shared_level(spec) for spec in specs]
    unknown = [value for value in found if known_origin(value) is None and is_known_elsewhere(value)]
    if unknown or any(map(holds_lists, specs)):
        unknown += staying
    if TWICE in levels or sum(map(bool, levels)) > 1 or (unknown and any(map(holds_lists, specs))) or len(unknown) > 1:
        raise UnsupportedError(
            "lists leave the function that may have an inner list in common, or a dict or object, or have one twice, "
            "as only the run knows",
            loc=builder().shared_at,
            hint="give back one of them, or copies of their items ([list(row) for row in rows])",
        )
