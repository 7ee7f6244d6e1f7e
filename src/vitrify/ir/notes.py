"""What is known of a program while it is built, besides its blocks: all who take part read it and write it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import ref

from ..core.made import Made
from ..core.source import Loc
from ..ops.registry import OpDef
from .foreseen import Foreseen
from .program import Block, Variable


class Persistables(NamedTuple):
    """`create(meta, name, initial, ...)` makes a variable of the program and lets its startup program fill it,
    `change_at_startup(variable, change)` then lets it hold `change(held)` instead of what it holds.
    """

    create: Callable[..., Variable]
    change_at_startup: Callable[[Variable, Callable[[Variable], Any]], None]


class Fork(NamedTuple):
    """A container made by merging paths, and the containers that it is on one path each.

    `merging`: one object for all that was made by merging the same paths.
    """

    merged: Any
    sources: tuple[Any, ...]
    merging: object


class Forks(list[Fork]):
    """What was forked, in order. `references`: by its id, how often each container is one of theirs."""

    def __init__(self) -> None:
        super().__init__()
        self.references: Counter[int] = Counter()

    def append(self, fork: Fork, /) -> None:
        """Note one more, whose containers live from now on."""
        super().append(fork)
        self.references.update([id(fork.merged), *map(id, fork.sources)])


def _attempted(function: Callable[..., Any], *args: Any) -> tuple[Any, Any]:
    return None, function(*args)


def as_it_is(function: Any) -> Any:
    """What was given."""
    return function


def _known(flag: Any, then: Callable[[], Any], orelse: Callable[[], Any], name: str) -> Any:
    return then() if flag else orelse()


def _nobody(op: OpDef, values: Sequence[Any]) -> None:
    """Nobody is told."""


@dataclass(eq=False, repr=False)
class Notes:
    """The notes of one program, as they are before anything is recorded."""

    # -- what the program is for -------------------------------------------------------------------------------------

    is_whole: bool = False
    """Whether nothing may stay Python: then a run may refuse what only the run can tell."""
    is_called: bool = False
    """Whether the program is built for a call, which can be done by another."""
    tracing: bool = False
    """Whether the user's Python is being traced: a tensor's text is then not what it is now, a name and a meta."""
    depth: int = 0
    """How many frames were on the stack when building began."""

    # -- containers --------------------------------------------------------------------------------------------------

    keeps_containers: bool = False
    """Whether lists and dicts of several paths stay several, as objects do."""
    forks: Forks = field(default_factory=Forks)
    made: Made = field(default_factory=Made)
    table_sites: Any = None
    """The places where dicts and sets are made whose keys only a run knows."""
    array_sites: Any = None
    """The places where arrays of NumPy's are made that the program must hold."""
    let_go: list[tuple[tuple[Any, ...], int]] = field(default_factory=list)
    """Values, and how many hold each who get others for them."""
    kept: dict[int, Any] = field(default_factory=dict)
    """By id, what a list of unknown length holds by value, though Python shares it."""
    put: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    """By id, dicts and objects put into a list, with what it held before."""
    twice: set[type] = field(default_factory=set)
    """Classes of such, of which one may be there twice."""
    inner_lists: dict[int, Any] = field(default_factory=dict)
    """By id, weakly: lists that others hold by value as one of their items."""
    shared_at: Loc | None = None
    """Where lists last came to hold one list in common."""
    known_values: dict[tuple[type, Any], int] = field(default_factory=dict)
    """The numbers by which lists of the program hold Python values, such as texts: by class and value."""
    merged_arrays: list[Any] = field(default_factory=list)
    """Arrays of NumPy's, which are what some value is on one path."""
    owned: dict[Any, Any] = field(default_factory=dict)
    """Whether objects hold attributes of their own that their classes have, too, of those written: by place key."""

    # -- loops -------------------------------------------------------------------------------------------------------

    loop_bodies: set[Block] = field(default_factory=set)
    loop_tests: set[Block] = field(default_factory=set)
    numbers_heads: bool = False
    """Whether loops number the tensors that they hand on, for `is` inside of them."""
    head_numbers: dict[Variable, Any] = field(default_factory=dict)
    """What stands for the number of a loop variable, with its operator, until the loop is recorded."""
    numbered: dict[Variable, Any] = field(default_factory=dict)
    """What numbers the variables of loops that were recorded, by them."""
    object_numbers: dict[Variable, int] = field(default_factory=dict)
    """The numbers of tensors, each of its own."""
    object_of: dict[Variable, Variable] = field(default_factory=dict)
    """The tensor that a variable is which holds what one means since it was changed; itself where it may be several."""
    loop_counters: dict[int, Any] = field(default_factory=dict)
    """What counts the iterations of a `for`, by the id of its body."""
    left_iterators: dict[int, Any] = field(default_factory=dict)
    """By id, those of which a tensor decided how many items a loop took."""

    # -- what was recorded -------------------------------------------------------------------------------------------

    foreseen: Foreseen = field(default_factory=Foreseen)
    without_ones: bool = False
    """Whether something recorded is right only where no unknown size is 1."""
    takes_sizes: bool = False
    """Whether something recorded raises TakenSizeError."""
    has_optional: bool = False
    """Whether some variable may be None, as only the program knows."""
    has_options: bool = False
    """Whether some value may be of several kinds, of which only the program knows which it is."""
    has_cases: bool = False
    """Whether some number is one of a few Python numbers, as a tensor decided."""
    appending: OpDef | None = None
    """The op whose inputs are looked at, for messages."""
    gradients: dict[Any, Any] = field(default_factory=dict)
    """The gradients of functions recorded so far, by function and by which outputs have cotangents."""

    # -- tensors -----------------------------------------------------------------------------------------------------

    asked_of_tensors: set[str] = field(default_factory=set)
    """Names of attributes and special methods that tensors were asked for."""
    asked_of_classes: set[tuple[type, str]] = field(default_factory=set)
    """Classes that were asked for a special method, and its name."""
    settings: dict[str, Any] = field(default_factory=dict)
    """What settings of libraries were when code first asked them (`core/library_settings.py`), by their names."""
    lacking: set[tuple[Variable, str]] = field(default_factory=set)
    """Attributes that were asked for, of tensors that lack them."""
    apart: set[tuple[Variable, Variable]] = field(default_factory=set)
    """Pairs of tensors that were taken for two objects: where a call is given one for both, it is not so."""
    hashed: set[Variable] = field(default_factory=set)
    """Tensors that were put into sets, each of them another than the others."""
    identified: list[Any] = field(default_factory=list)
    """Tensors that `id` was asked of, in order: one that is one of those before has the number of the first."""
    apart_so_far: list[Any] = field(default_factory=list)
    """Items of lists that loops still add to, and tensors that they are not yet."""
    asked: list[Any] = field(default_factory=list)
    """Questions about tensors that are answered when the trace ends."""
    flagged: set[Variable] = field(default_factory=set)
    """Inputs whose own flag the traced code sets before anything uses them: a run sets it of the tensor it is given."""
    flagged_later: dict[int, Any] = field(default_factory=dict)
    """Tensors from outside whose stop_gradient was set when they were used."""

    # -- exceptions --------------------------------------------------------------------------------------------------

    asserted: set[tuple[Block, Any]] = field(default_factory=set)
    """Which flags of variables that a path left unset were asserted, and where."""
    errors: dict[int, tuple[BaseException, Any, bool]] = field(default_factory=dict)
    """Exceptions that the traced code made of tensors or raised: by id, with what says how to make them again."""
    leaves_undone: bool = False
    """Whether a path that ends in an exception changes something first, which a program that raises leaves undone."""
    catches: bool = False
    """Whether traced code may see what an operator raises: what it does then a program that raises leaves undone."""
    left_tries: dict[tuple[str, int], int] = field(default_factory=dict)
    """The `try` statements (file and line) that would see what a program raises, but cannot, and how often one may be
    met: a run that raises is given up, and the call runs eagerly."""

    # -- who is asked and told: tracing puts its own functions here --------------------------------------------------

    convert: Callable[[Any], Any] = as_it_is
    """What is called in place of a function (`forward` and hooks of Layers, special methods) meanwhile."""
    eager_class: Callable[[Any], type] | None = None
    """The class of a variable in eager code; tracing knows, nobody else asks."""
    with_numbers: Callable[[Any], Any] = as_it_is
    """A library function that takes numbers of the run."""
    attempt: Callable[..., Any] = _attempted
    """Calls a function with arguments: `(None, what it gives)`, or `(error, nothing)`."""
    choose: Callable[[Any, Callable[[], Any], Callable[[], Any], str], Any] = _known
    """Gives what one of two functions does, as a flag decides when the program runs; the last argument is a name."""
    host: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    """What stands for arrays and lists taken from tensors while Python is traced: `numpy` and `tolist` of a tensor."""
    suspended: list[ref[Any]] = field(default_factory=list)
    """The generators of Python's that the program's code made, each of which may wait for somebody who asks on."""
    made_generators: dict[int, Any] = field(default_factory=dict)
    """Generators of random numbers, by id, with what stands for them in runs."""
    on_layer: Callable[[Any], None] = as_it_is
    """Called with a Layer that is called."""
    on_library: Callable[[Any], None] = as_it_is
    """Called with an object whose special method, which a library wrote, is about to look at it."""
    on_unset: Callable[[Any], None] = as_it_is
    """Called with a variable that a path left unset when it is used."""
    on_kind: Callable[[Variable], None] = as_it_is
    """Called with a variable of several classes when it is used: it must not be None."""
    on_raise: Callable[[OpDef, Sequence[Any]], None] = _nobody
    """Called with an op on Python numbers that may raise when the program runs."""
    on_single: Callable[[str], None] = as_it_is
    """Called with what asks a tensor of unknown size for its one element, such as "bool()"."""
    training: Any = None
    """What knows of gradients while the user's Python is traced: backward, `.grad` and leaves are asked of it."""
    persistables: Persistables | None = None
    """What makes and fills the variables that live in a Scope; None where parameters are eager Tensors. Guards of
    programs written by hand put it here."""


__all__ = ["Fork", "Forks", "Notes", "Persistables", "as_it_is"]
