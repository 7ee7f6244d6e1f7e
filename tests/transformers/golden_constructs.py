"""Functions whose converted code is kept as golden files, a construct or two each. Read the files as a user would."""

# ruff: noqa


def if_elif(x):
    if x > 1:
        y = x
    elif x > 0:
        y = -x
    else:
        y = 0
    return y


def if_attribute(self, x):
    if x > 0:
        self.h = x
        self.count += 1
    return self.h


def if_containers(xs, d, x):
    if x > 0:
        xs.append(x)
        d["last"] = x
    else:
        xs.pop(0)
    return xs


def if_effects(x):
    if x > 0:
        print(x)


def if_function(x):
    if x > 0:
        def scale(y):
            return x * y
    else:
        scale = lambda y: -y
    return scale(x)


def if_delete(x):
    y = x
    if x > 0:
        del y
    return y


def nested_loops(xs, limit):
    count = 0
    for row in xs:
        for x in row:
            if x < 0:
                break
            if x > limit:
                continue
            count += x
        else:
            count += 100
    return count


def return_in_nested_loops(xs):
    for row in xs:
        for x in row:
            if x < 0:
                return x
    return 0


def while_else(n):
    while n > 0:
        n -= 1
        if n == 5:
            break
    else:
        n = -1
    return n


def while_walrus(read):
    while (line := read()) > 0:
        print(line)
    return line


def for_range(x, n):
    for i in range(n, 0, -2):
        x = x + i
    return x


def for_tuple_state(pairs):
    a, (b, *c) = 0, (1, 2)
    for a, (b, *c) in pairs:
        b = b + a
    return a, b, c


def ternaries(a, b, c):
    return a if b else (b if c else (d := a)), not (a in b), a is not None


def guarded(mode, x):
    with mode(), mode(1) as (a, b):
        if x > 0:
            x = a
    return x


def caught_raise(x):
    while x < 9:
        try:
            if x > 5:
                raise ValueError(x)
            if x > 3:
                break
        except ValueError as err:
            x = err.args[0]
        x = x + 1
    return x


def jump_in_finally(x, log):
    for v in x:
        try:
            if v > 2:
                return log(v)
        finally:
            if v > 3:
                break
    return x


def try_finally(x, log):
    try:
        if x > 0:
            return x
        x = 1 / x
    except (ZeroDivisionError, ValueError) as err:
        x = str(err)
    else:
        x = x + 1
    finally:
        log(x)
    return x


def return_in_try(x, log):
    try:
        if x > 0:
            raise ValueError("positive")
        return x
    except ValueError as err:
        log(err)
        return -x
    finally:
        log(x)


def finally_returns(xs):
    for x in xs:
        try:
            if x > 0:
                raise ValueError
        finally:
            return x


def annotated(x: "Tensor", *, k: int = 3, name: str | None = None) -> "Tensor":
    a = b = x
    class Scale:
        def of(self, v: "Tensor" = x) -> "Tensor":
            return v * k
    return Scale().of(a) + b


def targets(self, xs, i, j):
    first, *self.rest = xs
    xs[i], xs[j] = xs[j], xs[i]
    a = self.b = xs[0][i] = first
    xs[i][j] += a
    self.items[i].value -= a
    del a, self.rest, xs[i:]
    return xs


def closures(n):
    total = 0

    def add(x, /, *rest, scale=2):
        nonlocal total
        if x > 0:
            total += x * scale
        return [r for r in rest if r]

    for i in range(n):
        add(i)
    return total


class Base:
    def forward(self, x):
        return x


class Child(Base):
    def forward(self, x):
        if x > 0:
            x = super().forward(x)
        return x + self.__private(x)

    def __private(self, x):
        return x


def casts(x):
    return int(x), float(x.sum()), bool(x), len(x), max(x, 0), x.shape[0] // 2


def docstring_only(x):
    """Says something."""
    return x


def dict_displays(x, d):
    kept = {"a": x, **d, "z": -x}
    kept["empty"] = {}
    return kept, {"once": x}["once"], {**d}


FUNCTIONS = (
    if_elif, if_attribute, if_containers, if_effects, if_function, if_delete, nested_loops, return_in_nested_loops,
    while_else, while_walrus, for_range, for_tuple_state, ternaries, guarded, caught_raise, jump_in_finally,
    try_finally, return_in_try, finally_returns, annotated, targets, closures, casts, docstring_only, dict_displays,
)  # fmt: skip
METHODS = (Child.forward,)
