"""What a tensor says about gradients after it was changed in place, and what setting `stop_gradient` does."""

import copy

import vitrify as paddle

from .functions import N, X


class Box:
    def __init__(self):
        self.t = paddle.ones([3])


def flags_after_changes(x, w):
    z = paddle.zeros([3])
    found = [z.stop_gradient, z.is_leaf]
    z[0] = w[0] * 2
    found += [z.stop_gradient, z.is_leaf, z.requires_grad]
    y = paddle.zeros([3])
    with paddle.no_grad():
        y.add_(w)
        found += [y.stop_gradient, y.is_leaf]
    y.add_(w)
    v = paddle.ones([3])
    paddle.assign(w, v)
    u = paddle.ones([3])
    u.set_value(w)
    return [*found, y.stop_gradient, y.is_leaf, v.stop_gradient, u.stop_gradient], z * x, y * x, v * x, u * x


def stopped_after_a_change(x, w):
    z = x * 2
    z.add_(w)
    z.stop_gradient = True
    y = paddle.zeros([3])
    y[0] = w[0] * 2
    y.requires_grad = False
    return z * w + x, y * x, z.stop_gradient, y.requires_grad, z.is_leaf


def stopped_then_changed(x, w):
    y = x * 2
    y.stop_gradient = True
    y.add_(w)
    z = x * 3
    z.detach_()
    return y * x, y.stop_gradient, z * x, z.stop_gradient, z.is_leaf


def stopped_and_let_go_on(x, w):
    y = x * 2
    y.stop_gradient = True
    a = y * w
    y.stop_gradient = False
    z = paddle.ones([3])
    z.stop_gradient = False
    return a, y * w, z * 2, (z * 2).stop_gradient, z.is_leaf


def stopped_on_one_path(x, w):
    z = x * 2
    if w.sum() > 0:
        z.stop_gradient = True
    return z * w + x


def python_goes_by_it(x, w):
    z = paddle.zeros([3])
    for _ in range(3):
        if z.stop_gradient:
            z.add_(w)
        else:
            z.add_(x)
    return z * w + x


def of_what_is_held(x, w, box):
    box.t.add_(w)
    return box.t * x, box.t.stop_gradient, box.t.is_leaf


def filled_wants_a_gradient(x):
    y = x * 2
    y.fill_(3.0)
    z = x * 2
    if x.sum() > 0:
        z.zero_()
    return y * x, z + x, y.stop_gradient, z.stop_gradient


def stopped_if_a_tensor_says_so(x, w):
    y, z = x * 2, x * 3
    y.stop_gradient = x.sum() > 0
    z.requires_grad = y.sum() > w.sum()
    return y * w + z * w


def copies(x, w):
    deep, shallow, made = copy.deepcopy(x), copy.copy(x), copy.deepcopy({"a": [x * 2, w], "b": w})
    flags = deep.stop_gradient, shallow.stop_gradient, made["a"][0].stop_gradient
    return deep * w, shallow * w, made, flags, made["b"] is made["a"][1]


def deep_copy_changed(x, w):
    deep = copy.deepcopy(x.detach())
    deep.add_(w)
    return deep, x


def parameters_made_inside(x, w):
    p = paddle.create_parameter([3], "float32", default_initializer=paddle.nn.initializer.Constant(2.0))
    return p * x, p.persistable, x.persistable, (p * x).persistable, paddle.nn.Linear(2, 2).weight.persistable


CASES = [
    (filled_wants_a_gradient, (([1.0, 2.0],), ([-1.0, -2.0],))),
    *[(f, ((X, N), (N, X)), {"strict": True}) for f in (
        flags_after_changes, stopped_after_a_change, stopped_then_changed, stopped_and_let_go_on, stopped_on_one_path,
        python_goes_by_it, stopped_if_a_tensor_says_so, copies, deep_copy_changed, parameters_made_inside,
    )],
    (of_what_is_held, ((X, N, Box()), (N, X, Box())), {"strict": True}),
]  # fmt: skip
