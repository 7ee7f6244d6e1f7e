"""NumPy and Python lists in the middle of a function: done on the host when the program runs."""

import math

import numpy as np
import scipy.special

import vitrify as paddle

from .functions import M, N, X


def numpy_and_back(x):
    a = np.sin(x.numpy()) * 2 + 1
    return paddle.to_tensor(a) + x


def numpy_as_operand(x):
    return x * x.numpy() + np.asarray(x)


def numpy_operand_on_the_left(x):
    return x.numpy() * x + 1


def numpy_methods(x):
    a = x.numpy().astype("float64").cumsum()[::-1].copy()
    return paddle.to_tensor(a), paddle.to_tensor(a.T.real)


def numpy_reductions(x):
    a = x.numpy()
    return x + float(2) * paddle.to_tensor(a.mean()) + paddle.to_tensor(np.max(a)) - paddle.to_tensor(a.sum() / 2)


def numpy_of_several(x, y):
    return paddle.to_tensor(np.concatenate([x.numpy(), y.numpy()])) * 2


def numpy_out(x):
    return x.numpy() * 2, x.numpy().max(), x.tolist(), x * 2


def numpy_shapes(x):
    a = x.numpy()
    return x.reshape([-1]) * a.shape[0] + a.ndim + len(a)


def numpy_sorts(x):
    order = np.argsort(-x.numpy())
    return paddle.gather(x, paddle.to_tensor(order))


def numpy_data_dependent(x):
    a = x.numpy()
    return paddle.to_tensor(a[a > 0]).sum() + x


def numpy_iterated(x):
    total = paddle.zeros([])
    for row in x.numpy():
        total = total + paddle.to_tensor(row.sum())
    return total + x.sum()


def numpy_in_branch(x):
    if x.sum() > 0:
        y = paddle.to_tensor(np.sqrt(np.abs(x.numpy())))
    else:
        y = x * 2
    return y


def numpy_in_loop(x):
    while x.sum() < 20:
        x = x + paddle.to_tensor(np.abs(x.numpy()) + 1)
    return x


def numpy_before_change(x):
    y = x * 2
    a = y.numpy()
    y.add_(paddle.ones([3]))
    return y + paddle.to_tensor(a)


def numpy_printed(x):
    a = x.numpy() * 2
    print(a, a.sum(), f"{a.max():.2f} {a}", [a.min()], x.tolist())
    if x.sum() < 0:
        raise ValueError(f"bad {a}")
    return x


def scipy_function(x):
    return paddle.to_tensor(scipy.special.erf(x.numpy())) * x


def math_function(x):
    return x * paddle.to_tensor(math.sqrt(abs(x.sum().item()))) + math.exp(0.5)


def list_and_back(x):
    values = x.tolist()
    return paddle.to_tensor(values) * 2 + paddle.to_tensor([values[0], values[1] * 2, 1.0])


def numpy_gradient_stops(x):
    return x * paddle.to_tensor(x.numpy() ** 2)


def numpy_set_item(x):
    y = x * 1
    y[0] = x.numpy()[1]
    return y


def numpy_where(x):
    a = x.numpy()
    return paddle.to_tensor(np.where(a > 1, a, -a)) + x


def numpy_of_tensor(x):
    return np.concatenate([x, x]), np.mean(x) * x


def numpy_ufunc_of_tensor(x):
    return np.sin(x)


def numpy_numbers_before_a_tensor(x):
    return (
        np.sqrt(2.0) * x + np.ones(4, "float32") - np.arange(4).astype("float32") * x,
        np.float32(2) / x,
        np.float64(1) > x,
    )


def axes_in_a_tensor(x):
    wide = paddle.unsqueeze(x, axis=paddle.to_tensor([0, 1]))
    return wide, paddle.squeeze(wide, axis=paddle.to_tensor([0])), wide.sum(axis=paddle.to_tensor([0, 2]))


def raised_by_one(a):
    np.add(a, 1, out=a)


def numpy_changed_by_a_function(x):
    a, b = x.numpy(), x.numpy()
    raised_by_one(a)
    before = paddle.to_tensor(a)
    np.copyto(b, a * 2)
    b.sort()
    np.add.at(b, [0, 0], 1.0)
    return before + paddle.to_tensor(a), b


def numpy_changed_by_a_method(x):
    held = {"a": np.array(x.numpy())}
    same = held["a"]
    held["a"].fill(3)
    np.minimum(same, 1e3, out=same)
    return paddle.to_tensor(same)


def numpy_items_stored(x):
    a = x.numpy()
    print(a)
    for i in range(20):
        a[i % 3] = a[(i + 1) % 3] + 1
    a[a > 1e3] = 0
    a += 1
    mean = a.mean()
    mean /= 2
    return paddle.to_tensor(a) * paddle.to_tensor(mean)


def numpy_changed_in_a_loop(x):
    total = x * 0
    while total.sum() < 20:
        a = total.numpy()
        a *= 2
        a[0] += 1
        total = paddle.to_tensor(a) + x.abs() + 1
    return total


def numpy_wrong_method(x):
    return x.numpy().nonsense()


CASES = [
    *[(f, ((X,), (N,), ([1.0, 2.0, 3.0, 4.0],))) for f in (
        numpy_and_back, numpy_as_operand, numpy_operand_on_the_left, numpy_methods, numpy_reductions, numpy_out,
        numpy_shapes, numpy_sorts, numpy_data_dependent, numpy_in_branch, numpy_in_loop, numpy_printed, scipy_function,
        math_function, numpy_gradient_stops, numpy_set_item, numpy_where, numpy_of_tensor, numpy_ufunc_of_tensor,
        numpy_wrong_method, numpy_numbers_before_a_tensor, axes_in_a_tensor, numpy_changed_by_a_method,
        numpy_changed_by_a_function,
    )],
    *[(f, ((X,), (N,))) for f in (numpy_before_change, list_and_back, numpy_items_stored, numpy_changed_in_a_loop)],
    (numpy_of_several, ((X, N), (X, [1.0]))),
    (numpy_iterated, ((M,),)),
]  # fmt: skip
