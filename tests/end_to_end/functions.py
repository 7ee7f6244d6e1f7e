"""Functions that eager and static must agree on. Each takes tensors (and Python values) and returns tensors."""

import vitrify as paddle

X = [1.0, 2.0, 3.0]
N = [-1.0, -2.0, 0.5]
Z = [0.0, 0.0, 0.0]
M = [[1.0, 2.0], [3.0, 4.0], [-5.0, 6.0]]


def if_assigns(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x * 3
    return y * x


def if_without_else(x):
    y = x
    if x.sum() > 0:
        y = y * y
    return y + x


def if_returns(x):
    if x.sum() > 0:
        return x * 2
    return -x


def elif_chain(x):
    s = x.sum()
    if s > 5:
        r = x * 5
    elif s > 0:
        r = x * 4
    elif s == 0:
        r = x + 1
    else:
        r = x * x
    return r


def nested_if(x):
    y = x
    if x[0] > 0:
        if x[1] > 1:
            y = x * 7
        else:
            y = x - 1
        y = y * x
    return y


def born_in_one_branch_unused(x):
    if x.sum() > 0:
        t = x * 2
        y = t + 1
    else:
        y = x
    return y


def born_in_one_branch_used(x):
    if x.sum() > 0:
        t = x * 2
    return t


def python_values_become_tensors(x):
    if x.sum() > 0:
        k = 2
    else:
        k = 3
    return x * k


def int_and_float(x):
    k = 1
    if x.sum() > 0:
        k = 0.5
    return x * k


def tuple_from_branches(x):
    if x.sum() > 0:
        pair = (x, x * 2)
    else:
        pair = (x * 3, x * 4)
    return pair[0] + pair[1]


def dict_from_branches(x):
    if x.sum() > 0:
        d = {"a": x, "b": [x * 2, 3]}
    else:
        d = {"a": x * 3, "b": [x * 4, 3]}
    return d["a"] + d["b"][0] * d["b"][1]


def raise_in_branch(x):
    if paddle.to_tensor(False):
        raise ValueError("never")
    return x


def while_grows(x):
    i = 0
    while (x * x).sum() < 100.0:
        x = x * 2 + 1
        i = i + 1
        if i > 20:
            break
    return x, i


def while_with_if(x):
    s = x * 0.0
    n = 0
    while n < 10 and s.sum() < 10.0:
        if s.sum() < 5.0:
            s = s + x * x
        else:
            s = s + x
        n += 1
    return s


def while_true(x):
    n = x.sum() * 0
    while True:
        x = x * 1.5
        n = n + 1
        if n >= 5:
            break
    return x


def break_in_for(x):
    for _ in range(10):
        x = x * 1.5
        if x.sum() > 20.0:
            break
    return x


def return_in_for(x):
    for i in range(10):
        x = x * 1.5
        if x.sum() > 20.0:
            return x * i
    return x


def return_in_nested_loops(x):
    for i in range(4):
        for j in range(3):
            x = x * 1.2
            if x.sum() > 12.0:
                return x + i * 10 + j
        x = x + 0.1
    return x


def continue_in_while(x):
    s = x * 0.0
    i = x.sum() * 0.0
    while i < 6.0:
        i = i + 1.0
        if i == 3.0:
            continue
        s = s + x * i
    return s


def else_on_loops(x):
    for _ in range(3):
        x = x + 1
        if x.sum() > 100.0:
            break
    else:
        x = x * 2
    while x.sum() < 50.0:
        x = x + 5
        if x[0] > 16:
            break
    else:
        x = x - 1
    return x


def for_over_tensor(x):
    s = 0.0
    for row in x:
        s = s + row * row
    return s


def for_enumerate_tensor(x):
    s = x[0] * 0
    for i, row in enumerate(x):
        s = s + row * i
    return s


def for_zip(x, y):
    s = x[0] * 0
    for a, b in zip(x, y):
        s = s + a * b
    return s


def for_list_of_tensors(x):
    parts = [x, x * 2, x * 3]
    s = x * 0
    for p in parts:
        if p.sum() > 5:
            s = s + p
    return s


def for_range_tensor(x, n):
    s = x
    for i in range(n):
        s = s * x + i
    return s


def for_range_tensor_step(x, n):
    s = x
    for i in range(n, 0, -2):
        s = s + i * x
    return s


def nested_while(x):
    t = x * 0.0
    i = 0
    while i < 3:
        j = 0
        while t.sum() < i * 4.0 and j < 5:
            t = t + x
            j += 1
        i += 1
    return t


def three_deep(x):
    total = x.sum() * 0
    for i in range(3):
        k = x.sum() * 0
        while k < 2:
            for row in x:
                if row > i:
                    total = total + row * k
            k = k + 1
    return total


def logic(x):
    if (x.sum() > 0 and x.sum() < 100.0) or x.sum() == -5.0:
        return x + 1
    return x - 1


def logic_not(x):
    if not (x.sum() > 0):
        return x + 1
    return x - 1


def chained_comparison(x):
    if 0 < x.sum() < 10:
        return x * 2
    return x


def lazy_or(x):
    if x.sum() > 100 or x[0] / x[1] > 0.1:
        return x * 2
    return x


def ternary(x):
    return x * 2 if x.sum() > 0 else x * 3


def nested_ternary(x):
    return x if x.sum() > 5 else (x * 2 if x.sum() > 0 else x * 3)


def helper(x, k=2):
    if x.sum() > 0:
        return x * k
    return x / k


def calls_helper(x):
    return helper(x) + helper(x, k=3)


def closure_call(x):
    scale = 3.0

    def inner(y):
        if y.sum() > 0:
            return y * scale
        return y

    return inner(x)


def lambda_call(x):
    f = lambda v: v * 2 if v.sum() > 0 else v  # noqa: E731
    return f(x)


def star_args(x, *rest, k=2):
    s = x
    for r in rest:
        if r.sum() > 0:
            s = s + r * k
    return s


def casts(x):
    n = int(x.sum())
    f = float(x[0])
    b = bool(x[0] > 0)
    y = x * 2 if b else x
    return y * f + n


def length(x):
    s = 0
    for i in range(len(x)):
        s = s + x[i] * i
    return s


def prints(x):
    print("sum", 1)
    if x.sum() > 0:
        print("positive", x)
    return x


def asserts(x):
    assert x.sum() > 0, "must be positive"
    return x * 2


def setitem_basic(x):
    y = x * 1
    y[0] = y[1] * 5
    return y


def setitem_in_branch(x):
    y = x * 1
    if x.sum() > 0:
        y[1] = x[0] * 10
    return y


def setitem_in_loop(x):
    y = x * 0
    for i in range(3):
        y[i] = x[i] * i
    return y


def inplace_on_temporary(x):
    y = x * 2
    y.add_(x)
    if x.sum() > 0:
        y.multiply_(x)
    return y


def augmented(x):
    y = x
    y += 1
    y *= x
    return y


def shape_arithmetic(x):
    n = x.shape[0]
    return x.reshape([n // 1, 1]).sum() * n


def max_min(x):
    return max(x.sum(), x[0]) + min(x[0], x[1], 2.0)


def any_all(x):
    if any([x[0] > 5, x[1] > 1]) and all([x[2] > 0, x[1] > 0]):
        return x * 2
    return x


def no_grad_inside(x):
    with paddle.no_grad():
        scale = (x * x).sum()
    return x * scale


def detached(x):
    return x * x.detach()


def carried_dtype_change(x):
    n = 0
    while n < x.sum() and n < 5:
        n = n + 1.5
    return x * n


def carried_shape_change(x):
    y = x
    while y.shape[0] < 10 and y.sum() < 1000:
        y = paddle.concat([y, y])
    return y.sum() * x


def loop_variable_after(x):
    for i in range(5):
        x = x + i
        if x.sum() > 8:
            break
    return x * i


def power_iteration(m):
    v = paddle.ones([2])
    a = paddle.matmul(m, m, transpose_x=True)
    for _ in range(50):
        w = paddle.matmul(a, v)
        w = w / (w * w).sum().sqrt()
        if ((w - v) * (w - v)).sum() < 1e-10:
            break
        v = w
    return v


def newton(x):
    guess = paddle.ones([])
    target = (x * x).sum() + 1
    while (guess * guess - target).abs() > 1e-4:
        guess = guess - (guess * guess - target) / (2 * guess)
    return guess


CASES = [
    *[(f, ((X,), (N,))) for f in (
        if_assigns, if_without_else, if_returns, nested_if, born_in_one_branch_unused, born_in_one_branch_used,
        python_values_become_tensors, int_and_float, tuple_from_branches, dict_from_branches, raise_in_branch,
        while_grows, while_with_if, while_true, break_in_for, return_in_for, return_in_nested_loops,
        continue_in_while, else_on_loops, for_over_tensor, for_enumerate_tensor, for_list_of_tensors, nested_while,
        three_deep, logic, logic_not, chained_comparison, lazy_or, ternary, nested_ternary, calls_helper,
        closure_call, lambda_call, casts, length, prints, asserts, setitem_basic, setitem_in_branch,
        setitem_in_loop, inplace_on_temporary, augmented, shape_arithmetic, max_min, any_all, no_grad_inside,
        detached, carried_dtype_change, carried_shape_change, loop_variable_after, newton,
    )],
    (elif_chain, ((X,), (N,), (Z,), ([1.0, 1.0, 1.0],))),
    (for_over_tensor, ((M,),)),
    (for_zip, ((X, N), (M, M))),
    (for_range_tensor, ((X, [3]), (X, [0]), (N, 2))),
    (for_range_tensor_step, ((X, [5]), (N, 4))),
    (star_args, ((X, N, X), (X,), (N, X))),
    (power_iteration, ((M,),)),
]  # fmt: skip
