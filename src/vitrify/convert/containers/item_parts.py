"""Parts of the items of a list of the program: what is known of them, and which list Variables hold them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .inner_lists import Path
from .list_items import Items
from .specs import Spec, StructSpec, is_list_spec, metas_of


def spec_at(spec: Spec | None, path: Path) -> Spec | None:
    """The spec of what stands at `path` in an item."""
    for place in path:
        spec = spec.children[place] if isinstance(spec, StructSpec) else None
    return spec


def with_spec_at(spec: Spec, path: Path, part: Spec) -> Spec:
    """The spec of an item that has `part` at `path`."""
    if not path:
        return part
    place, *rest = path
    children = list(spec.children)
    children[place] = with_spec_at(children[place], tuple(rest), part)
    return replace(spec, children=tuple(children))


def first_part(spec: Spec, path: Path) -> int:
    """Which of the list Variables is the first that has to do with what stands at `path`."""
    if not path:
        return 0
    place, *rest = path
    return sum(len(metas_of(child)) for child in spec.children[:place]) + first_part(spec.children[place], tuple(rest))


def part_at(items: Items, path: Path) -> Items:
    """The list of what stands at `path` in the items."""
    spec, first = spec_at(items.spec, path), first_part(items.spec, path)
    return Items(spec, items.parts[first : first + len(metas_of(spec))], items.least)


def row_specs(spec: Spec | None) -> Iterator[Spec]:
    """The specs of the lists that stand in an item."""
    if is_list_spec(spec):
        yield spec
    elif isinstance(spec, StructSpec):
        for child in spec.children:
            yield from row_specs(child)
