"""What one path alone gives and no tensor can stand for: refused where it is used, never a silent value."""

import pytest

import vitrify as paddle
from tests.end_to_end import one_path
from vitrify.core.errors import UnsupportedError


@pytest.mark.parametrize("function", one_path.REFUSED, ids=lambda f: f.__name__)
def test_use_is_refused(function):
    static = paddle.jit.to_static(function, full_graph=True)
    with pytest.raises((UnsupportedError, TypeError)):
        static(paddle.to_tensor([1.0, 2.0, 3.0]))


def test_an_item_of_one_path_is_named():
    static = paddle.jit.to_static(one_path.item_returned, full_graph=True)
    with pytest.raises(UnsupportedError, match=r"dict\['a'\] is set on one path"):
        static(paddle.to_tensor([1.0, 2.0, 3.0]))
