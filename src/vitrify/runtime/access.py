"""What instructions do to slots: all that the analyses of a program know of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

RANDOM, HOST, RAISES, COMMUNICATION, READER = "random", "host", "raises", "communication", "reader"
"""Kinds of effects; those of one kind keep their order. What may raise, as eager code counts on, is one of them."""


@dataclass(frozen=True)
class Access:
    """One instruction as the analyses see it: slots it reads and writes, and what else ties it to others.

    `views` are the slots read whose memory the outputs may share; `overwrites` those read whose memory it changes;
    `shapes` those read for their shape only. `effects` are the kinds of effect that it has. `on_host`: slots whose
    values the host needs before it can launch the instruction.
    """

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    views: tuple[int, ...] = ()
    overwrites: tuple[int, ...] = ()
    shapes: frozenset[int] = frozenset()
    effects: frozenset[str] = frozenset()
    on_host: tuple[int, ...] = ()


def memory_of(accesses: Sequence[Access]) -> list[frozenset[int]]:
    """For each slot the slots whose memory it may use: its own, and what it is a view of or took over.

    A slot written again counts with all that it ever was a view of.
    """
    count = 1 + max((s for a in accesses for s in (*a.reads, *a.writes)), default=-1)
    found = [frozenset({slot}) for slot in range(count)]
    for access in accesses:
        shared = frozenset().union(*(found[slot] for slot in (*access.views, *access.overwrites)))
        for slot in access.writes:
            found[slot] |= shared
    return found
