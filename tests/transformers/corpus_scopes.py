"""Closures, nonlocal, global, comprehensions, lambdas, arguments, classes."""

# fmt: off
# ruff: noqa
from tests.transformers.corpus import Corpus

CORPUS = Corpus()
case = CORPUS.case
GLOBAL = 10


@case(3, 0)
def closure_reads(n):
    k = 2

    def scale(x):
        return x * k

    total = 0
    for i in range(n):
        total += scale(i)
    k = 5
    return total, scale(1)


@case(1, 0)
def closure_sees_branch_write(c):
    x = 1

    def g():
        return x

    if c:
        x = 2
        y = g()
    else:
        y = g()
    return x, y, g()


@case(3, 0)
def nonlocal_counter(n):
    count = 0

    def inc():
        nonlocal count
        count += 1
        return count

    for i in range(n):
        if inc() > 1:
            count += 10
    return count


@case(3)
def closures_in_loop_share(n):
    fs = []
    for i in range(n):
        fs.append(lambda: i)
    return [f() for f in fs]


@case(3)
def closures_default_binding(n):
    fs = []
    for i in range(n):
        fs.append(lambda i=i: i)
    return [f() for f in fs]


@case(3)
def closure_over_loop_local(n):
    fs = []
    for i in range(n):
        square = i * i
        fs.append(lambda: square)
        if i == 1:
            continue
        square += 1
    return [f() for f in fs]


@case(3, 0)
def while_with_closure(n):
    i = 0
    fs = []
    while i < n:
        fs.append(lambda k: k + i)
        i += 1
    return [f(10) for f in fs], i


@case(1, 0)
def shared_unset(c):
    def g():
        return x

    if c:
        x = 1
    return g() if c else "unset"


@case(1, 0)
def shared_only_in_branch(c):
    f = None
    if c:
        x = 5
        f = lambda: x
        x = 6
    return f() if f else None


@case((3, 2))
def comprehension_scopes(n, x):
    xs = [x for x in range(n)]
    ys = {x: y for x, y in zip(xs, xs)}
    if n > 2:
        zs = {x + z for z in range(n) if z != x}
    else:
        zs = set()
    return xs, ys, sorted(zs), x


@case(4)
def comprehension_walrus(n):
    if n > 2:
        ys = [last := i * 2 for i in range(n)]
    else:
        ys, last = [], None
    return ys, last


@case(4)
def comprehension_in_loop(n):
    out = []
    for i in range(n):
        row = [i * j for j in range(i) if j % 2 or i > 2]
        if not row:
            continue
        out.append(row)
    return out


@case(4)
def nested_comprehension(n):
    return [[(i, j) for j in range(i) if 0 < j < i] for i in range(n)]


@case(4)
def generator_expression_late(n):
    k = 1
    g = (i * k for i in range(n))
    if n > 2:
        k = 10
    return list(g)


@case(4)
def generator_consumed(n):
    k = 1
    for i in range(n):
        k += sum(k for _ in range(2))
    return k


@case(3)
def reads_global(n):
    total = 0
    for i in range(n):
        total += GLOBAL
    return total


@case((1,), (1, 2), (1, 2, 3))
def defaults(a, b=2, *rest):
    if rest:
        b = rest[0]
    return a, b, rest


@case(1)
def calls_with_everything(a):
    def g(x, /, y=2, *args, k=5, **kw):
        if kw:
            y += len(kw)
        return x, y, args, k, kw

    return g(a), g(1, 2, 3, 4), g(1, k=3, z=4), g(*[1, 2], **{"q": 1})


@case(5, 0)
def recursion(n):
    if n <= 1:
        return 1
    return n * recursion(n - 1)


@case(6)
def inner_recursion(n):
    def fib(k):
        if k < 2:
            return k
        return fib(k - 1) + fib(k - 2)

    return fib(n)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


@case(7)
def mutual_recursion(n):
    return even(n), odd(n)


@case(3)
def higher_order(n):
    def twice(f):
        return lambda x: f(f(x))

    def inc(x):
        if x > 3:
            return x + 10
        return x + 1

    return twice(twice(inc))(n)


@case(5)
def lambda_in_container(n):
    ops = {"a": lambda x: x + 1 if x > 3 else x - 1, "b": lambda x: 0 < x < 3}
    return [ops[k](v) for k in ops for v in range(n)]


@case([3, 1, 2])
def sort_key(xs):
    limit = 1
    if len(xs) > 2:
        limit = 2
    return sorted(xs, key=lambda x: (x > limit, -x))


def decorator(fn):
    def wrapper(*args, **kwargs):
        result = fn(*args, **kwargs)
        if result is None:
            return "none"
        return result

    return wrapper


@case(1, 0)
def nested_decorated(x):
    @decorator
    def g(v):
        if v:
            return v

    return g(x)


@case(2)
def nested_nonlocal_chain(n):
    x = 0

    def outer():
        nonlocal x

        def inner():
            nonlocal x
            for i in range(n):
                x += i + 1
            return x

        if n:
            inner()
        return x

    return outer(), x


@case(3)
def nested_generator(n):
    def gen():
        for i in range(n):
            if i == 1:
                continue
            yield i

    total = 0
    for v in gen():
        total += v
    return total, list(gen())


@case(3)
def class_closure(n):
    factor = 1
    if n > 2:
        factor = 3

    class A:
        k = factor

        def m(self, x):
            if x > 1:
                return x * factor * self.k
            return x

    return A().m(n), A().m(0)


@case(3)
def names_like_ours(vt):
    then = 1
    body = 2
    result = 3
    for test in range(vt):
        if test > 1:
            broke = test
            break
    else:
        return then
    return then, body, result, broke


@case(3)
def lambda_default_and_args(n):
    f = lambda *a, k=n, **kw: (a, k, kw) if a else (k,)
    return f(), f(1, z=2), f(k=0)


@case(2)
def late_bound_function_name(n):
    if n > 1:
        def helper():
            return helper.__name__, n
    return helper()


@case(2)
def qualified_names(n):
    if n:
        def inner():
            return 1

        class Local:
            def method(self):
                return 1

    return inner.__qualname__, Local.__qualname__, Local.method.__qualname__, (lambda: 0).__qualname__


@case(3)
def loop_in_lambda_argument(n):
    return list(map(lambda x: x if 0 <= x < 2 else -x, range(n)))


@case(2)
def annotated(n):
    x: int
    y: int = 3
    if n > 1:
        x: "nonsense" = 5
    else:
        x = 6
    z: list[int] = [x, y]
    return z


@case(0, 1)
def unset_default(p):
    if p:
        a = 1

    def g(x=a):
        return x

    return g()


@case(0, 1)
def unset_default_of_lambda(p):
    if p:
        a = 1
    g = lambda x=a: x
    return g()


@case(0, 1)
def unset_base_class(p):
    if p:
        a = int

    class B(a):
        pass

    return B(3) + 1


@case(0, 1)
def comprehension_variable_of_an_unset_name(p):
    if p:
        a = 1
    b = [a for a in range(3)]
    return b, a


@case(0, 1)
def handler_name_is_deleted_by_break(p):
    for i in range(3):
        try:
            if p:
                raise KeyError(i)
        except KeyError as e:
            if i == 1:
                break
    return i, e


@case(0, 1)
def handler_name_is_deleted_by_return(p):
    def g():
        try:
            raise KeyError(1)
        except KeyError as e:
            if p:
                return str(e)
        return e

    return g()


class Swallows:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return True


@case(0, 1, 3)
def manager_of_the_users_swallows(n):
    x = y = 0
    with Swallows():
        for i in range(n):
            x = i + 1
            if x == 2:
                y = 5
                raise KeyError
            y = x
    return x, y
