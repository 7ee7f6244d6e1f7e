"""The benchmark of native programs."""

import numpy as np
import pytest

from benchmarks import native
from vitrify.codegen.llvm import why_not_here

pytestmark = pytest.mark.skipif(bool(why_not_here()), reason="nothing can be compiled here")


def test_the_product_is_right():
    a, b, c = (np.random.default_rng(0).standard_normal(s).astype("float32") for s in ((5, 7), (7, 40), (5, 40)))
    native.product()(a, b, c)
    np.testing.assert_allclose(c, a @ b, atol=1e-5)


def test_a_model_is_timed_both_ways():
    found = native.model("mlp 784-512-256-10, batch 128", 1)
    assert list(found) == ["native", "to_static"]
    assert all(0 < seconds < 10 for seconds in found.values())


def test_the_table_has_microseconds_and_a_ratio():
    (line,) = native.table({"a": {"native": 2e-6, "to_static": 3e-6}}).splitlines()
    assert line.split() == ["a", "native", "2.0", "to_static", "3.0", "1.50", "x"]
