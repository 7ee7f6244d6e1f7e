"""The threads of a library compiled ahead of time.

A library has one team (`codegen/team.py`), however many functions, clones and callers there are. Its members begin with
the first run that wants them, take no signals, and end before the library is unloaded. A forked process has none of
them and begins anew. While one caller has the team, others do their parts by themselves.

    void spread(ptr work, ptr context, i64 parts)       work(context, part, member) for all parts
    i64 threads()                                       how many threads a run may use
"""

from __future__ import annotations

import numpy as np

from .. import gemm
from ..emit import FLOAT64
from ..llvm import Target
from ..team import STOP, SYSCALL, WAKE, WAKE_UP, WORDS, futex, has_teams, team_ir
from ..writer import Writer

MOST = 64
"""So many threads there are at most."""
# How many threads a run may use, the process that the team is of, how many members have begun, whether some begin now.
_WANTED, _PROCESS, _STARTED, _STARTING, _STATE = range(5)
_SIGNALS = 16  # words of a set of signals
_BLOCK, _SETTING = -1, 2
_DECLARED = """\
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @getpid()
declare i64 @syscall(i64, ...)
declare ptr @aligned_alloc(i64, i64)
declare void @free(ptr)"""


def ahead_team_ir(target: Target) -> str:
    """The functions of this module."""
    state = f"@team.state = internal global [{_STATE} x i64] [i64 1{', i64 0' * (_STATE - 1)}]"
    parts = [state, _threads(), _limit(), _alone()]
    if not has_teams():
        return "\n\n".join([*parts, _spread_alone()])
    members = [f"@team.{name} = internal global [{MOST} x i64] zeroinitializer" for name in ("handles", "scratch")]
    return "\n\n".join([
        *parts, *members, f"@team = internal global [{WORDS} x i64] zeroinitializer, align 64",
        team_ir(), _renew(), _start(_scratch_bytes(target)), _ready(), _spread(), _member(), _scratch(), _end(),
        # What the loader calls before it unmaps the library, and a process when it exits.
        '@team.end = internal global ptr @end_team, section ".fini_array", align 8',
        '@llvm.used = appending global [1 x ptr] [ptr @team.end], section "llvm.metadata"', _DECLARED,
    ])  # fmt: skip


def _scratch_bytes(target: Target) -> int:
    """What any product needs."""
    sizes = gemm.ROWS, gemm.COLUMNS, gemm.INNER
    return gemm.scratch_bytes(*sizes, gemm.shape_of(np.dtype(FLOAT64), target))


def _get(w: Writer, word: int) -> str:
    return w.value(f"load atomic i64, ptr {w.at('@team.state', word)} acquire, align 8")


def _set(w: Writer, value: object, word: int) -> None:
    w.line(f"store atomic i64 {value}, ptr {w.at('@team.state', word)} release, align 8")


def _exchange(w: Writer, word: int, old: object, new: object) -> str:
    """Whether the word was `old`; it is `new` then."""
    pair = w.value(f"cmpxchg ptr {w.at('@team.state', word)}, i64 {old}, i64 {new} acq_rel acquire")
    return w.value(f"extractvalue {{i64, i1}} {pair}, 1")


def _not(w: Writer, condition: str) -> str:
    return w.value(f"xor i1 {condition}, true")


def _threads() -> str:
    w = Writer("i64", "threads", ())
    w.line(f"ret i64 {_get(w, _WANTED)}")
    return w.text


def _limit() -> str:
    """Say how many threads runs may use from now on."""
    w = Writer("void", "limit_threads", ("i64 %threads",))
    _set(w, w.least("%threads", MOST if has_teams() else 1), _WANTED)
    w.line("ret void")
    return w.text


def _alone() -> str:
    """All parts by the caller."""
    w = Writer("void", "alone", ("ptr %work", "ptr %context", "i64 %parts"))
    with w.loop("%parts") as part:
        w.call("void", "%work", "ptr %context", f"i64 {part}", "i64 0")
    w.line("ret void")
    return w.text


def _spread_alone() -> str:
    w = Writer("void", "spread", ("ptr %work", "ptr %context", "i64 %parts"))
    w.call("void", "@alone", "ptr %work", "ptr %context", "i64 %parts")
    w.line("ret void")
    scratch = Writer("ptr", "member_scratch", ("i64 %member",))
    scratch.line("ret ptr null")
    return f"{w.text}\n\n{scratch.text}"


def _spread() -> str:
    w = Writer("void", "spread", ("ptr %work", "ptr %context", "i64 %parts"))
    is_ready = w.value(f"icmp ne i64 {w.call('i64', '@ready')}, 0")
    with w.when(is_ready):
        w.call("void", "@share", "ptr @team", "ptr %work", "ptr %context", "i64 %parts")
        w.leave("void")
    w.call("void", "@alone", "ptr %work", "ptr %context", "i64 %parts")
    w.line("ret void")
    return w.text


def _ready() -> str:
    """Let the team be that of this process, with all its members; 0 while another thread sees to that."""
    w = Writer("i64", "ready", ())
    process = w.value(f"sext i32 {w.call('i32', '@getpid')} to i64")
    known = _get(w, _PROCESS)
    with w.when(w.value(f"icmp eq i64 {known}, -1")):
        w.leave("i64 0")
    with w.when(w.value(f"icmp ne i64 {known}, {process}")):
        with w.when(_not(w, _exchange(w, _PROCESS, known, -1))):
            w.leave("i64 0")
        w.call("void", "@renew_team")
        _set(w, process, _PROCESS)
    others = w.add(_get(w, _WANTED), -1)
    with w.when(w.value(f"icmp slt i64 {_get(w, _STARTED)}, {others}")), w.when(_exchange(w, _STARTING, 0, 1)):
        w.call("void", "@start_team", f"i64 {others}")
        _set(w, 0, _STARTING)
    w.line("ret i64 1")
    return w.text


def _renew() -> str:
    """A team without members."""
    w = Writer("void", "renew_team", ())
    with w.loop(WORDS) as i:
        w.store(0, "@team", i)
    w.store("@syscall", "@team", SYSCALL, "ptr")
    for word in (_STARTED, _STARTING):
        _set(w, 0, word)
    w.line("ret void")
    return w.text


def _start(scratch: int) -> str:
    """Let members begin until there are so many; where the system refuses one, those that there are must do."""
    w = Writer("void", "start_team", ("i64 %others",))
    all, old = (w.space(f"[{_SIGNALS} x i64]") for _ in range(2))
    with w.loop(_SIGNALS) as i:
        w.store(_BLOCK, all, i)
    w.call("i32", "@pthread_sigmask", f"i32 {_SETTING}", f"ptr {all}", f"ptr {old}")
    failed = w.variable("i1", "false")
    with w.loop(w.add("%others", 1), w.add(_get(w, _STARTED), 1)) as member:
        with w.when(_not(w, w.value(f"load i1, ptr {failed}"))):
            place = w.at("@team.scratch", member)
            with w.when(w.value(f"icmp eq i64 {w.load(place)}, 0")):  # else a process has left it to its child
                w.store(w.call("ptr", "@aligned_alloc", "i64 64", f"i64 {scratch}"), place, 0, "ptr")
            w.line(f"store i1 {w.value(f'icmp eq i64 {w.load(place)}, 0')}, ptr {failed}")
        with w.when(_not(w, w.value(f"load i1, ptr {failed}"))):
            given = w.value(f"inttoptr i64 {member} to ptr")
            handle = w.at("@team.handles", member)
            code = w.call("i32", "@pthread_create", f"ptr {handle}", "ptr null", "ptr @member", f"ptr {given}")
            is_bad = w.value(f"icmp ne i32 {code}, 0")
            w.line(f"store i1 {is_bad}, ptr {failed}")
            with w.when(_not(w, is_bad)):
                _set(w, member, _STARTED)
    with w.when(w.value(f"load i1, ptr {failed}")):
        _set(w, w.add(_get(w, _STARTED), 1), _WANTED)
    w.call("i32", "@pthread_sigmask", f"i32 {_SETTING}", f"ptr {old}", "ptr null")
    w.line("ret void")
    return w.text


def _member() -> str:
    w = Writer("ptr", "member", ("ptr %number",))
    w.call("void", "@serve", "ptr @team", f"i64 {w.value('ptrtoint ptr %number to i64')}")
    w.line("ret ptr null")
    return w.text


def _scratch() -> str:
    """The memory for products of a member beside the caller."""
    w = Writer("ptr", "member_scratch", ("i64 %member",))
    w.line(f"ret ptr {w.load('@team.scratch', '%member', 'ptr')}")
    return w.text


def _end() -> str:
    """Let all members end, and wait for that: then nobody is in this code. None begin any more."""
    w = Writer("void", "end_team", ())
    team = w.value("getelementptr i8, ptr @team, i64 0")
    process = w.value(f"sext i32 {w.call('i32', '@getpid')} to i64")
    with w.when(w.value(f"icmp ne i64 {_get(w, _PROCESS)}, {process}")):
        w.leave("void")
    w.label("starting")
    w.jump(_exchange(w, _STARTING, 0, 1), "mine", "starting")
    w.label("mine")
    w.line(f"store atomic i64 1, ptr {w.at(team, STOP)} seq_cst, align 8")
    w.value(f"atomicrmw add ptr {w.at(team, WAKE)}, i32 1 seq_cst")
    futex(w, WAKE, WAKE_UP, MOST, team)
    with w.loop(w.add(_get(w, _STARTED), 1), 1) as member:
        w.call("i32", "@pthread_join", f"i64 {w.load('@team.handles', member)}", "ptr null")
        w.call("void", "@free", f"ptr {w.load('@team.scratch', member, 'ptr')}")
    _set(w, 0, _STARTED)
    _set(w, 1, _WANTED)
    w.line("ret void")
    return w.text


__all__ = ["MOST", "ahead_team_ir"]
