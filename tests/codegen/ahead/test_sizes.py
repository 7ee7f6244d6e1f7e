"""Polynomials of sizes from samples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vitrify.codegen.ahead.layout import Sample
from vitrify.codegen.ahead.quotients import quotient_bases, steps_of
from vitrify.codegen.ahead.sizes import Basis, Quotient, basis
from vitrify.codegen.errors import NoNativeForm
from vitrify.core.errors import ShapeError


def test_a_polynomial_is_found_from_its_values():
    found = basis(1)
    values = [3 * n * n + 5 * n + 7 for (n,) in found.samples]
    coefficients = found.fitted(values)
    assert found.at(coefficients, (10,)) == 357


@given(count=st.integers(0, 3), data=st.data())
def test_every_polynomial_of_the_basis_is_found(count, data):
    found = basis(count)
    wanted = tuple(data.draw(st.lists(st.integers(-50, 50), min_size=len(found.powers), max_size=len(found.powers))))
    values = [found.at(wanted, sizes) for sizes in found.samples]
    assert found.fitted(values) == wanted


@pytest.mark.parametrize("what", [lambda n: n // 2, lambda n: n**4, lambda n: max(n, 105)])
def test_what_is_no_polynomial_is_none(what):
    found = basis(1)
    assert found.fitted([what(n) for (n,) in found.samples]) is None


def test_quotients_of_sizes_are_found_with_what_is_added():
    def sample(sizes):
        n, h = sizes
        half = (h + 1) // 2
        return Sample([], (), (), [(n, 3, h), (n, 4, half), (n, half * 2 // 3)])

    found, _ = next(quotient_bases((1, 1), "large", sample))
    assert found.quotients == (Quotient(1, 1, 1, 2), Quotient(2, 2, 0, 3))
    values = [5 * n * ((h + 1) // 2) + 7 for n, h in found.samples]
    assert found.at(found.fitted(values), (3, 10)) == 5 * 3 * 5 + 7


def test_steps_are_the_powers_of_two_that_sizes_need():
    def sample(sizes):
        if sizes[1] % 8:
            raise ShapeError("halves differ")

    assert steps_of(2, sample) == (1, 8)


def test_a_product_is_bounded_by_one_of_the_sizes_that_its_quotients_are_of():
    halves = Basis(2, (), (), (), (Quotient(1, 1, 1, 2), Quotient(2, 3, 5, 2)))  # of h, and about 3 / 2 of that
    assert halves.bound((1, 0, 1, 0), (1, 1, 0, 0)) == 1
    assert halves.bound((1, 0, 0, 2), (1, 0, 2, 0)) == 16
    assert halves.bound((1, 0, 0, 1), (2, 1, 0, 0)) == 4
    assert halves.bound((1, 1, 0, 0), (1, 0, 1, 0)) is None


def test_no_more_samples_are_made_once_two_of_them_are_not_alike():
    made = []

    def sample(sizes):
        made.append(sizes)
        return Sample([], (), (), [sizes] * (1 + len(made)))  # one array more each time

    with pytest.raises(NoNativeForm, match="depends on the sizes"):
        next(quotient_bases((1, 1), "large", sample))
    assert len(made) == 2
