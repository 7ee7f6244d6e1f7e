"""Generators: seeds, states and scopes."""

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vitrify.core import rng
from vitrify.core.errors import ArgumentError
from vitrify.core.philox import Key


@pytest.fixture(autouse=True)
def own_generator():
    with rng.rng_guard(0):
        yield


def test_each_draw_gets_its_own_words():
    generator = rng.Generator(seed=42)
    assert [generator.advance(n) for n in (5, 1, 8)] == [Key(42, 0), Key(42, 8), Key(42, 12)]


@given(st.lists(st.integers(0, 1000), max_size=20))
def test_draws_do_not_overlap_and_start_at_blocks(sizes):
    generator, end = rng.Generator(1), 0
    for size in sizes:
        key = generator.advance(size)
        assert key.offset >= end and key.offset % 4 == 0
        end = key.offset + size


def test_a_state_brings_the_same_draws_again():
    generator = rng.Generator(7)
    generator.advance(10)
    state = pickle.loads(pickle.dumps(generator.get_state()))
    first = generator.advance(3)
    generator.advance(100)
    generator.set_state(copy.deepcopy(state))
    assert generator.advance(3) == first


def test_seed_starts_the_stream_again():
    generator = rng.seed(5)
    assert generator is rng.default_generator() and generator.initial_seed() == 5
    first = generator.advance(4)
    assert rng.seed(5).advance(4) == first == Key(5, 0)


def test_a_seed_is_taken_modulo_64_bits():
    assert rng.Generator(-1).initial_seed() == rng.Generator(0).manual_seed(2**64 - 1).initial_seed() == 2**64 - 1


def test_without_a_seed_generators_differ():
    assert rng.Generator().initial_seed() != rng.Generator().initial_seed()
    generator = rng.Generator(0)
    generator.advance(4)
    assert generator.seed() == generator.initial_seed() != 0 and generator.get_state().offset == 0


def test_the_default_generators_state_is_saved_and_restored():
    rng.seed(11)
    state = rng.get_rng_state()
    first = rng.default_generator().advance(1)
    rng.set_rng_state(state)
    assert rng.default_generator().advance(1) == first
    with pytest.raises(ArgumentError, match="of 1 state, not 0"):
        rng.set_rng_state([])


def test_a_guard_draws_from_its_own_generator():
    outer = rng.default_generator()
    with pytest.raises(ZeroDivisionError), rng.rng_guard(3) as inner:
        assert rng.default_generator() is inner is not outer
        raise ZeroDivisionError
    with rng.rng_guard(outer) as same:
        assert same is outer
    assert rng.default_generator() is outer and outer.get_state().offset == 0


def test_a_guard_is_for_its_own_thread():
    seen = []
    with rng.rng_guard(3) as mine:
        thread = threading.Thread(target=lambda: seen.append(rng.default_generator()))
        thread.start()
        thread.join()
    assert seen[0] is not mine


def test_threads_never_draw_the_same_words():
    generator = rng.Generator(1)
    with ThreadPoolExecutor(8) as pool:
        offsets = [key.offset for key in pool.map(generator.advance, [5] * 1000)]
    assert sorted(offsets) == list(range(0, 8000, 8))


def test_a_generator_prints_its_state():
    assert repr(rng.Generator(9)) == "Generator(seed=9, offset=0)"
