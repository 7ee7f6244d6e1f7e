"""Calls that have been alike for long become built-in functions, which are machine code from the tensors on.

What such a function assumes is what the calls that it stands for have found: arguments of these kinds, these modes, the
program still being the one for them. Where anything is otherwise, it calls what was called before, so nothing else
changes. Programs that change what they are given, draw random numbers or give gradients stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..core.interrupts import may_be_caught
from ..core.lazy import lazy_module
from ..core.modes import amp_state, grad_enabled, recorder
from ..core.pytree import LEAF
from ..core.setting import MODES, WATCH, Setting
from ..eager.holder import Holder
from ..eager.tensor import Tensor, wrap
from .partial_program import PartialProgramLayer
from .path_leaves import ForkLeaf
from .segment import RIPE_AFTER, CompiledSegment, later
from .template import InputLeaf, OutputLeaf, Template

if TYPE_CHECKING:
    from ..codegen.tensor_call import Assumed, Shape

_codegen = lazy_module("vitrify.codegen.tensor_call")
_native = lazy_module("vitrify.codegen.native")
_errors = lazy_module("vitrify.codegen.errors")

COLD: Setting[int] = Setting("ripe_after_where_cold", 65_536)
"""Runs after which they are where the compiler is not loaded: short processes then never wait for it."""
MOST = 4
"""Built-in functions of one compiled function, each of which passes calls on to the one made before it."""
TRIES = 16
"""How often one compiled function gets a new one: where calls vary that much, they stay in Python."""
_IMMUTABLE = (type(None), bool, int, float, complex, str, bytes)


class Ripening:
    """What becomes of the calls of one compiled function."""

    def __init__(self, called: Callable[..., Any], put: Callable[[Callable[..., Any]], None]) -> None:
        """called: the call as it is in Python. put: makes something else the function's call."""
        self._called = called
        self._put = put
        self._made: list[Callable[..., Any]] = []
        self._tries = 0
        self._is_warm = False

    def watch(self, program: PartialProgramLayer, count: int) -> None:
        """Make a built-in function of calls with so many tensors and nothing else, once the program has run enough."""
        segment = program.segment
        if segment.when_ripe is later and is_suitable(program):
            segment.when_ripe = lambda inputs: self._ripen(program, inputs, count)

    def forget(self) -> None:
        """Call Python again: programs were forgotten."""
        self._made.clear()
        self._put(self._called)

    def _ripen(self, program: PartialProgramLayer, inputs: Sequence[Any], count: int) -> int:
        """Make a built-in function of calls like this one; the runs until this is asked again, -1: never."""
        if not self._is_warm:
            self._is_warm = True
            if not _native.is_ready() and COLD.get() > RIPE_AFTER.get():
                return COLD.get() - RIPE_AFTER.get()
        if WATCH.on or MODES.on:
            return RIPE_AFTER.get()
        self._tries += 1
        before = self._made[-1] if 0 < len(self._made) < MOST else self._called
        try:
            made = builtin_of(program, inputs, count, before)
        except _errors.NoNativeForm:
            return -1
        if before is self._called:
            self._made.clear()
        self._made.append(made)
        self._put(made)
        return RIPE_AFTER.get() if self._tries < TRIES else -1


def is_suitable(program: PartialProgramLayer) -> bool:
    """Whether calls of a program could be a built-in function, as far as can be told without looking at arrays."""
    segment = program.segment
    return segment.__class__ is CompiledSegment and program.is_pure and not (segment.wrt or segment.random)


def builtin_of(
    program: PartialProgramLayer, inputs: Sequence[Tensor], count: int, otherwise: Callable[..., Any]
) -> Callable[..., Any]:
    """The built-in function for calls like the one with these inputs, the first `count` of which are arguments.

    Raises NoNativeForm.
    """
    found = program.segment.forward_core.function_for([t._data for t in inputs])
    if found is None:
        raise _errors.NoNativeForm("the program is no native call")
    plan, picks = found
    call = _codegen.TensorCall(
        _tensors(),
        [(t.__class__, {"stop_gradient": t.stop_gradient}) for t in inputs[:count]],
        inputs[count:],
        _assumed(program, inputs[count:]),
        plan,
        _Shapes(picks).of(program.concrete.output),
        program.ran,
        otherwise,
        may_be_caught,
    )
    made: Callable[..., Any] = call.made()
    return made


def _tensors() -> Any:
    """What machine code has to know of tensors: they are made as `wrap` makes them."""
    example = wrap(None)
    names = [name for name in Holder.__slots__ if not name.startswith("__") and hasattr(example, name)]
    others = {name: getattr(example, name) for name in names if name != "_data"}
    return _codegen.Tensors(Tensor, "_data", others)


def _assumed(program: PartialProgramLayer, captured: Sequence[Any]) -> Assumed:
    """What calls of the program must find as this one did."""
    variables = [(recorder, None), (grad_enabled, grad_enabled.get()), (amp_state, amp_state.get())]
    looks = []
    if not program.depends_on_nothing:
        found = program.inputs_of_call()
        if found is not program.captured:
            raise _errors.NoNativeForm("other tensors stand in place of those that the program knew")
        looks.append((program.inputs_of_call, found))
    switches = [(MODES, "on", False), (WATCH, "on", False)]
    made: Assumed = _codegen.Assumed(switches, variables, looks=looks)
    return made


class _Shapes:
    """How templates become what machine code makes of the results of a plan, each of which may be used once."""

    def __init__(self, picks: Sequence[int]) -> None:
        self._picks = picks
        self._used: set[int] = set()

    def of(self, template: Template) -> Shape:
        """What a template gives. Raises NoNativeForm."""
        leaves = iter(template.leaves)
        return self._tree(template.tree, leaves)

    def _tree(self, tree: Any, leaves: Any) -> Shape:
        if tree is LEAF:
            return self._leaf(next(leaves))
        kind, children, extra = tree
        if kind not in (tuple, list) or extra is not None:
            raise _errors.NoNativeForm(f"the call gives a {kind.__name__}")
        found: Shape = _codegen.Several(kind, [self._tree(child, leaves) for child in children])
        return found

    def _leaf(self, leaf: Any) -> Shape:
        found: Shape
        if leaf.__class__ is OutputLeaf and leaf.form == "tensor":
            found = _codegen.Result(self._taken(leaf.index))
        elif leaf.__class__ is InputLeaf:
            found = _codegen.Passed(leaf.index)
        elif leaf.__class__ is ForkLeaf and leaf.stopped is None:
            places = [(self._result(flag), _codegen.Passed(place)) for flag, place in leaf.places]
            found = _codegen.Fork(places, _codegen.Result(self._taken(leaf.index)))
        elif leaf.__class__ in _IMMUTABLE:
            found = _codegen.Known(leaf)
        else:
            raise _errors.NoNativeForm("the call gives something else than tensors")
        return found

    def _result(self, index: int) -> int:
        """The plan's result that is the program's output of this number; -1 is the last one."""
        pick: int = self._picks[index]
        if pick < 0:
            raise _errors.NoNativeForm("the call gives an array that it was given")
        return pick

    def _taken(self, index: int) -> int:
        pick = self._result(index)
        if pick in self._used:
            raise _errors.NoNativeForm("the call gives a tensor twice")
        self._used.add(pick)
        return pick


__all__ = ["Ripening", "builtin_of", "is_suitable"]
