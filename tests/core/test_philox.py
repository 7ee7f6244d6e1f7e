"""The random stream against Random123's known answers, and the numbers made from it."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vitrify.core import dtype as d
from vitrify.core import philox as p

SEEDS = st.integers(0, 2**64 - 1)
OFFSETS = st.integers(0, 2**40)
FLOATING = [d.float16, d.bfloat16, d.float32, d.float64]

# Counter, key, words: `philox4x32 10` in Random123's kat_vectors.
KNOWN_ANSWERS = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def words_of(text):
    return [int(word, 16) for word in text.split()]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN_ANSWERS)
def test_known_answers(counter, key, answer):
    c, (low, high) = np.array(words_of(counter), np.uint64)[:, None], words_of(key)
    even, odd = p.rounds(np, c[0::2].copy(), c[1::2].copy(), low | high << 32)
    assert [int(even[0, 0]), int(odd[0, 0]), int(even[1, 0]), int(odd[1, 0])] == words_of(answer)


def scalar_word(seed, index):
    """Word `index` of the stream, in plain Python and straight from the paper."""
    c = [(index // 4) >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96)]
    k = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(b >> 32) ^ c[1] ^ k[0], b & 0xFFFFFFFF, (a >> 32) ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[index % 4]


@given(SEEDS, OFFSETS, st.integers(0, 9))
def test_words_are_those_of_the_plain_algorithm(seed, offset, n):
    words = p.philox(np, p.Key(seed, offset), n)
    assert words.dtype == np.uint32
    assert words.tolist() == [scalar_word(seed, offset + i) for i in range(n)]


@pytest.mark.parametrize("offset", [0, 1020, 1023, 1024, 3070, 2**40 - 3])
def test_a_few_words_from_where_stretches_meet(offset):
    for n in (0, 1, 4, 255, 256, 257):
        words = p.philox(np, p.Key(5, offset), n)
        assert words.tolist() == [scalar_word(5, offset + i) for i in range(n)]
        words[:] = 0  # they are the caller's
        assert p.philox(np, p.Key(5, offset), n).tolist() == [scalar_word(5, offset + i) for i in range(n)]


def test_the_next_few_words_are_there_already():
    """Counted in calls of NumPy's and Python's functions: a block takes some two hundred."""
    calls = []
    p.philox(np, p.Key(77), 4)
    sys.setprofile(lambda frame, event, arg: calls.append(event))
    try:
        p.philox(np, p.Key(77, 4), 4)
    finally:
        sys.setprofile(None)
    assert sum(event in ("call", "c_call") for event in calls) <= 12


@given(SEEDS, st.integers(0, 100_000), st.integers(0, 40_000), st.integers(0, 40_000))
def test_two_draws_in_a_row_are_one_long_draw(seed, offset, n, m):
    parts = [p.philox(np, p.Key(seed, offset), n), p.philox(np, p.Key(seed, offset + n), m)]
    np.testing.assert_array_equal(np.concatenate(parts), p.philox(np, p.Key(seed, offset), n + m))


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_uniform_numbers_fill_the_unit_interval(dtype):
    u = p.uniform(np, p.Key(1), (100_000,), dtype)
    assert u.dtype == dtype.np
    u = u.astype(np.float64)
    assert 0 <= u.min() < 0.01 and 0.99 < u.max() < 1
    assert abs(u.mean() - 0.5) < 0.005 and abs(u.var() - 1 / 12) < 0.002


@given(SEEDS, OFFSETS)
def test_uniform_numbers_are_made_as_documented(seed, offset):
    key = p.Key(seed, offset)
    w = [int(word) for word in p.philox(np, key, 6)]
    for dtype, bits in ((d.float16, 11), (d.bfloat16, 8), (d.float32, 24)):
        assert [float(u) for u in p.uniform(np, key, (6,), dtype)] == [(x >> (32 - bits)) * 2.0**-bits for x in w]
    pairs = zip(w[0::2], w[1::2], strict=True)
    assert p.uniform(np, key, (3,), d.float64).tolist() == [((a >> 5) * 2**26 + (b >> 6)) * 2.0**-53 for a, b in pairs]


@given(SEEDS, st.floats(-100, 100), st.floats(0.01, 100))
def test_uniform_numbers_stay_in_their_range(seed, low, width):
    u = p.uniform(np, p.Key(seed), (200,), d.float64, low, low + width)
    assert (u >= low).all() and (u <= low + width).all()


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_normal_numbers_have_the_moments_of_the_normal_distribution(dtype):
    z = p.normal(np, p.Key(2), (200_001,), dtype)
    assert z.dtype == dtype.np and z.shape == (200_001,)
    z = z.astype(np.float64)
    moments = [np.mean(z), np.mean(z**2), np.mean(z**3), np.mean(z**4)]
    np.testing.assert_allclose(moments, [0, 1, 0, 3], atol=0.06)


def test_normal_numbers_come_in_independent_pairs():
    z = p.normal(np, p.Key(3), (100_000,)).reshape(-1, 2)
    assert abs(np.corrcoef(z.T)[0, 1]) < 0.01
    assert abs(np.corrcoef(np.abs(z).T)[0, 1]) < 0.01


@given(SEEDS, OFFSETS)
def test_normal_numbers_are_made_as_documented(seed, offset):
    key = p.Key(seed, offset)
    a, b = (int(w) * 2.0**-32 for w in p.philox(np, key, 2))
    radius = math.sqrt(-2 * math.log(np.float32(a) + np.float32(2.0**-33)))
    expected = [radius * math.cos(2 * math.pi * b), radius * math.sin(2 * math.pi * b)]
    np.testing.assert_allclose(p.normal(np, key, (2,)), expected, rtol=2e-5, atol=2e-5)
    u, v = p.uniform(np, key, (2,), d.float64)
    radius = math.sqrt(-2 * math.log(1 - u))
    expected = [radius * math.cos(2 * math.pi * v), radius * math.sin(2 * math.pi * v)]
    np.testing.assert_allclose(p.normal(np, key, (2,), d.float64), expected, rtol=1e-12, atol=1e-12)


def test_normal_numbers_can_be_moved_and_scaled():
    plain = p.normal(np, p.Key(4), (2, 3))
    np.testing.assert_allclose(p.normal(np, p.Key(4), (2, 3), mean=5.0, std=0.5), plain * 0.5 + 5, rtol=1e-6)


@pytest.mark.parametrize("function", [p.uniform, p.normal])
def test_only_floating_types_have_uniform_and_normal_numbers(function):
    with pytest.raises(TypeError, match=f"{function.__name__}: the dtype must be floating, but received int32"):
        function(np, p.Key(0), (2,), d.int32)


@given(SEEDS, st.integers(-(2**31), 2**31 - 2), st.integers(1, 2**31), st.sampled_from([d.int32, d.int64]))
def test_integers_stay_in_their_range(seed, low, width, dtype):
    high = min(low + width, 2**31 - 1)
    numbers = p.randint(np, p.Key(seed), low, high, (50,), dtype)
    assert numbers.dtype == dtype.np and (numbers >= low).all() and (numbers < high).all()


@pytest.mark.parametrize("dtype", [d.int8, d.uint8, d.int32, d.int64], ids=str)
def test_integers_are_equally_frequent(dtype):
    counts = np.bincount(p.randint(np, p.Key(5), 0, 7, (70_000,), dtype), minlength=7)
    assert counts.sum() == 70_000 and abs(counts - 10_000).max() < 400


def test_integers_are_made_as_documented():
    w = [int(word) for word in p.philox(np, p.Key(6), 4)]
    assert p.randint(np, p.Key(6), -5, 95, (4,), d.int32).tolist() == [-5 + (x * 100 >> 32) for x in w]
    wide = [w[0] | w[1] << 32, w[2] | w[3] << 32]
    assert p.randint(np, p.Key(6), -5, 95, (2,), d.int64).tolist() == [-5 + x % 100 for x in wide]


def test_integers_of_all_64_bits():
    numbers = p.randint(np, p.Key(7), -(2**63), 2**63 - 1, (1000,), d.int64)
    assert numbers.min() < -(2**62) and numbers.max() > 2**62


def test_truth_values_can_be_drawn_as_integers():
    assert set(p.randint(np, p.Key(8), 0, 2, (50,), d.bool_).tolist()) == {True, False}


def test_randint_refuses_an_empty_range_and_other_types():
    with pytest.raises(ValueError, match="low is 3, high is 3"):
        p.randint(np, p.Key(0), 3, 3, (1,))
    with pytest.raises(TypeError, match="received float32"):
        p.randint(np, p.Key(0), 0, 3, (1,), d.float32)


@given(SEEDS, st.floats(0, 1))
def test_a_number_and_an_array_of_probabilities_give_the_same_draws(seed, probability):
    key = p.Key(seed)
    one = p.bernoulli(np, key, probability, (64,))
    np.testing.assert_array_equal(one, p.bernoulli(np, key, np.full((1,), probability), (64,)))
    assert one.dtype == np.bool_


def test_bernoulli_is_true_as_often_as_asked():
    assert not p.bernoulli(np, p.Key(9), 0.0, (1000,)).any()
    assert p.bernoulli(np, p.Key(9), 1.0, (1000,)).all()
    assert abs(p.bernoulli(np, p.Key(9), 0.3, (100, 1000)).mean() - 0.3) < 0.005
    each = p.bernoulli(np, p.Key(9), np.array([0.1, 0.9], np.float32), (50_000, 2)).mean(0)
    np.testing.assert_allclose(each, [0.1, 0.9], atol=0.01)


@given(SEEDS, st.integers(0, 300))
def test_a_permutation_has_each_number_once(seed, n):
    assert sorted(p.permutation(np, p.Key(seed), n)) == list(range(n))


def test_every_permutation_is_equally_frequent():
    seen = [tuple(p.permutation(np, p.Key(seed), 3, d.int32).tolist()) for seed in range(3000)]
    counts = [seen.count(order) for order in set(seen)]
    assert len(counts) == 6 and max(abs(count - 500) for count in counts) < 100


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (2, 3)])
def test_any_shape_can_be_drawn(shape):
    for dtype in (d.float32, d.float64):
        assert p.uniform(np, p.Key(1), shape, dtype).shape == p.normal(np, p.Key(1), shape, dtype).shape == shape
    assert p.randint(np, p.Key(1), 0, 5, shape).shape == p.bernoulli(np, p.Key(1), 0.5, shape).shape == shape


def test_word_count_says_how_far_a_draw_goes():
    assert p.word_count((2, 3), d.float32) == p.word_count((6,), d.bfloat16) == 6
    assert p.word_count((2, 3), d.float64) == 12 and p.word_count((), d.float32) == 1


def test_words_have_no_visible_pattern():
    bits = np.unpackbits(p.philox(np, p.Key(10), 50_000).view(np.uint8)).astype(np.int64)
    assert abs(bits.mean() - 0.5) < 0.002
    assert abs(np.corrcoef(bits[:-32], bits[32:])[0, 1]) < 0.005


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("draw", [p.uniform, p.normal])
def test_large_draws_are_made_in_blocks_of_the_same_stream(draw, dtype, monkeypatch):
    key, shape = p.Key(3, 5), (1003, 7)
    whole = draw(np, key, shape, dtype, -1.0, 2.5)
    monkeypatch.setattr(p, "_MANY", 100)
    monkeypatch.setattr(p, "_BLOCK", 256)
    np.testing.assert_array_equal(draw(np, key, shape, dtype, -1.0, 2.5), whole)
