"""Polynomials of sizes from samples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vitrify.codegen.ahead.sizes import basis


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
