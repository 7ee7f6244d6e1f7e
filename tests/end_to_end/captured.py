"""Tensors from outside of the function (here: held by an object) that it changes in place and asks about."""

import copy

import vitrify as paddle

from .functions import N, X


class Box:
    def __init__(self):
        self.t = paddle.ones([2, 3])
        self.u = paddle.ones([3]) * 3


def shape_after_unsqueeze(x, box):
    t = box.t
    t.unsqueeze_(0)
    facts = t.shape, t.ndim, t.dim(), len(t), t.size, t.nbytes, t.is_same_shape(x)
    return facts, t.sum() + x, [row.shape for row in t], t.T, bool(t.sum() > 5)


def dtype_after_cast(x, box):
    t = box.t
    t.cast_("float64")
    return t.dtype, t.itemsize, t.element_size(), t.nbytes, t.to("float32") * x, t.detach(), copy.deepcopy(t)


def copies(x, box):
    made = copy.copy(box.u), copy.deepcopy([box.u]), paddle.to_tensor(box.u), paddle.to_tensor([box.u, x * 2])
    made[2].add_(x)
    return made, 3.0 in box.u, 4.0 in box.u


def set_and_copied(x, box):
    box.u.set_value(paddle.ones([3]) * 5)
    first = box.u + x
    box.u.set_value([1.0, 2.0, 3.0])
    second = box.u + x
    box.u.copy_(x)
    return first, second, box.u * x, box.u.stop_gradient


def changed_through_a_view(x, box):
    v = box.u[0:2]
    v.add_(3.0)
    w = box.u.reshape([-1])
    w.multiply_(box.u)
    return box.u * x, box.u, v * 2, w


def changed_beside_a_detached_one(x, box):
    v = box.u.detach()
    box.u.add_(1.0)
    first = v + x
    v.multiply_(v)
    return first, box.u * x, v, box.u.data * 2


def in_list(x, box):
    return [b for b in (1.0, 3.0, 5.0) if b in box.u]


BOX = Box()
STRICT = {"strict": True}
CASES = [
    *[(f, ((X, BOX), (N, BOX)), STRICT) for f in (
        shape_after_unsqueeze, dtype_after_cast, set_and_copied, changed_through_a_view, changed_beside_a_detached_one,
    )],
    *[(f, ((X, BOX), (N, BOX))) for f in (copies, in_list)],
    *[(f, ((X, BOX),), {"shared": True, "gradients": False}) for f in (
        copies, set_and_copied, changed_through_a_view, changed_beside_a_detached_one, in_list,
    )],
]  # fmt: skip
