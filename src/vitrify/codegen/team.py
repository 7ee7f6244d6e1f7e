"""Threads that native code shares work with: they wait in machine code, so no Python runs between a call and its parts.

    void share(ptr team, ptr work, ptr context, i64 parts)       void work(ptr context, i64 part, i64 member)

runs the parts on all members, the caller (member 0) among them. Parts are taken one by one, and a member that comes
late finds none: the caller waits for parts that others have begun, never for others to begin. A team serves one caller
at a time; a second one does its parts by itself.

A member without work looks for some for a while, then sleeps in the kernel (a futex) until a caller wakes it.

On a busy machine the system may take the processor from a member in the middle of a part, for longer than a whole run
takes. A caller that waited much longer than it worked therefore does all parts by itself for a while: eight times as
long as it waited, and longer each time.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import sys
from threading import Lock, Thread
from typing import Any

import numpy as np

from ..core.config import kernel_threads
from .llvm import host
from .native import loaded
from .writer import Writer

# Words of a team, apart as members write them: how many parts are left (the low half) of which call (the high half),
# how many are not done, whether a caller has the team, how many members sleep, what they sleep on, what the caller
# sleeps on; what runs, and the address of a C function.
_TICKET, _PENDING, _BUSY, _SLEEPERS, WAKE, _CALLER = 0, 8, 16, 24, 32, 40
_WORK, _CONTEXT, SYSCALL = 48, 49, 50
# Until when callers do all parts by themselves, and for how long after the last wait that was too long, in cycles.
_ALONE, _LAST_ALONE = 51, 52
# Whether members shall end, which only those of a library that is unloaded do.
STOP = 53
WORDS = 56
_LEFT = (1 << 32) - 1
# How often a member looks for work before it sleeps, and a caller whether all is done: some 50 microseconds.
_LOOKS, _WAITS = 2000, 4000
# A wait is too long that takes so many cycles (some 100 microseconds) and so many times what the caller worked.
_LONG, _TIMES = 300_000, 2
# For how long callers do all parts after it, in waits and in times of what they did after the one before; some 50
# milliseconds at most: a count of calls would be a moment of short ones and many seconds of long ones.
_WAITS_ALONE, _TIMES_ALONE, _MOST_ALONE = 8, 4, 150_000_000
_FUTEX = {"x86_64": 202, "aarch64": 98}
_WAIT, WAKE_UP = 128, 129  # of this process alone


def _atomic_load(w: Writer, pointer: str, order: str = "acquire") -> str:
    return w.value(f"load atomic i64, ptr {pointer} {order}, align 8")


def _pause(w: Writer) -> None:
    w.call("void", *(("@llvm.x86.sse2.pause",) if host().is_x86 else ("@llvm.aarch64.hint", "i32 1")))


def futex(w: Writer, word: int, operation: int, value: object, team: str = "%team") -> None:
    """futex(address, operation, value), without a time limit."""
    number, place = _FUTEX[platform.machine()], w.at(team, word)
    call = w.load(team, SYSCALL, "ptr")
    w.value(f"call i64 (i64, ...) {call}(i64 {number}, ptr {place}, i64 {operation}, i64 {value}, ptr null)")


def _take() -> str:
    """Do parts until there are no more."""
    w = Writer("void", "take", ("ptr %team", "i64 %member"))
    ticket = w.at("%team", _TICKET)
    w.label("next")
    seen = _atomic_load(w, ticket)
    left = w.value(f"and i64 {seen}, {_LEFT}")
    with w.when(w.value(f"icmp eq i64 {left}, 0")):
        w.leave("void")
    part = w.add(left, -1)
    pair = w.value(f"cmpxchg ptr {ticket}, i64 {seen}, i64 {w.add(seen, -1)} acq_rel acquire")
    is_ours = w.value(f"extractvalue {{i64, i1}} {pair}, 1")
    with w.when(is_ours):
        work, context = w.load("%team", _WORK, "ptr"), w.load("%team", _CONTEXT, "ptr")
        w.call("void", work, f"ptr {context}", f"i64 {part}", "i64 %member")
        before = w.value(f"atomicrmw sub ptr {w.at('%team', _PENDING)}, i64 1 seq_cst")
        with w.when(w.value(f"icmp eq i64 {before}, 1")):
            asleep = w.value(f"atomicrmw xchg ptr {w.at('%team', _CALLER)}, i32 0 seq_cst")
            with w.when(w.value(f"icmp ne i32 {asleep}, 0")):
                futex(w, _CALLER, WAKE_UP, 1)
    w.line("br label %next")
    return w.text


def _now(w: Writer) -> str:
    """Cycles of the processor, where a program may read them; else 0, so that no wait is too long and none is alone."""
    return w.call("i64", "@llvm.readcyclecounter") if host().is_x86 else w.add(0, 0)


def _alone(w: Writer) -> None:
    """Do all parts, and leave."""
    with w.loop("%parts") as part:
        w.call("void", "%work", "ptr %context", f"i64 {part}", "i64 0")
    w.leave("void")


def _judge(w: Writer, start: str, done: str) -> None:
    """Decide from when the caller had begun and done its parts whether it does those of the next calls by itself."""
    waited, worked = w.value(f"sub i64 {_now(w)}, {done}"), w.value(f"sub i64 {done}, {start}")
    is_long = w.value(f"icmp sgt i64 {waited}, {_LONG}")
    is_longer = w.value(f"icmp sgt i64 {waited}, {w.times(worked, _TIMES)}")
    last = w.load("%team", _LAST_ALONE)
    with w.when(w.value(f"and i1 {is_long}, {is_longer}")):
        more = w.least(w.add(w.times(last, _TIMES_ALONE), w.times(waited, _WAITS_ALONE)), _MOST_ALONE)
        until = w.add(w.add(done, waited), more)
        for word, value in ((_ALONE, until), (_LAST_ALONE, more)):
            w.line(f"store atomic i64 {value}, ptr {w.at('%team', word)} monotonic, align 8")
        w.line(f"store atomic i64 0, ptr {w.at('%team', _BUSY)} release, align 8")
        w.leave("void")
    less = w.value(f"sub i64 {last}, {w.value(f'lshr i64 {w.add(last, 15)}, 4')}")
    w.store(less, "%team", _LAST_ALONE)


def _share() -> str:
    w = Writer("void", "share", ("ptr %team", "ptr %work", "ptr %context", "i64 %parts"))
    alone = _atomic_load(w, w.at("%team", _ALONE), "monotonic")
    start = _now(w)
    with w.when(w.value(f"icmp slt i64 {start}, {alone}")):
        _alone(w)
    pair = w.value(f"cmpxchg ptr {w.at('%team', _BUSY)}, i64 0, i64 1 acquire monotonic")
    is_ours = w.value(f"extractvalue {{i64, i1}} {pair}, 1")
    with w.when(w.value(f"xor i1 {is_ours}, true")):
        _alone(w)
    w.store("%work", "%team", _WORK, "ptr")
    w.store("%context", "%team", _CONTEXT, "ptr")
    pending, ticket = w.at("%team", _PENDING), w.at("%team", _TICKET)
    w.line(f"store atomic i64 %parts, ptr {pending} release, align 8")
    call = w.add(w.value(f"lshr i64 {_atomic_load(w, ticket)}, 32"), 1)
    high = w.value(f"shl i64 {call}, 32")
    w.line(f"store atomic i64 {w.value(f'or i64 {high}, %parts')}, ptr {ticket} seq_cst, align 8")
    sleepers = _atomic_load(w, w.at("%team", _SLEEPERS), "seq_cst")
    with w.when(w.value(f"icmp sgt i64 {sleepers}, 0")):
        w.value(f"atomicrmw add ptr {w.at('%team', WAKE)}, i32 1 seq_cst")
        futex(w, WAKE, WAKE_UP, sleepers)
    w.call("void", "@take", "ptr %team", "i64 0")
    done = _now(w)
    looks = w.variable("i64", 0)
    w.label("wait")
    is_done = w.value(f"icmp eq i64 {_atomic_load(w, pending)}, 0")
    with w.when(is_done):
        _judge(w, start, done)
        w.line(f"store atomic i64 0, ptr {w.at('%team', _BUSY)} release, align 8")
        w.leave("void")
    count = w.add(w.value(f"load i64, ptr {looks}"), 1)
    w.line(f"store i64 {count}, ptr {looks}")
    _pause(w)
    with w.when(w.value(f"icmp sgt i64 {count}, {_WAITS}")):
        w.line(f"store atomic i32 1, ptr {w.at('%team', _CALLER)} seq_cst, align 8")
        left = _atomic_load(w, pending, "seq_cst")
        with w.when(w.value(f"icmp ne i64 {left}, 0")):  # whoever ends from here on sees that the caller sleeps
            futex(w, _CALLER, _WAIT, 1)
        w.line(f"store atomic i32 0, ptr {w.at('%team', _CALLER)} seq_cst, align 8")
    w.line("br label %wait")
    return w.text


def _serve() -> str:
    """What a member does all its life."""
    w = Writer("void", "serve", ("ptr %team", "i64 %member"))
    looks = w.variable("i64", 0)
    ticket, sleepers = w.at("%team", _TICKET), w.at("%team", _SLEEPERS)
    stop = w.at("%team", STOP)
    w.label("look")
    with w.when(w.value(f"icmp ne i64 {_atomic_load(w, stop)}, 0")):
        w.leave("void")
    left = w.value(f"and i64 {_atomic_load(w, ticket)}, {_LEFT}")
    with w.when(w.value(f"icmp ne i64 {left}, 0")):
        w.call("void", "@take", "ptr %team", "i64 %member")
        w.line(f"store i64 0, ptr {looks}")
    count = w.add(w.value(f"load i64, ptr {looks}"), 1)
    w.line(f"store i64 {count}, ptr {looks}")
    _pause(w)
    with w.when(w.value(f"icmp sgt i64 {count}, {_LOOKS}")):
        w.value(f"atomicrmw add ptr {sleepers}, i64 1 seq_cst")
        awake = w.value(f"load atomic i32, ptr {w.at('%team', WAKE)} seq_cst, align 8")
        left = w.value(f"and i64 {_atomic_load(w, ticket, 'seq_cst')}, {_LEFT}")
        busy = w.value(f"or i64 {left}, {_atomic_load(w, stop, 'seq_cst')}")
        with w.when(w.value(f"icmp eq i64 {busy}, 0")):  # whoever comes from here on has seen that there is a sleeper
            futex(w, WAKE, _WAIT, w.value(f"zext i32 {awake} to i64"))
        w.value(f"atomicrmw sub ptr {sleepers}, i64 1 seq_cst")
        w.line(f"store i64 0, ptr {looks}")
    w.line("br label %look")
    return w.text


def has_teams() -> bool:
    """Whether threads can wait in machine code here."""
    return sys.platform == "linux" and platform.machine() in _FUTEX


def team_ir() -> str:
    """The functions of a team: `share`, which callers call, `serve`, which members are in, and what these need."""
    pause = "@llvm.x86.sse2.pause()" if host().is_x86 else "@llvm.aarch64.hint(i32)"
    clock = "declare i64 @llvm.readcyclecounter()"
    return "\n\n".join([_take(), _share(), _serve(), f"declare void {pause}", clock])


class Team:
    """`size` members: the caller, and daemon threads that start when they are first asked for."""

    def __init__(self, size: int) -> None:
        found = loaded(team_ir(), ("share", "serve"))
        self.size = size
        self.share = found.addresses["share"]
        self._serve = found.addresses["serve"]
        memory = np.zeros(WORDS + 8, np.int64)
        self._words = memory[-memory.ctypes.data % 64 // 8 :][:WORDS]
        self.address: int = self._words.ctypes.data
        self._lock = Lock()
        self.renew()

    def renew(self) -> None:
        """Begin anew, as a forked process must: it has none of the other members."""
        self._lock = Lock()
        self._has_started = False
        self._words[:] = 0
        self._words[SYSCALL] = ctypes.cast(ctypes.CDLL(None).syscall, ctypes.c_void_p).value or 0

    def start(self) -> None:
        """Let the other members begin; without them the caller does all parts."""
        with self._lock:
            if self._has_started:
                return
            self._has_started = True
            serve: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(self._serve)
            for member in range(1, self.size):
                given = (self.address, member)
                Thread(target=serve, args=given, name=f"vitrify-native-{member}", daemon=True).start()


@functools.cache  # a predictor has a number of its own
def _team(size: int) -> Team:
    made = Team(size)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=made.renew)
    return made


def team() -> Team | None:
    """The team of this process, its members started; None where native code has but one thread."""
    if kernel_threads() < 2 or not has_teams():
        return None
    found = _team(kernel_threads())
    found.start()
    return found if found.size > 1 else None


__all__ = ["STOP", "SYSCALL", "WAKE", "WAKE_UP", "WORDS", "Team", "futex", "has_teams", "team", "team_ir"]
