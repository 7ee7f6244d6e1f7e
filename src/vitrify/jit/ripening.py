"""Calls that have been alike for long become built-in functions, which are machine code from the tensors on.

What such a function assumes is what the calls that it stands for have found: arguments of these kinds, these modes, the
program still being the one for them. Where anything is otherwise, it calls what was called before, so nothing else
changes. Programs that change what they are given or draw random numbers stay as they are.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..convert.guards.same import Compared
from ..core.interrupts import may_be_caught
from ..core.lazy import lazy_module
from ..core.meta import Meta
from ..core.modes import amp_state, grad_enabled, recorder
from ..core.pytree import LEAF
from ..core.setting import MODES, WATCH, Setting
from ..eager.holder import Holder
from ..eager.tensor import Tensor, wrap
from .marks import InputLeaf, OutputLeaf
from .partial_program import PartialProgramLayer
from .path_leaves import ForkLeaf
from .run_program import NOTHING, SegmentNode
from .segment import RIPE_AFTER, CompiledSegment, later
from .template import Template

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
Call = tuple[Sequence[Any], Mapping[str, Any]]
"""Arguments by position, and by name."""
_IMMUTABLE = (type(None), bool, int, float, complex, str, bytes)


class _Running(threading.local):
    """The call that runs a program in this thread: others run it with other arguments, perhaps."""

    call: tuple[PartialProgramLayer, Call] | None = None


class Ripening:
    """What becomes of the calls of one compiled function."""

    def __init__(self, called: Callable[..., Any], put: Callable[[Callable[..., Any]], None]) -> None:
        """called: the call as it is in Python. put: makes something else the function's call."""
        self._called = called
        self._put = put
        self._made: list[Callable[..., Any]] = []
        self._tries = 0
        self.running = _Running()
        self._is_warm = False

    def watch(self, program: PartialProgramLayer) -> None:
        """Make a built-in function of calls once the program has run enough."""
        segment = program.segment
        if segment.when_ripe is later and is_suitable(program):
            segment.when_ripe = lambda inputs: self._ripen(program, inputs)

    def _call_of(self, program: PartialProgramLayer, inputs: Sequence[Any]) -> Call:
        """The call that runs the program. Raises NoNativeForm where it is not known."""
        if program.takes_tensors_alone:
            return inputs[: program.concrete.n_arguments], {}
        running = self.running.call
        if running is None or running[0] is not program:
            raise _errors.NoNativeForm("which call this is is not known")
        return running[1]

    def forget(self) -> None:
        """Call Python again: programs were forgotten."""
        self._made.clear()
        self._put(self._called)

    def _ripen(self, program: PartialProgramLayer, inputs: Sequence[Any]) -> int:
        """Make a built-in function of calls like this one; the runs until this is asked again, -1: never."""
        if not self._is_warm:
            self._is_warm = True
            if not _native.is_ready() and COLD.get() > RIPE_AFTER.get():
                return COLD.get() - RIPE_AFTER.get()
        if WATCH.on or MODES.on:
            return RIPE_AFTER.get()
        self._tries += 1
        again = RIPE_AFTER.get() if self._tries < TRIES else -1
        before = self._made[-1] if 0 < len(self._made) < MOST else self._called
        try:
            made = builtin_of(program, inputs, self._call_of(program, inputs), before)
        except _errors.NoNativeForm:
            return again
        if before is self._called:
            self._made.clear()
        self._made.append(made)
        self._put(made)
        return again


def is_suitable(program: PartialProgramLayer) -> bool:
    """Whether calls of a program could be a built-in function, as far as can be told without looking at arrays."""
    segment = program.segment
    is_plain = segment.__class__ is CompiledSegment and not (segment.random or segment.bare)
    return is_plain and program.is_pure and not (segment.wrt and (segment.shared or segment.kept.may_copy))


def builtin_of(
    program: PartialProgramLayer, inputs: Sequence[Tensor], given: Call, otherwise: Callable[..., Any]
) -> Callable[..., Any]:
    """The built-in function for calls like the one with these inputs, which was given these arguments.

    Raises NoNativeForm.
    """
    count = program.concrete.n_arguments
    arguments = _arguments(given, inputs[:count])
    found = program.segment.forward_core.function_for([t._data for t in inputs])
    if found is None:
        raise _errors.NoNativeForm("the program is no native call")
    plan, n_results, picks = found
    shapes = _Shapes(program.segment, n_results, picks)
    call = _codegen.TensorCall(
        _tensors(),
        arguments,
        [sys.intern(name) for name in given[1]],
        inputs[count:],
        _assumed(program, inputs, count),
        plan,
        n_results,
        shapes.of(program.concrete.output),
        _node(program.segment, inputs, shapes, plan, len(picks)),
        program.ran,
        otherwise,
        may_be_caught,
    )
    made: Callable[..., Any] = call.made()
    return made


def _arguments(given: Call, tensors: Sequence[Tensor]) -> list[Any]:
    """What each argument of a call like this one must be. Raises NoNativeForm."""
    numbers: dict[int, list[int]] = {}
    for i, tensor in enumerate(tensors):
        numbers.setdefault(id(tensor), []).append(i)
    if given[1] and len(numbers) < len(tensors):
        raise _errors.NoNativeForm("which of its names a tensor has is not told")
    found: list[Any] = []
    for value in (*given[0], *given[1].values()):
        if numbers.get(id(value)):
            slots = {"stop_gradient": value.stop_gradient}
            found.append(_codegen.Argument(numbers[id(value)].pop(0), value.__class__, slots))
        elif value.__class__ in _IMMUTABLE:
            found.append(_codegen.Known(value))
        else:
            raise _errors.NoNativeForm("an argument is neither a tensor nor a number")
    if any(numbers.values()):
        raise _errors.NoNativeForm("a tensor is given otherwise than by itself")
    return found


def _tensors() -> Any:
    """What machine code has to know of tensors: they are made as `wrap` makes them."""
    example = wrap(None)
    names = [name for name in Holder.__slots__ if not name.startswith("__") and hasattr(example, name)]
    others = {name: getattr(example, name) for name in names if name != "_data"}
    return _codegen.Tensors(Tensor, "_data", "_node", "_index", "stop_gradient", "_cell", others)


def _assumed(program: PartialProgramLayer, inputs: Sequence[Any], count: int) -> Assumed:
    """What calls of the program must find as this one did."""
    variables = [(recorder, None), (grad_enabled, grad_enabled.get()), (amp_state, amp_state.get())]
    switches: list[tuple[Any, str, Any]] = [(MODES, "on", False), (WATCH, "on", False)]
    switches += [(inputs[i], "stop_gradient", inputs[i].stop_gradient) for i in program.segment.wrt if i >= count]
    pairs: list[Any] = []
    same = Compared()
    looks: list[tuple[Callable[[], Any], Any]] = []
    if not program.depends_on_nothing:
        found = program.inputs_of_call()
        if found is not program.captured:
            raise _errors.NoNativeForm("other tensors stand in place of those that the program knew")
        compared = program.compared()
        if compared is None:
            looks.append((program.inputs_of_call, found))
        else:
            more, pairs, same = compared
            switches += more
            looks += [(partial(is_disjoint, names), True) for is_disjoint, names in same.unnamed]
    made: Assumed = _codegen.Assumed(
        switches, variables, pairs, same.codes, same.defaults, same.entries, same.attributes, same.cells, looks
    )
    return made


def _node(segment: CompiledSegment, inputs: Sequence[Tensor], shapes: _Shapes, plan: Any, n_outputs: int) -> Any:
    """What a call puts on the tape; None where no input wants a gradient."""
    if all(inputs[i].stop_gradient for i in segment.wrt):
        return None
    arrays = [t._data for t in inputs]
    made = plan(*arrays)
    if made is None:
        raise _errors.NoNativeForm("the program refuses these arrays")
    outputs = [(*made, *arrays)[shapes.known(k)] for k in range(segment.n_outputs)]
    fixed = {
        "name": "run_program",
        "segment": segment,
        "rng_state": None,
        "hooks": None,
        "retained": None,
        "outputs": [(array.shape, array.dtype) for array in outputs],
        "done": NOTHING,
    }
    return _codegen.TapeNode(
        SegmentNode,
        fixed,
        ["given"],
        "inputs",
        "residuals",
        "versions",
        "edges",
        [shapes.known(k) for k in range(segment.n_outputs, n_outputs)],
        segment.kept.watched,
        [None if inputs[i].stop_gradient else i for i in segment.wrt],
        {shapes.result(i): i for i in segment.seeds},
    )


class _Shapes:
    """How templates become what machine code makes of the results of a plan, each of which may be used once."""

    def __init__(self, segment: CompiledSegment, n_results: int, picks: Sequence[int]) -> None:
        self._outputs = segment.outputs
        self._n_results = n_results
        self._picks = picks
        self._used: set[int] = set()

    def of(self, template: Template) -> Shape:
        """What a template gives. Raises NoNativeForm."""
        return self._tree(template.tree, iter(template.leaves))

    def result(self, index: int) -> int:
        """The plan's result that is the program's output of this number."""
        found = self.known(index)
        if found >= self._n_results:
            raise _errors.NoNativeForm("the call gives an array that it was given")
        return found

    def known(self, index: int) -> int:
        """The plan's result, or behind these its array, that is the program's output of this number."""
        found: int = self._picks[index]
        if found < 0:
            raise _errors.NoNativeForm("an output is missing")
        return found

    def _tree(self, tree: Any, leaves: Iterator[Any]) -> Shape:
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
            found = self._taken(leaf.index)
        elif leaf.__class__ is InputLeaf:
            found = _codegen.Passed(leaf.index)
        elif leaf.__class__ is ForkLeaf and leaf.other is None:
            if any(mark.__class__ is not InputLeaf for _, mark in leaf.places):
                raise _errors.NoNativeForm("the call gives a tensor that may be another one of those")
            places = [(self._flag(flag), _codegen.Passed(mark.index)) for flag, mark in leaf.places]
            found = _codegen.Fork(places, self._taken(leaf.index))
        elif leaf.__class__ in _IMMUTABLE:
            found = _codegen.Known(leaf)
        else:
            raise _errors.NoNativeForm("the call gives something else than tensors")
        return found

    def _flag(self, index: int) -> int:
        """The result that is a flag: outputs from the last one, -1, on."""
        meta = self._outputs[index].meta
        if not isinstance(meta, Meta) or meta.dtype.np != np.bool_:
            raise _errors.NoNativeForm("a flag is no truth value")
        return self.result(len(self._outputs) + index)

    def _taken(self, index: int) -> Shape:
        found = self.result(index)
        if found in self._used:
            raise _errors.NoNativeForm("the call gives a tensor twice")
        self._used.add(found)
        made: Shape = _codegen.Result(found)
        return made


__all__ = ["Ripening", "builtin_of", "is_suitable"]
