"""A call of a compiled function as one built-in function: from the tensors that it is given to those that it gives.

It looks whether the call is one of those that it was made for, takes the arrays of tensors, runs the program's plan and
puts tensors around the results. Where anything is otherwise, it calls what it was given to fall back on, with the
same arguments, before anything has happened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from types import BuiltinFunctionType, CellType, CodeType, FunctionType
from typing import Any, TypeAlias

import numpy as np

from .entry import part
from .errors import NoNativeForm
from .llvm import define
from .objects import ITEMS, LIST_ITEMS, SIZE, Builtin, offset_of

_PLAN = "vitrify_whole_program"


@dataclass(frozen=True)
class Tensors:
    """The class of tensors: which of its slots hold what, and what all but the array start with in a new one.

    node, index: which node of the tape made it, and which of the node's outputs it is. stops: whether it is off it.
    cell: a list that begins with how often its memory was changed, or None.
    """

    kind: type
    data: str
    node: str
    index: str
    stops: str
    cell: str
    others: Mapping[str, Any]


@dataclass(frozen=True)
class TapeNode:
    """What a call puts on the tape, by the slots of the node.

    fixed: what is the same for all calls. empty: slots that start with an empty list. inputs, residuals, versions,
    edges: slots that get the tensors, the arrays kept, how often inputs were changed, and where gradients go.
    kept: the residuals: results of the plan, or behind these its arrays. watched, wrt: the inputs of versions and of
    edges, None for an edge that leads nowhere. seeds: which output of the node is that result of the plan.
    """

    kind: type
    fixed: Mapping[str, Any]
    empty: Sequence[str]
    inputs: str
    residuals: str
    versions: str
    edges: str
    kept: Sequence[int]
    watched: Sequence[int]
    wrt: Sequence[int | None]
    seeds: Mapping[int, int]


@dataclass(frozen=True)
class Assumed:
    """What a call must find as it was.

    switches: slots of objects, by object and name, and what they must hold. variables: ContextVars and what they must
    hold. pairs: two slots that must hold the same. codes, defaults: functions with their code and defaults. entries:
    namespaces, names in them and what these mean. attributes: classes, names and what the classes or their bases hold
    under these. cells: variables of closures and what they hold. looks: functions that must give this very object.
    """

    switches: Sequence[tuple[Any, str, Any]] = ()
    variables: Sequence[tuple[ContextVar[Any], Any]] = ()
    pairs: Sequence[tuple[tuple[Any, str], tuple[Any, str]]] = ()
    codes: Sequence[tuple[FunctionType, CodeType]] = ()
    defaults: Sequence[tuple[FunctionType, Any]] = ()
    entries: Sequence[tuple[Any, Any, Any]] = ()
    attributes: Sequence[tuple[type, str, Any]] = ()
    cells: Sequence[tuple[CellType, Any]] = ()
    looks: Sequence[tuple[Callable[[], Any], Any]] = ()


@dataclass(frozen=True)
class Result:
    """A new tensor around the plan's result of this number."""

    index: int


@dataclass(frozen=True)
class Passed:
    """A tensor that the call was given, or that it reads besides: numbered as the plan's arrays."""

    index: int


@dataclass(frozen=True)
class Known:
    """Always this very object."""

    value: Any


@dataclass(frozen=True)
class Fork:
    """The first of the tensors passed on whose flag is set; a flag is a result of the plan of one byte."""

    places: Sequence[tuple[int, Passed]]
    otherwise: Shape


@dataclass(frozen=True)
class Several:
    """A new list or tuple."""

    kind: type
    items: Sequence[Shape]


Shape: TypeAlias = "Result | Passed | Known | Fork | Several"


@dataclass(frozen=True)
class Argument:
    """A tensor that is given: the plan's array of this number. Its class, and what its slots must hold."""

    index: int
    kind: type
    slots: Mapping[str, Any]


@dataclass(frozen=True)
class TensorCall:
    """A call to be written.

    arguments: those by position and then those with these names. captured: the tensors that it reads besides.
    plan: the built-in function for all their arrays, which gives so many results. shape: what the call gives, in which
    each result stands once.
    node: what it puts on the tape.
    ran: a number that counts the calls. otherwise: what is called where anything is not as it was. interrupted: called
    when an exception is on its way out.
    """

    tensors: Tensors
    arguments: Sequence[Argument | Known]
    names: Sequence[str]
    captured: Sequence[Any]
    assumed: Assumed
    plan: Any
    n_results: int
    shape: Shape
    node: TapeNode | None
    ran: np.ndarray[Any, Any]
    otherwise: Callable[..., Any]
    interrupted: Callable[[], None]

    def made(self) -> Callable[..., Any]:
        """The built-in function. Raises NoNativeForm."""
        if not isinstance(self.plan, BuiltinFunctionType) or not isinstance(self.plan.__self__, np.ndarray):
            raise NoNativeForm("the program is no plan")
        define({_PLAN: part("call")})
        w = _Writer(self)
        w.write()
        return w.made()


class _Writer(Builtin):
    """The function in the making. What does not fit goes to `miss`, where no path has references of its own."""

    def __init__(self, call: TensorCall) -> None:
        super().__init__("call_tensors")
        self._call = call
        self._tensors: list[str] = []
        kept = () if call.node is None else call.node.kept
        self._kept = {k - call.n_results: self.reference() for k in kept if k >= call.n_results}
        self._owned: list[str] = [*self._kept.values()]
        self._node = "null"

    def write(self) -> None:
        """All of it."""
        call = self._call
        self._check_names()
        self._need(self.same("%count", str(len(call.arguments) - len(call.names)), "i64"))
        self._check_modes()
        tensors: dict[int, str] = {}
        for place, wanted in enumerate(call.arguments):
            self._check_argument(self.argument(place), wanted, tensors)
        self._check_assumed()
        self._tensors = [tensors[i] for i in range(len(tensors))]
        self._tensors += [self.held(tensor) for tensor in call.captured]
        self._give(self._run(self._arrays(self._tensors)))
        self.label("miss")
        given = "%arguments", "%count", "%names"
        self.leave(f"ptr {self.capi('PyObject_Vectorcall', self.held(call.otherwise), *given)}")

    def _need(self, condition: str, otherwise: str = "miss") -> None:
        """Go on where the condition holds, else elsewhere."""
        on = self.fresh_label()
        self.jump(condition, on, otherwise)
        self.label(on)

    # -- what must be as it was -------------------------------------------------------------------------------------

    def _check_modes(self) -> None:
        for owner, name, value in self._call.assumed.switches:
            self._need(self.same(self.slot(self.held(owner), type(owner), name), self.held(value)))
        for variable, value in self._call.assumed.variables:
            self._need(self.context_is(variable, value))

    def _check_names(self) -> None:
        names = self._call.names
        if not names:
            self._need(self.same("%names", "null"))
            return
        self._need(self.value("icmp ne ptr %names, null"))
        self._need(self.same(self.field("%names", SIZE, "i64"), str(len(names)), "i64"))
        for i, name in enumerate(names):
            self._need(self.same(self.item("%names", i), self.held(name)))

    def _check_argument(self, x: str, wanted: Argument | Known, tensors: dict[int, str]) -> None:
        if isinstance(wanted, Known):
            self._need(self.same(x, self.held(wanted.value)))
            return
        self._need(self.is_instance(x, wanted.kind))
        for name, value in wanted.slots.items():
            self._need(self.same(self.slot(x, self._call.tensors.kind, name), self.held(value)))
        tensors[wanted.index] = x

    def _check_assumed(self) -> None:
        assumed = self._call.assumed
        for one, other in assumed.pairs:
            found = [self.slot(self.held(owner), type(owner), name) for owner, name in (one, other)]
            self._need(self.same(*found))
        for function, code in assumed.codes:
            self._need(self.same(self.capi("PyFunction_GetCode", self.held(function)), self.held(code)))
        for function, values in assumed.defaults:
            wanted = "null" if values is None else self.held(values)
            self._need(self.same(self.capi("PyFunction_GetDefaults", self.held(function)), wanted))
        for namespace, name, value in assumed.entries:
            entry = self.capi("PyDict_GetItemWithError", self.held(namespace), self.held(name))
            self._need(self.same(entry, self.held(value)))
        for cls, name, value in assumed.attributes:
            self._need(self.same(self.capi("_PyType_Lookup", self.held(cls), self.held(name)), self.held(value)))
        for cell, value in assumed.cells:
            content = self.capi("PyCell_Get", self.held(cell))  # null where it is empty
            self.decref(content)
            self._need(self.same(content, self.held(value)))
        for look, value in assumed.looks:
            found_now = self.capi("PyObject_Vectorcall", self.held(look), "null", 0, "null")
            self._need(self.value(f"icmp ne ptr {found_now}, null"), "raised")
            self.decref(found_now)
            self._need(self.same(found_now, self.held(value)))

    # -- the run ----------------------------------------------------------------------------------------------------

    def _arrays(self, tensors: Sequence[str]) -> list[str]:
        """The arrays of tensors: references of our own, as others may change the tensors while this runs."""
        arrays = [self.slot(tensor, self._call.tensors.kind, self._call.tensors.data) for tensor in tensors]
        for i, array in enumerate(arrays):
            self.incref(array)
            if i in self._kept:
                self.line(f"store ptr {array}, ptr {self._kept[i]}")
        return arrays

    def _run(self, arrays: Sequence[str]) -> str:
        """What the plan gives: a tuple, a new reference."""
        space = self.space(f"[{max(len(arrays), 1)} x ptr]")
        for i, array in enumerate(arrays):
            self.store(array, space, i, "ptr")
        plan = self.held(self._call.plan.__self__)
        results = self.own(_PLAN, "ptr", f"ptr {plan}", f"ptr {space}", f"i64 {len(arrays)}")
        for i, array in enumerate(arrays):
            if i not in self._kept:
                self.decref(array)
        self._need(self.value(f"icmp ne ptr {results}, null"), "raised")
        self._need(self.value(f"icmp ne ptr {results}, {self.held(None)}"), "refused")
        return results

    # -- what it gives ----------------------------------------------------------------------------------------------

    def _owner(self) -> str:
        """A place for a reference of our own, which is given up when the call ends in whatever way."""
        self._owned.append(self.reference())
        return self._owned[-1]

    def _give(self, results: str) -> None:
        """What the call gives, made of the plan's results."""
        self.line(f"store ptr {results}, ptr {self._owner()}")
        if self._call.node is not None:
            self._node = self._checked(self.new_object(self._call.node.kind))
            self.line(f"store ptr {self._node}, ptr {self._owner()}")
            self._fill_node(self._call.node, results)
        lasting = len(self._owned)
        found = self._build(self._call.shape, results)
        ran = self.data(self.held(self._call.ran))
        self.store(self.add(self.load(ran), 1), ran)
        self._give_up(self._owned[:lasting])
        self.leave(f"ptr {found}")
        self.label("failed")
        self._give_up(self._owned)
        self.leave("ptr null")
        self.label("raised")
        self._give_up(self._owned)
        self._raise()
        self.label("refused")
        self._give_up(self._owned)
        self.decref(self.held(None))
        self.go("miss")

    def _give_up(self, variables: Sequence[str]) -> None:
        for variable in variables:
            self.decref(self.value(f"load ptr, ptr {variable}"))

    def _build(self, shape: Shape, results: str) -> str:
        """A new reference."""
        if isinstance(shape, Result):
            return self._tensor(shape.index, results)
        if isinstance(shape, Fork):
            return self._fork(shape, results)
        if isinstance(shape, Several):
            return self._container(shape, results)
        known = self._tensors[shape.index] if isinstance(shape, Passed) else self.held(shape.value)
        self.incref(known)
        return known

    def _checked(self, made: str) -> str:
        """What was made, if there was memory for it."""
        self._need(self.value(f"icmp ne ptr {made}, null"), "failed")
        return made

    def _tensor(self, index: int, results: str) -> str:
        tensors, node = self._call.tensors, self._call.node
        made = self._checked(self.new_object(tensors.kind))
        self.set_slot(made, tensors.kind, tensors.data, self.item(results, index))
        others = dict(tensors.others)
        if node is not None and index in node.seeds:
            others |= {tensors.index: node.seeds[index], tensors.stops: False}
            del others[tensors.node]
            self.set_slot(made, tensors.kind, tensors.node, self._node)
        for name, value in others.items():
            self.set_slot(made, tensors.kind, name, self.held(value))
        return made

    def _fork(self, fork: Fork, results: str) -> str:
        found = self.reference()
        done = self.fresh_label()
        for flag, passed in fork.places:
            is_taken = self.load(self.data(self.item(results, flag)), 0, "i8", 1)
            with self.when(self.value(f"icmp ne i8 {is_taken}, 0")):
                self.line(f"store ptr {self._build(passed, results)}, ptr {found}")
                self.go(done)
        self.line(f"store ptr {self._build(fork.otherwise, results)}, ptr {found}")
        self.label(done)
        return self.value(f"load ptr, ptr {found}")

    def _container(self, several: Several, results: str) -> str:
        is_list = several.kind is list
        made = self._checked(self.capi("PyList_New" if is_list else "PyTuple_New", len(several.items)))
        self.line(f"store ptr {made}, ptr {self._owner()}")
        items = self.field(made, LIST_ITEMS) if is_list else self.at(made, ITEMS, "i8")
        owned = len(self._owned)
        for i, item in enumerate(several.items):
            self.store(self._build(item, results), items, i, "ptr")
            for variable in self._owned[owned:]:  # the container has it now
                self.line(f"store ptr null, ptr {variable}")
        return made

    # -- what it puts on the tape -----------------------------------------------------------------------------------

    def _fill_node(self, node: TapeNode, results: str) -> None:
        n_results = self._call.n_results
        residuals = [
            self.item(results, k) if k < n_results else self.value(f"load ptr, ptr {self._kept[k - n_results]}")
            for k in node.kept
        ]
        for name in node.empty:
            self._fill(node, name, self.new_list(()))
        self._fill(node, node.inputs, self.new_tuple(self._tensors))
        self._fill(node, node.residuals, self.new_tuple(residuals))
        self._fill(node, node.versions, self.new_list([self._version(self._tensors[i]) for i in node.watched]))
        edges = [self.held(None) if i is None else self._edge(self._tensors[i]) for i in node.wrt]
        self._fill(node, node.edges, self.new_list(edges))
        for name, value in node.fixed.items():
            self.set_slot(self._node, node.kind, name, self.held(value))

    def _fill(self, node: TapeNode, name: str, made: str) -> None:
        """Hand what was made over to the node."""
        self.set_field(self._node, offset_of(node.kind, name), self._checked(made))

    def _version(self, tensor: str) -> str:
        """How often the memory of a tensor was changed: a borrowed reference to the number."""
        tensors, found = self._call.tensors, self.reference()
        cell = self.slot(tensor, tensors.kind, tensors.cell)
        self.line(f"store ptr {self.held(0)}, ptr {found}")
        with self.when(self.value(f"icmp ne ptr {cell}, {self.held(None)}")):
            self.line(f"store ptr {self.load(self.field(cell, LIST_ITEMS), 0, 'ptr')}, ptr {found}")
        return self.value(f"load ptr, ptr {found}")

    def _edge(self, tensor: str) -> str:
        """Where the gradient of a tensor goes: a reference that is given up at the end."""
        tensors, found = self._call.tensors, self._owner()
        node, done = self.slot(tensor, tensors.kind, tensors.node), self.fresh_label()
        with self.when(self.same(node, self.held(None))):
            leaf = self.new_tuple([self.held(None), self.held(-1), tensor])
            self.line(f"store ptr {leaf}, ptr {found}")
            self.go(done)
        index = self.slot(tensor, tensors.kind, tensors.index)
        self.line(f"store ptr {self.new_tuple([node, index, self.held(None)])}, ptr {found}")
        self.label(done)
        return self._checked(self.value(f"load ptr, ptr {found}"))

    def _raise(self) -> None:
        """Let an exception out; where there was no memory, the program runs as it did before, and says so itself."""
        is_memory = self.capi("PyErr_ExceptionMatches", self.held(MemoryError))
        with self.when(self.value(f"icmp ne i32 {is_memory}, 0")):
            self.capi("PyErr_Clear")
            self.go("miss")
        error = [self.variable("ptr", "null") for _ in range(3)]
        self.capi("PyErr_Fetch", *error)
        found = self.capi("PyObject_Vectorcall", self.held(self._call.interrupted), "null", 0, "null")
        self.decref(found)
        self.capi("PyErr_Restore", *[self.value(f"load ptr, ptr {part}") for part in error])
        self.leave("ptr null")


__all__ = ["Argument", "Assumed", "Fork", "Known", "Passed", "Result", "Several", "Shape", "TensorCall", "Tensors"]
