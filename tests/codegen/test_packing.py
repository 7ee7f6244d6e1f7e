"""Matrices that several products read are packed once, and give what they gave."""

import numpy as np
import pytest

import vitrify as paddle
from tests.codegen.test_own_products import SUITS
from tests.codegen.test_whole import check, eagerly, numbers, program_of
from vitrify.codegen import packing
from vitrify.codegen.packing import pack_once


@pytest.fixture
def packs(monkeypatch):
    """How many packing steps each plan got."""
    counts = []

    def counted(n):
        pack_once(n)
        counts.append(sum(step.function == "packed" for step in n.steps))

    monkeypatch.setattr("vitrify.codegen.whole.pack_once", counted)
    return counts


def unrolled(x, w):
    for _ in range(3):
        x = paddle.tanh(paddle.matmul(x, w))
    return x, paddle.matmul(x, w, transpose_y=True)


def rolled(x, w):
    return paddle.static.nn.while_loop(
        lambda i, h: i < 4, lambda i, h: [i + 1, paddle.tanh(paddle.matmul(h, w))], [paddle.zeros([], "int64"), x]
    )[1]


def of_something_computed(x, w):
    v = w * 2
    return paddle.matmul(paddle.matmul(x, v), v)


@pytest.mark.parametrize("rows", [1, 25, 40])
def test_one_matrix_in_several_products(packs, rows):
    check(unrolled, numbers(rows, 64), numbers(64, 64) / 8)
    assert bool(packs[-1]) == (SUITS and rows > packing._FEW_ROWS)


@pytest.mark.parametrize("shape", [(64, 64), (65, 65), (300, 300)])
def test_sizes(packs, shape):
    rows = numbers(33, shape[0])
    check(unrolled, rows, numbers(*shape) / 16)
    check(unrolled, rows, np.asfortranarray(numbers(*shape) / 16))
    assert bool(packs[-1]) == SUITS  # threads pack their halves


def test_a_loop_packs_before_it_begins(packs):
    x, w = numbers(33, 64), numbers(64, 64) / 8
    (found,) = program_of(rolled, ((33, 64), "float32"), ((64, 64), "float32"))([x, w])
    np.testing.assert_allclose(found, eagerly(rolled, x, w)[0], rtol=1e-5, atol=1e-6)
    assert bool(packs[-1]) == SUITS  # threads pack their halves


def test_what_is_computed_is_packed_each_time(packs):
    check(of_something_computed, numbers(33, 64), numbers(64, 64) / 8)
    assert packs[-1] == 0
