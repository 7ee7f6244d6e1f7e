"""Tensors that share memory in eager code, while a program is built: a change of one is a change of all.

A program's values share nothing, so views are followed by hand. Reading a view whose base was changed in place records
the view again; changing a view in place records a change of its base. Programs without in-place changes pay nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.errors import UnsupportedError, VitrifyError
from ..core.meta import Meta, numel
from ..core.modes import grad_enabled, scoped
from ..ops.compare import logical_and, logical_or
from ..ops.like import assign_op
from ..ops.registry import OpDef, get_op
from ..ops.select import where
from ..ops.view import View
from .program import Variable
from .tape_place import are_alike, in_place_of

CHOSEN = "chosen"
"""The attribute of a variable that is one of two tensors, as the path decides, and stops gradients where that does."""

UNKNOWN_SIZE = 2  # what an unknown size is taken for when layouts are tried out


@dataclass(frozen=True)
class Detached(View):
    """Another tensor on the same memory that stops gradients. What is written to it reaches the base without one."""

    def transposed(self, like: Variable, values: Any) -> Any:
        """`values`, without their gradient; `like` keeps its own."""
        with scoped(grad_enabled, False):
            content: Variable = assign_op(values)
        return content if like.stop_gradient else in_place_of(like, content)


@dataclass(frozen=True)
class Cut(View):
    """The same tensor, which stops gradients from here on, or wants them; `is_leaf`: what made it is forgotten."""

    is_leaf: bool = False

    def of(self, base: Any) -> Any:
        """Nothing yet: which of its elements still want gradients would have to be followed."""
        raise UnsupportedError(
            "an in-place change of a tensor that shares memory with one whose stop_gradient was set before",
            hint="set stop_gradient of a copy (x = x.clone()), or change a copy",
        )

    def transposed(self, like: Variable, values: Any) -> Any:
        """`values`: a later change is one of the tensor as it is then."""
        return assign_op(values)


Hooks = tuple[tuple[Callable[[Any], Any], Any], ...]
"""The hooks of a tensor, each with its handle, in the order in which they were registered."""


@dataclass(frozen=True)
class Hooked(Cut):
    """The same tensor, since hooks were registered on it."""

    hooks: Hooks = ()

    def of(self, base: Any) -> Any:
        """Nothing yet: whether the hook still sees the gradient would have to be followed."""
        raise UnsupportedError(
            "an in-place change of what a tensor with a hook is a view of",
            hint="register the hook on a copy (y = y.clone()), or change a copy",
        )


def cut(var: Variable, stop: bool) -> Variable:
    """What `var` holds, as what stops gradients or wants one of its own: nothing flows back to `var`."""
    with scoped(grad_enabled, False):
        made: Variable = get_op("detach")(var)
    made.stop_gradient = stop
    return made


@dataclass(frozen=True, eq=False)
class Joined:
    """The flag of two ways together. Ways meet again behind branches: each part is computed once, not once a path."""

    join: Callable[[Any, Any], Any]
    first: Callable[[], Any]
    second: Callable[[], Any]

    def __call__(self) -> Any:
        """The flag, computed where the program is recorded now."""
        return self._value(self, {})

    @staticmethod
    def _value(flag: Callable[[], Any], known: dict[Callable[[], Any], Any]) -> Any:
        if flag not in known:
            if isinstance(flag, Joined):
                known[flag] = flag.join(flag._value(flag.first, known), flag._value(flag.second, known))
            else:
                known[flag] = flag()
        return known[flag]


@dataclass(frozen=True)
class Way:
    """A path on which a variable shares the memory of `target`; `taken()` tells at run time whether it is that path.

    Where no such flag can be had `taken` is None: then neither may be changed while the other is still read.
    `is_view`: another tensor on the same memory; else the variable is the target, the same object.
    """

    taken: Callable[[], Any] | None
    target: Variable
    is_view: bool = False

    def choose(self, there: Variable, elsewhere: Variable) -> Variable:
        """`there` on this path, `elsewhere` on others."""
        if self.taken is None or there.meta != elsewhere.meta:
            raise may_be_shared()
        taken = self.taken()
        if taken is True:
            return there
        with scoped(grad_enabled, True):
            chosen: Variable = where(taken, there, elsewhere)
        chosen.__dict__[CHOSEN] = True
        return chosen

    def then(self, further: Way) -> Way:
        """The way to what the target shares memory with."""
        first, second = self.taken, further.taken
        if first is None or second is None:
            return Way(None, further.target, self.is_view or further.is_view)
        if first is always:
            return further
        return Way(Joined(both, first, second), further.target)

    def either(self, other: Way) -> Way:
        """The way to the same target on this path or that one."""
        first, second = self.taken, other.taken
        if first is None or second is None:
            return Way(None, self.target, self.is_view)
        return Way(Joined(any_of, first, second), self.target)


def may_be_shared() -> UnsupportedError:
    """The error where it cannot be told which tensor an in-place change reaches."""
    return UnsupportedError(
        "an in-place change of a tensor that shares memory with another one on some paths of tensor control flow",
        hint="change a copy of it (x.clone()), or assign the result of the out-of-place operation",
    )


def always() -> bool:
    """True: a variable that is the target on every path."""
    return True


def both(a: Any, b: Any) -> Any:
    """`a and b`, of flags."""
    return b if a is True else a if b is True else logical_and(a, b)


def any_of(a: Any, b: Any) -> Any:
    """`a or b`, of flags."""
    return True if a is True or b is True else logical_or(a, b)


class _Search:
    """One search for what variables share memory with, each looked at once."""

    def __init__(self, aliases: Aliases, outer: Callable[[Variable], Variable | None]) -> None:
        self.aliases = aliases
        self.outer = outer
        self.known: dict[Variable, dict[tuple[Variable, bool], Way]] = {}
        self.open: set[Variable] = set()
        self.circles = 0

    def ways(self, var: Variable) -> dict[tuple[Variable, bool], Way]:
        """The ways to each variable made elsewhere: as the same object, and as a view of it."""
        outside = self.outer(var)
        if outside is not None:
            return {(outside, False): Way(always, outside)}
        if var in self.open:  # twins share with each other
            self.circles += 1
            return {}
        if var in self.known:
            return self.known[var]
        self.open.add(var)
        circles = self.circles
        found: dict[tuple[Variable, bool], Way] = {}
        for step in self._steps(var):
            for way in self.ways(step.target).values():
                further = step.then(way)
                key = further.target, further.is_view
                found[key] = further if key not in found else found[key].either(further)
        self.open.discard(var)
        if circles == self.circles:  # else it is not all that can be reached from here
            self.known[var] = found
        return found

    def _steps(self, var: Variable) -> list[Way]:
        steps = list(self.aliases.forks.get(var, ()))
        if var in self.aliases.views and self.aliases.shares(var):
            view = self.aliases.views[var]
            steps.append(Way(always, view.base) if isinstance(view, Cut) else Way(None, view.base, is_view=True))
        return steps


class Aliases:
    """The views of one trace, and which values were replaced by in-place changes (undone as blocks end).

    `forks` are the variables that share memory on some paths only.
    """

    def __init__(self) -> None:
        self.views: dict[Variable, View] = {}
        self.forks: dict[Variable, tuple[Way, ...]] = {}
        self.replaced: dict[Variable, Variable] = {}
        self.noting = True
        self.written: set[Variable] = set()  # what views hold since they were written to: made by no view themselves
        self._settling: set[Variable] = set()  # read as they are while they are brought up to date
        self._kept: set[Variable] = set()  # read as they are while their content is exchanged
        self._settled: dict[Variable, Variable] = {}  # what others are by now, until the first of those is known

    def note_detached(self, base: Variable, made: Variable) -> None:
        """Remember that `made` is a tensor on the memory of `base` that stops gradients."""
        self.views[made] = Detached(get_op("detach"), base, (), {})

    def note(self, op: OpDef, base: Any, others: Sequence[Any], attrs: Mapping[str, Any], out: Variable) -> None:
        """Remember that `out` is a view of `base`."""
        if self.noting and isinstance(base, Variable):
            self.views[out] = View(op, base, tuple(others), dict(attrs))

    def note_cut(self, var: Variable, made: Variable, is_leaf: bool) -> None:
        """Remember that `made` is the tensor `var` itself, since its stop_gradient was changed."""
        self.views[made] = Cut(get_op("detach"), var, (), {}, is_leaf)

    def note_hooked(self, var: Variable, made: Variable, hooks: Hooks) -> None:
        """Remember that `made` is the tensor `var` itself, since the hooks were registered on it."""
        self.views[made] = Hooked(get_op("detach"), var, (), {}, hooks=hooks)

    def hooks(self, var: Variable) -> tuple[Variable, Hooks]:
        """What `var` was without its hooks, and these."""
        view = self.views.get(var)
        return (view.base, view.hooks) if isinstance(view, Hooked) else (var, ())

    def uncut(self, var: Variable) -> Variable:
        """What the tensor `var` was before its stop_gradient was changed, where it may be that again."""
        view = self.views.get(var)
        if isinstance(view, Cut) and not isinstance(view, Hooked) and not view.is_leaf:
            var = view.base
        return var

    def without_flag(self, var: Variable) -> Variable:
        """What a tensor holds, whatever its stop_gradient was set to, and whatever made it a leaf."""
        return self._cuts(var)[0]

    def flagged_form(self, var: Variable, before: Variable) -> bool | None:
        """Whether `var` is the tensor `before` whose stop_gradient was set, or set back: True where it was taken off
        the tape, too. None where it is something else.
        """
        is_off = [self._cuts(v) for v in (var, before)]
        if is_off[0][0] is not is_off[1][0]:
            return None
        return is_off[0][1] and not is_off[1][1]

    def same_on_paths(self, var: Variable) -> list[tuple[Callable[[], Any], Variable]]:
        """The tensors that are `var` itself on some paths, each with what tells whether it is that path."""
        own = self._cuts(var)[0]
        found = [(way, way.target) for held in dict.fromkeys((var, own)) for way in self.forks.get(held, ())]
        found += [(w, v) for v, ways in self.forks.items() for w in ways if self._cuts(w.target)[0] is own]
        return [(way.taken, v) for way, v in found if way.taken is not None and not way.is_view]

    def _cuts(self, var: Variable) -> tuple[Variable, bool]:
        """What a tensor was before its stop_gradient was set, whatever made it a leaf; and whether something did."""
        is_leaf = False
        while isinstance(view := self.views.get(var), Cut) and not isinstance(view, Hooked):
            var, is_leaf = view.base, is_leaf or view.is_leaf
        return var, is_leaf

    def latest(self, var: Variable) -> Variable:
        """What the memory of `var` holds now."""
        while var in self.replaced:
            var = self.replaced[var]
        return var

    def shown(self, var: Variable) -> Variable:
        """The variable whose memory `var` shows: itself, or what it is a view of."""
        while var in self.views:
            var = self.views[var].base
        return var

    def is_view_of(self, var: Variable, base: Variable) -> bool:
        """Whether `var` merely shows `base`, as in-place reshapes do."""
        while var in self.views:
            var = self.views[var].base
            if var is base:
                return True
        return False

    def leaves_memory(self, old: Variable, value: Variable) -> bool:
        """Whether a tensor that held `old` shares no memory any more with others that did, since it holds `value`.

        So it is where that has another shape or dtype. A tensor with several variables, since a path or its
        stop_gradient made it so, is followed as one.
        """
        if are_alike(old.meta, value.meta) or old in self.forks or isinstance(self.views.get(old), Cut):
            return False
        if any(way.target is old for ways in self.forks.values() for way in ways):
            return False
        is_shared = old in self.views or any(view.base is old for view in self.views.values())
        if is_shared and old.block is not value.block:  # behind the path, a change of what it left would be one of it
            raise may_be_shared()
        return True

    def follows(self, var: Variable) -> bool:
        """Whether an in-place change of another variable may change `var`."""
        return var in self.views or var in self.forks

    def fork(self, var: Variable, ways: Sequence[Way]) -> None:
        """Remember that `var` shares memory with the target of each way on that way's path."""
        if ways:
            self.forks[var] = (*self.forks.get(var, ()), *ways)

    def ways(self, var: Variable, outer: Callable[[Variable], Variable | None]) -> list[Way]:
        """The ways on which `var` shares memory with variables made elsewhere; `outer` gives those, None for others.

        There is one for each of those, two where it is a view on some paths: paths that lead to the same one are taken
        together, for there are many.
        """
        return list(_Search(self, outer).ways(var).values())

    def refreshed(self, var: Variable) -> Variable:
        """`var`, or its view of the current content when what it shows was changed in place."""
        if var in self.forks and self.replaced and var not in self._settling:
            return self._refreshed_fork(var)
        view = self.views.get(var)
        if view is None or not self.replaced or var in self._kept:
            return var
        base = self.latest(view.base)
        if base is view.base:
            base = self.refreshed(base)
        if base is view.base or not self.shares(var):
            return var
        fresh: Variable = view.of(base)
        if isinstance(view, Detached):  # made by an op that is no view by itself
            fresh = fresh if var.stop_gradient else self._still_written(var, fresh)
            self.views[fresh] = replace(view, base=base)
        return fresh

    def _still_written(self, var: Variable, content: Variable) -> Variable:
        """What a detached tensor holds by now, whose gradient is that of what was written to itself: `var`."""
        self._kept.add(var)
        try:
            return in_place_of(var, content)
        finally:
            self._kept.discard(var)

    def _refreshed_fork(self, var: Variable) -> Variable:
        if var in self._settled:  # forks of forks come to it by many ways
            return self._settled[var]
        value, ways, is_first = var, [], not self._settling
        self._settling.add(var)
        try:
            for way in self.forks[var]:
                now = self.latest(way.target)
                now = now if way.taken is None else self.refreshed(now)
                if now is not way.target:
                    value = way.choose(now, value)
                ways.append(replace(way, target=now))
            self._settled[var] = value
        finally:
            self._settling.discard(var)
            if is_first:
                self._settled.clear()
        if value is not var:
            self.forks[value] = tuple(ways)
        return value

    def written_base(self, old: Variable, value: Variable) -> tuple[Variable, Variable] | None:
        """The base that `old` shows and its content once `value` replaced `old`; None when `old` shows nothing."""
        view = self.views.get(old)
        if view is None or _is_stretched(view, old) or not self.shares(old):
            return None
        base = self.latest(view.base)
        self.noting = False  # what is computed here is memory of its own
        try:
            new = view.put_back(base, value, _is_whole(base, old))
            new = assign_op(value) if new is value else new  # a view of itself would have no base
        finally:
            self.noting = True
        self.views[value] = replace(view, base=new)
        self.written.add(value)
        return base, new

    def shows(self, var: Variable, base: Variable) -> None:
        """Remember that the view `var` shows `base`, in which its base keeps its place on the tape since then."""
        if self.views[var].base is not base:
            self.views[var] = replace(self.views[var], base=base)

    def shown_of(self, var: Variable, seen: Collection[Variable], made: dict[Variable, Variable]) -> Variable:
        """`var`, recorded again as a view of what it shows if it was written to and that is one of `seen`.

        Else itself. made: what is known of others.
        """
        if var not in made:
            made[var] = self._shown_of(var, seen, made)
        return made[var]

    def _shown_of(self, var: Variable, seen: Collection[Variable], made: dict[Variable, Variable]) -> Variable:
        view = self.views.get(var)
        if view is None or isinstance(view, (Cut, Detached)) or not self.shares(var):
            return var
        base = self.shown_of(view.base, seen, made)
        is_seen = view.base in seen or self.shown(base) in seen
        return view.of(base) if is_seen and (var in self.written or base is not view.base) else var

    def shares(self, var: Variable) -> bool:
        """Whether the memory is shared in eager code: reshaping what is not contiguous copies it."""
        view = self.views[var]
        try:
            if isinstance(view, (Cut, Detached)):
                return True
            base = self._example(view.base)
            return np.may_share_memory(base, view.op.kernel(np, base, **_example_attrs(view)))
        except (VitrifyError, ValueError, IndexError, TypeError):
            return True  # sizes that do not fit the example: taken for shared, as nearly all views are

    def _example(self, var: Variable) -> Any:
        """An array laid out as eager code would lay out `var`; its elements are nothing in particular."""
        view = self.views.get(var)
        if view is not None:
            return view.op.kernel(np, self._example(view.base), **_example_attrs(view))
        meta = _made_as(var)
        return np.empty([UNKNOWN_SIZE if size < 0 else size for size in meta.shape], meta.dtype.np)


def _is_whole(base: Variable, old: Variable) -> bool:
    sizes = numel(_made_as(base).shape), numel(_made_as(old).shape)
    return -1 not in sizes and sizes[0] == sizes[1]


def _made_as(var: Variable) -> Meta:
    """Shape and dtype of a variable, whatever it means since it was changed in place."""
    assert isinstance(var.meta, Meta)
    return var.meta


def _example_attrs(view: View) -> dict[str, Any]:
    return {name: _without_variables(value) for name, value in view.attrs.items()}


def _without_variables(value: Any) -> Any:
    return (
        0 if isinstance(value, Variable) else type(value)(map(_without_variables, value)) if _is_list(value) else value
    )


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and not hasattr(value, "_fields")


def _is_stretched(view: View, var: Variable) -> bool:
    """Whether elements of the view share memory with each other: changed in place, it gets memory of its own."""
    base, shown = numel(_made_as(view.base).shape), numel(_made_as(var).shape)
    return -1 not in (base, shown) and shown > base
