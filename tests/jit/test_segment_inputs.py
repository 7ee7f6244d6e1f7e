"""What a segment takes: also what a path through it leaves as it was."""

import vitrify as paddle


def optional(x, mask=None):
    if x.sum() > 0:
        mask = x > 1
    y = x * 2
    if mask is not None:
        y = y + 1
    return y


def test_a_variable_that_one_path_leaves_alone_goes_in():
    static = paddle.jit.to_static(optional)
    for values in ([1.0, 2.0], [-1.0, -2.0], [1.0, 3.0], [-1.0, -3.0]):
        x = paddle.to_tensor(values)
        assert static(x).tolist() == optional(x).tolist()
