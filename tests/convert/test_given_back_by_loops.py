"""Dicts and lists from before a tensor's loop that iterations hand on: each is the object that it is."""

from dataclasses import dataclass

import numpy as np
import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare

X, ENTRIES = [1.0, 2.0], {"a": [1.0], "b": [2.0]}
TURNS = [np.asarray(count) for count in (3, 0)]


def given_back(x, entries, n):
    for _ in range(n):
        return entries


def given_back_on_a_path(x, entries, n):
    for _ in range(n):
        x = x + 1
        if x.sum() > 3:
            return x, entries
    return x, None


def given_back_at_last(x, entries, n):
    while True:
        x = x + n + 1
        if x.sum() > 5:
            return entries, x


def given_back_by_two_loops(x, entries, n):
    for turn in range(n):
        for inner in range(n):
            if inner + turn > 2:
                return entries, x * inner
    return None


def changed_behind(x, entries, n):
    found = None
    for turn in range(n):
        found = (entries, x + turn)
    if found is not None:
        found[0]["c"] = x
    return found, entries


def in_a_state(x, entries, n):
    state = (x, entries)
    for _ in range(n):
        state = (state[0] + 1, state[1])
        state[1]["a"] = state[0]
    return state


def in_turn(x, entries, n):
    other = {"a": x, "b": x}
    both = (entries, other)
    for _ in range(n):
        both = (both[1], both[0])
    both[0]["a"] = x * 7
    return both, other


def new_on_a_path(x, entries, n):
    state = (x, entries)
    for turn in range(n):
        if turn > 0:
            state = (x * turn, {"a": x, "b": x + turn})
    state[1]["a"] = x * 7
    return state, entries


def by_an_inner_function(x, entries, n):
    def find():
        for turn in range(n):
            if x.sum() > turn:
                return entries

    found = find()
    return found is entries, found is None


@dataclass
class State:
    value: object
    entries: dict


def in_an_object(x, entries, n):
    state = State(x, entries)
    for _ in range(n):
        state = State(state.value + 1, state.entries)
    state.entries["c"] = state.value
    return state


def changed_in_an_object(x, entries, n):
    state = State(x, entries)
    for _ in range(n):
        state.entries["a"] = state.entries["a"] + state.value
        state = State(state.value + 1, state.entries)
    return state.value


def beside_a_list_of_a_library(x, entries, n):
    last = entries
    for _ in range(n):
        last = {"a": x, "parts": paddle.split(x, 2)}
    last["z"] = x
    return last, entries


def copied_on_a_path(x, entries, n):
    for turn in range(n):
        if turn > 1:
            entries = dict(entries)
    entries["a"] = x * 7
    return x


def with_a_key_more(x, entries, n):
    for turn in range(n):
        entries = {**entries, "c": x + turn}
    entries["b"] = x * 7
    return x


def with_a_key_more_on_a_path(x, entries, n):
    for turn in range(n):
        if turn > 1:
            entries = {**entries, "c": x + turn}
    entries.setdefault("c", x * 7)
    return entries


def own_with_keys_on_paths(x, entries, n):
    found = {}
    for turn in range(n):
        if turn > 1:
            found = {**found, "b": x + turn}
        elif turn > 0:
            found = {"a": x * turn, **found}
    return found, list(found), len(found), found.get("b")


def exchanged_in_a_list(x, entries, n):
    held = [entries]
    for turn in range(n):
        held[0]["a"] = x + turn
        held[0] = {"a": x}
    return held


def exchanged_in_a_dict(x, entries, n):
    held = {"first": entries}
    for turn in range(n):
        held["first"]["a"] = x + turn
        held["first"] = {"a": x * turn, "b": x}
    return held


def exchanged_in_a_dict_on_a_path(x, entries, n):
    rows = [x]
    held = {"rows": rows}
    for turn in range(n):
        held["rows"].append(x + turn)
        if turn > 0:
            held["rows"] = []
    return held, rows


CASES = [
    given_back, given_back_on_a_path, given_back_at_last, given_back_by_two_loops, changed_behind, in_a_state, in_turn,
    new_on_a_path, by_an_inner_function, in_an_object,
    changed_in_an_object, beside_a_list_of_a_library, copied_on_a_path, with_a_key_more, with_a_key_more_on_a_path,
    own_with_keys_on_paths, exchanged_in_a_list, exchanged_in_a_dict, exchanged_in_a_dict_on_a_path,
]  # fmt: skip


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_it_is_the_same_object(function):
    compare(function, *[(X, ENTRIES, turns) for turns in TURNS])
