"""Recursion that a tensor stops, of every shape: values, gradients, state."""

# ruff: noqa: PLW0603

import numpy as np

import vitrify as paddle

N = np.array
X = np.array([1.0, 2.0, 3.0], "float32")
FLOATS = np.array([3.0, 1.0, 2.0, 5.0, 4.0], "float32")


def doubled(x):
    if x.sum() > 20:
        return x
    return doubled(x * 2)


def factorial(n):
    if n <= 1:
        return n
    return n * factorial(n - 1)


def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def gcd(a, b):
    return a if b == 0 else gcd(b, a % b)


def power(x, n):
    if n == 0:
        return paddle.ones_like(x)
    if n % 2 == 1:
        return x * power(x, n - 1)
    half = power(x, n // 2)
    return half * half


def collatz(n, steps=0):
    if n == 1:
        return steps
    if n % 2 == 0:
        return collatz(n // 2, steps + 1)
    return collatz(3 * n + 1, steps + 1)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, paddle.ones_like(n))
    return ackermann(m - 1, ackermann(m, n - 1))


def accumulated(x, total):
    if x.sum() > 40:
        return total + x
    return accumulated(x * 1.5, total + x)


def is_even(n):
    if n == 0:
        return True
    return is_odd(n - 1)


def is_odd(n):
    if n == 0:
        return False
    return is_even(n - 1)


def closure(x):
    limit = x.sum() * 4
    scale = paddle.to_tensor(1.5)

    def grow(y):
        if y.sum() > limit:
            return y
        return grow(y * scale + x)

    return grow(x)


def counting_calls(x):
    count = 0

    def rec(y):
        nonlocal count
        count += 1
        if y.sum() > 20:
            return y
        return rec(y * 2)

    return rec(x), count


def tree_sum(x):
    n = x.shape[0]
    if n == 1:
        return x[0]
    return tree_sum(x[: n // 2]) + tree_sum(x[n // 2 :])


def quicksort(x):
    if x.shape[0] <= 1:
        return x
    pivot = x[0]
    rest = x[1:]
    return paddle.concat([quicksort(rest[rest < pivot]), pivot.reshape([1]), quicksort(rest[rest >= pivot])])


def merged(a, b):
    if a.shape[0] == 0:
        return b
    if b.shape[0] == 0:
        return a
    if a[0] < b[0]:
        return paddle.concat([a[:1], merged(a[1:], b)])
    return paddle.concat([b[:1], merged(a, b[1:])])


def merge_sort(x):
    n = x.shape[0]
    if n <= 1:
        return x
    return merged(merge_sort(x[: n // 2]), merge_sort(x[n // 2 :]))


def two_results(x, n):
    if n == 0:
        return x, n
    y, m = two_results(x * 2, n - 1)
    return y + x, m + 1


def dict_result(x):
    if x.sum() > 10:
        return {"x": x, "steps": 0}
    found = dict_result(x + 1)
    return {"x": found["x"] * x, "steps": found["steps"] + 1}


def in_a_loop(x):
    total = paddle.zeros([])
    while total < 30:
        total = total + doubled(x).sum()
    return total


def loop_inside(x, n):
    if n <= 0:
        return x
    for _ in range(3):
        x = x * 1.1
    i = paddle.zeros([], "int64")
    while i < n:
        x = x + i
        i = i + 1
    return loop_inside(x, n - 1)


def call_in_loop_inside(x, n):
    total = x
    i = n
    while i > 0:
        i = i - 1
        total = total + call_in_loop_inside(x * 0.5, i)
    return total


def early_returns(x, n):
    for i in range(4):
        if x[0] > 50:
            return x
        x = x + i
    if n == 0:
        return -x
    y = early_returns(x * 2, n - 1)
    if y.sum() < 0:
        return y
    return y * 2


def with_defaults(x, factor=2.0, *, limit=30):
    if x.sum() > limit:
        return x
    return with_defaults(x * factor, limit=limit)


def keywords(x, n):
    return x if n == 0 else keywords(n=n - 1, x=x + n)


def star_args(n, *values, **named):
    if n == 0:
        return values[0] + named["b"]
    return star_args(n - 1, *[v * 2 for v in values], b=named["b"] + 1)


def passes_star_args(n, x):
    return star_args(n, x, x * 3, b=x + 1)


def python_bounded(x, n):
    if n == 0:
        return x
    if x.sum() > 0:
        return python_bounded(x - 1, n - 1)
    return python_bounded(x + 3, n - 1)


def calls_python_bounded(x):
    return python_bounded(x, 4), python_bounded(x, 15)


def depth_counted(x, depth=0):
    if x.sum() > 50:
        return x * depth
    return depth_counted(x * 2, depth + 1)


def float_counter(x, rate=1.0):
    if x.sum() > 50:
        return x * rate
    return float_counter(x * 2, rate * 0.5)


factorial_lambda = lambda n: n if n <= 1 else n * factorial_lambda(n - 1)  # noqa: E731


def uses_lambda(n):
    return factorial_lambda(n)


def prints(n):
    print("at", n)
    if n > 0:
        return prints(n - 1)
    return n


def none_result(x, n):
    if n == 0:
        return None
    return none_result(x, n - 1)


def changes_argument(x, n):
    if n == 0:
        return n
    x.add_(paddle.ones_like(x))
    return changes_argument(x, n - 1)


def changed_argument(x, n):
    y = x * 1
    part = y[1:]
    m = changes_argument(part, n)
    return y, part, m


def newton(x, guess):
    better = (guess + x / guess) / 2
    if (better - guess).abs().max() < 1e-6:
        return better
    return newton(x, better)


def bisect(low, high, target):
    middle = (low + high) // 2
    if middle * middle <= target:
        if (middle + 1) * (middle + 1) > target:
            return middle
        return bisect(middle + 1, high, target)
    return bisect(low, middle - 1, target)


def hanoi(n):
    if n == 0:
        return n
    return hanoi(n - 1) * 2 + 1


def binomial(n, k):
    if k == 0 or k == n:
        return 1
    return binomial(n - 1, k - 1) + binomial(n - 1, k)


def nested_functions(x, n):
    def inner(y, m):
        if m <= 0:
            return y
        return inner(y + 1, m - 1)

    if n <= 0:
        return x
    return nested_functions(inner(x, n), n - 1) * 2


def mutual_nested(x, n):
    def ping(y, m):
        if m <= 0:
            return y
        return pong(y * 2, m - 1)

    def pong(y, m):
        if m <= 0:
            return -y
        return ping(y + 1, m - 1)

    return ping(x, n) + pong(x, n)


def hofstadter_f(n):
    if n == 0:
        return 1
    return n - hofstadter_m(hofstadter_f(n - 1))


def hofstadter_m(n):
    if n == 0:
        return 0
    return n - hofstadter_f(hofstadter_m(n - 1))


def tak(x, y, z):
    if y >= x:
        return z
    return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y))


def ternary(n):
    return 1 if n < 3 else ternary(n - 1) + ternary(n - 3)


def logical(n):
    return n == 0 or (n > 1 and logical(n - 2))


def mean_halves(x):
    if x.shape[0] < 2:
        return x.mean()
    if x.max() - x.min() < 0.5:
        return x.mean()
    return (mean_halves(x[::2]) + mean_halves(x[1::2])) / 2


@paddle.jit.to_static
def decorated(x):
    if x.sum() > 20:
        return x
    return decorated(x * 2) + 1


def calls_decorated(x):
    return decorated(x) * 2


class Counter:
    def __init__(self):
        self.step = 2.0
        self.calls = 0

    def run(self, x):
        if x.sum() > 30:
            return x
        return self.run(x * self.step) + 1

    def counted(self, x):
        self.calls += 1
        if x.sum() > 30:
            return x
        return self.counted(x * self.step)

    def __call__(self, x):
        if x.sum() > 30:
            return x
        return self(x + 5)


def method(x):
    return Counter().run(x)


def method_that_counts(x):
    counter = Counter()
    y = counter.counted(x)
    return y, counter.calls


def callable_object(x):
    return Counter()(x)


class Block(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = paddle.nn.Linear(3, 3)
        self.fc.weight.set_value(paddle.to_tensor(np.eye(3, dtype="float32") * 1.5))

    def forward(self, x):
        if x.sum() > 40:
            return x
        return self(self.fc(x)) + x


BLOCK = Block()


def layer(x):
    return BLOCK(x)


TOTAL = 0


def counts_globally(x):
    global TOTAL
    TOTAL = TOTAL + 1
    if x.sum() > 30:
        return x
    return counts_globally(x * 2)


def global_counter(x):
    global TOTAL
    TOTAL = 0
    y = counts_globally(x)
    return y, TOTAL


def in_condition(x):
    steps = 0
    while factorial(x.sum()) < 1000:
        x = x + 1
        steps += 1
    return x, steps


def tuple_argument(state):
    x, n = state
    if n == 0:
        return x
    return tuple_argument((x * 2, n - 1))


def passes_tuple(x, n):
    return tuple_argument((x, n))


def dict_argument(state):
    if state["n"] == 0:
        return state["x"]
    return dict_argument({"x": state["x"] * 2, "n": state["n"] - 1})


def passes_dict(x, n):
    return dict_argument({"x": x, "n": n})


def captured_is_changed(x):
    total = paddle.zeros([3])

    def rec(y):
        total.add_(y)
        if y.sum() > 20:
            return y
        return rec(y * 2)

    return rec(x), total


def attribute_tensor(x):
    class Box:
        pass

    box = Box()
    box.value = paddle.zeros([3])

    def rec(y):
        box.value = box.value + y
        if y.sum() > 20:
            return y
        return rec(y * 2)

    y = rec(x)
    return y, box.value


def no_grad_inside(x, n):
    if n == 0:
        return x
    with paddle.no_grad():
        z = x * 3
    return no_grad_inside(x * 2, n - 1) + z


def under_no_grad(x, n):
    with paddle.no_grad():
        y = two_results(x, n)[0]
    return x * y


def higher_order(f, x, n):
    if n == 0:
        return x
    return higher_order(f, f(x), n - 1)


def uses_higher_order(x, n):
    return higher_order(lambda v: v * 1.5, x, n), higher_order(paddle.sin, x, n)


def flag_argument(x, up=True):
    if x.sum() > 30:
        return x
    if up:
        return flag_argument(x * 3, not up)
    return flag_argument(x + 1, not up)


def string_argument(x, mode):
    if x.sum() > 30:
        return x if mode == "a" else -x
    return string_argument(x * 2, "b" if mode == "a" else "a")


def shape_grows(x):
    if x.sum() > 100:
        return x
    return shape_grows(paddle.concat([x, x]))


def result_size_varies(n):
    if n == 0:
        return paddle.zeros([1], dtype="int64")
    rest = result_size_varies(n - 1)
    return paddle.concat([rest, n.reshape([1])])


def pascal(n):
    if n == 0:
        return paddle.ones([1], dtype="int64")
    row = pascal(n - 1)
    zero = paddle.zeros([1], dtype="int64")
    return paddle.concat([row, zero]) + paddle.concat([zero, row])


def int_then_float(n):
    if n == 0:
        return 0
    return int_then_float(n - 1) + 0.5


def unused_call(x, n):
    if n > 0:
        unused_call(x * 2, n - 1)
    return x


def statement_after(x, n):
    y = x
    if n > 0:
        y = statement_after(x * 2, n - 1)
        y = y + x
    z = y * 2
    return z


def deep_nesting(x, n):
    if n > 0:
        if x.sum() > 5:
            if x[0] > 2:
                return deep_nesting(x - 1, n - 1)
            elif x[1] > 3:
                return deep_nesting(x * 1.5, n - 1) + 1
            else:
                x = x + 1
        else:
            x = deep_nesting(x + 2, n - 1)
    return x * 2


def chain(x, n):
    return stage_b(x, n) if n > 0 else x


def stage_b(x, n):
    return stage_c(x + 1, n)


def stage_c(x, n):
    y = chain(x * 2, n - 1)
    return y - x


def comprehension(x, n):
    if n == 0:
        return x
    parts = [comprehension(x * k, n - 1) for k in (1.0, 0.5)]
    return parts[0] + parts[1]


def reduce_pairs(x):
    n = x.shape[0]
    if n <= 1:
        return x[0]
    even = x[0 : n - 1 : 2]
    odd = x[1::2]
    y = even * odd
    if n % 2 == 1:
        y = paddle.concat([y, x[n - 1 :]])
    return reduce_pairs(y)


def matrix_power(a, n):
    if n == 0:
        return paddle.eye(2)
    if n % 2 == 0:
        half = matrix_power(a, n // 2)
        return half @ half
    return a @ matrix_power(a, n - 1)


def while_true(x, n):
    while True:
        if n <= 0:
            return x
        n = n - 1
        if x.sum() > 10:
            return while_true(x * 0.5, n)
        x = x + 1


def dropout_free_rnn(x, state, n):
    if n == 0:
        return state
    return dropout_free_rnn(x, paddle.tanh(state * 0.5 + x), n - 1)


def collected(x, found=None):
    found = [] if found is None else found
    if x.sum() > 40:
        return found
    found.append(x * 3)
    return collected(x * 2, found)


def collected_anew(x, found=None):
    if x.sum() > 40:
        return found
    return collected_anew(x * 2, [*(found or []), x * 3])


CASES = [
    (doubled, [(X,), (X * 10,)]),
    (factorial, [(np.array(5),), (np.array(1),)]),
    (fibonacci, [(np.array(7),), (np.array(0),)]),
    (gcd, [(np.array(48), np.array(36)), (np.array(7), np.array(0))]),
    (power, [(X, np.array(5)), (X, np.array(0))]),
    (collatz, [(np.array(6),), (np.array(1),)]),
    (ackermann, [(np.array(2), np.array(2))]),
    (accumulated, [(X, X), (X * 20, X)]),
    (is_even, [(np.array(4),), (np.array(3),)]),
    (closure, [(X,), (X * 2,)]),
    (counting_calls, [(X,), (X * 10,)]),
    (tree_sum, [(FLOATS,), (X,), (X[:1],)]),
    (quicksort, [(FLOATS,), (X,), (X[:1],)]),
    (merge_sort, [(FLOATS,), (X,)]),
    (two_results, [(X, N(3)), (X, N(0))]),
    (dict_result, [(X,), (X * 9,)]),
    (in_a_loop, [(X,)]),
    (loop_inside, [(X, N(3)), (X, N(0))]),
    (call_in_loop_inside, [(X, N(3)), (X, N(0))]),
    (early_returns, [(X, N(2)), (X * 20, N(2)), (-X, N(1))]),
    (with_defaults, [(X,), (X, 3.0)]),
    (keywords, [(X, N(3))]),
    (passes_star_args, [(N(3), X)]),
    (python_bounded, [(X, 3), (X, 15), (X, 0)]),
    (calls_python_bounded, [(X,)]),
    (depth_counted, [(X,), (X * 20,)]),
    (float_counter, [(X,)]),
    (uses_lambda, [(N(5),)]),
    (prints, [(N(2),), (N(0),)]),
    (none_result, [(X, N(2))]),
    (changed_argument, [(X, N(3)), (X, N(0))]),
    (newton, [(X, X)]),
    (bisect, [(N(0), N(100), N(50))]),
    (hanoi, [(N(6),)]),
    (binomial, [(N(6), N(3))]),
    (nested_functions, [(X, N(3))]),
    (mutual_nested, [(X, N(3)), (X, N(4))]),
    (hofstadter_f, [(N(7),)]),
    (tak, [(N(6), N(4), N(2))]),
    (ternary, [(N(7),)]),
    (logical, [(N(5),), (N(6),)]),
    (mean_halves, [(FLOATS,), (X,)]),
    (decorated, [(X,)]),
    (calls_decorated, [(X,)]),
    (method, [(X,), (X * 20,)]),
    (method_that_counts, [(X,)]),
    (callable_object, [(X,)]),
    (layer, [(X,), (X * 20,)]),
    (global_counter, [(X,)]),
    (in_condition, [(X,)]),
    (passes_tuple, [(X, N(3))]),
    (passes_dict, [(X, N(3))]),
    (captured_is_changed, [(X,)]),
    (attribute_tensor, [(X,)]),
    (no_grad_inside, [(X, N(3))]),
    (under_no_grad, [(X, N(3))]),
    (uses_higher_order, [(X, N(3))]),
    (flag_argument, [(X,), (X * 10,)]),
    (string_argument, [(X, "a"), (X, "b")]),
    (shape_grows, [(X,), (FLOATS,)]),
    (result_size_varies, [(N(4),)]),
    (pascal, [(N(4),)]),
    (int_then_float, [(N(3),)]),
    (unused_call, [(X, N(3))]),
    (statement_after, [(X, N(3))]),
    (deep_nesting, [(X, N(4)), (X * 2, N(3)), (X - 3, N(3))]),
    (chain, [(X, N(3))]),
    (comprehension, [(X, N(3))]),
    (reduce_pairs, [(FLOATS,), (X,), (X[:1],)]),
    (matrix_power, [(np.array([[1.0, 0.5], [0.2, 1.0]], "float32"), N(5))]),
    (while_true, [(X, N(9)), (X, N(2))]),
    (collected, [(X,), (X * 20,)]),
    (collected_anew, [(X,), (X * 20,)]),
    (dropout_free_rnn, [(X, X, N(4))]),
]
