"""Things that are called: lambdas, methods, partials, decorators, callable objects, hooks."""

import functools
import itertools
import operator
from functools import partial, partialmethod, reduce

import vitrify as paddle
from vitrify import nn

from .functions import N, X


def pick(x, k=2.0):
    if x.sum() > 0:
        return x * k
    return x - k


def lambda_in_list(x):
    fs = [lambda v: v * 2 if v.sum() > 0 else v, lambda v: v + 1 if v.sum() < 0 else -v]
    for f in fs:
        x = f(x)
    return x


def lambdas_on_a_line(x):
    f, g = lambda v: v if v.mean() > 0 else v * 3, lambda v: v * 5 if v.mean() > 0 else v
    return f(x) + g(x)


def lambda_in_dict(x):
    table = {"a": lambda v: pick(v), "b": lambda v, k=3: pick(v, k)}
    return table["a"](x) + table["b"](x)


def lambda_default(x, f=lambda v: v * 7 if v.sum() > 0 else v * 11):
    return f(x)


def default_from_other(x):
    def inner(v, k=pick(x)):  # noqa: B008
        return k * v if v.sum() > 0 else k

    return inner(x) + inner(x, k=2.0)


def keyword_only(x):
    def inner(a, /, b, *, c, d=4):
        if a.sum() > 0:
            return a * b + c * d
        return a - b

    return inner(x, 2, c=3) + inner(x, b=1, c=x, d=2)


def star_args(x):
    def inner(*args, **kwargs):
        total = args[0]
        for a in args[1:]:
            if a.sum() > 0:
                total = total + a
        for k in sorted(kwargs):
            total = total * kwargs[k]
        return total

    def forward(*args, **kwargs):
        return inner(*args, **kwargs)

    return forward(x, x * 2, -x, s=2.0, t=x)


def mutable_default(x):
    def inner(v, seen=[]):  # noqa: B006
        seen.append(v * 2 if v.sum() > 0 else v)
        return seen

    inner(x)
    return inner(x + 1)


class Scale:
    factor = 3.0

    def __init__(self, k):
        self.k = k

    def __call__(self, v):
        if v.sum() > 0:
            return v * self.k
        return v + self.k

    def method(self, v):
        return self(v) if v.max() > 1 else v

    @classmethod
    def cm(cls, v):
        if v.sum() > 0:
            return v * cls.factor
        return v / cls.factor

    @staticmethod
    def sm(v):
        return v * 2 if v.sum() > 0 else v

    pm = partialmethod(method)
    _private = staticmethod(pick)

    def __hidden(self, v):
        return v * 9 if v.sum() > 0 else v

    def hidden(self, v):
        return self.__hidden(v)


class Doubled(Scale):
    factor = 5.0

    def __call__(self, v):
        out = super().__call__(v)
        return out * 2

    def method(self, v):
        def nested():
            return super(Doubled, self).method(v)

        return nested()

    @classmethod
    def cm(cls, v):
        return super().cm(v) + 1


def callable_object(x):
    return Scale(2.0)(x)


def bound_methods(x):
    s = Scale(2.0)
    table = [s.method, s.cm, Scale.cm, s.sm, Scale.sm, s, s.pm, s._private, s.hidden]
    for f in table:
        x = f(x)
    return x


def unbound_method(x):
    return Scale.method(Scale(3.0), x)


def methods_of_tensors_by_their_class(x):
    y = x * paddle.Tensor.item(x.sum())
    facts = paddle.Tensor.dim(x), paddle.Tensor.tolist(x[:1]), list(map(paddle.Tensor.item, [x[0], x[1]]))
    return y, facts, paddle.Tensor.add(x, y), paddle.Tensor.astype(x, "int64"), paddle.Tensor.numel(x)


def super_call(x):
    d = Doubled(1.5)
    return d(x) + d.method(x) + Doubled.cm(x) + d.cm(x)


class A:
    def go(self, v):
        if v.sum() > 0:
            return v + 1
        return v - 1


class B(A):
    def go(self, v):
        return super().go(v) * 2


class C(A):
    def go(self, v):
        return super().go(v) * 3 if v.max() > 0 else super().go(v)


class D(B, C):
    def go(self, v):
        while v.sum() < 5:
            v = super().go(v) + 4
        return super().go(v)

    def in_comprehension(self, v):
        f = super().go
        return [f(v * i) for i in range(2)]

    def in_lambda(self, v):
        return (lambda: super(D, self).go(v))()

    def attribute(self, v):
        method = super().go
        return method(v)

    @staticmethod
    def bare(v):
        return super(D, D()).go(v)


def super_diamond(x):
    return D().go(x)


def super_in_comprehension(x):
    return D().in_comprehension(x)


def super_in_lambda(x):
    return D().in_lambda(x) + D().attribute(x) + D.bare(x)


class Nested:
    class Inner:
        class Deep:
            def run(self, v):
                return v * 2 if v.sum() > 0 else v

        @staticmethod
        def make(v):
            return Nested.Inner.Deep().run(v)


def nested_classes(x):
    return Nested.Inner.make(x)


def partial_calls(x):
    f = partial(pick, k=4.0)
    g = partial(f, k=5.0)
    h = partial(pick, x)
    return f(x) + g(x) + h() + h(k=1.0)


def partial_of_object(x):
    return partial(Scale(2.0))(x) + partial(Scale(2.0).method, x)()


def twice(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        out = fn(*args, **kwargs)
        if out.sum() > 0:
            return out * 2
        return fn(*args, **kwargs) + out

    return wrapper


def scaled(k):
    def decorate(fn):
        @functools.wraps(fn)
        def wrapper(v):
            return fn(v) * k if v.mean() > 0 else fn(v)

        return wrapper

    return decorate


@scaled(3.0)
@twice
def decorated_helper(v):
    return v + 1 if v.sum() > 0 else v


def decorated(x):
    return decorated_helper(x)


class Counting:
    def __init__(self, fn):
        functools.update_wrapper(self, fn)
        self.fn = fn

    def __call__(self, v):
        return self.fn(v) + 1 if v.sum() > 0 else self.fn(v)


@Counting
def class_decorated_helper(v):
    return v * 2 if v.sum() > 0 else v


def class_decorated(x):
    return class_decorated_helper(x)


@paddle.no_grad()
def without_grad(v):
    return v * 3 if v.sum() > 0 else v


class Assigner:
    @paddle.no_grad()
    def __call__(self, x):
        while x.sum() < 10:
            x = x * 2 + 1
        return x


def decorated_call(x):
    return Assigner()(x) * x


def no_grad_decorated(x):
    return without_grad(x) + x


@functools.lru_cache(maxsize=16)
def table_of(n):
    return [i * 2.0 for i in range(n)]


def cached_python(x):
    return x * sum(table_of(3)) if x.sum() > 0 else x


@functools.lru_cache
def cached_tensor_helper(v):
    return v * 2 if v.sum() > 0 else v


def cached_with_tensors(x):
    return cached_tensor_helper(x)


@functools.singledispatch
def dispatch(v):
    return v * 2 if v.sum() > 0 else v


@dispatch.register
def _(v: list):
    return [dispatch(i) for i in v]


@dispatch.register(int)
def _of_int(v):
    return v + 1


def singledispatched(x):
    return dispatch([x, x + 1]), dispatch(1), dispatch(x)


def reduced(x):
    return reduce(lambda a, b: a + b if a.sum() > 0 else a - b, [x, x * 2, x * 3])


def reduced_initial(x):
    return functools.reduce(lambda a, b: a * b if a.max() > 2 else a + b, (x, x), x * 0.5)


def mapped(x):
    return list(map(pick, [x, x + 1, -x]))


def mapped_two(x):
    total = x
    for v in map(lambda a, b: a + b if a.sum() > 0 else a - b, [x, x], [x, 2 * x]):
        total = total + v
    return total


def filtered_python(x):
    return list(filter(lambda i: i % 2, range(5))), x


def filtered_shape(x):
    return list(filter(lambda v: v.shape[0] == 3, [x, x[:2]]))


def sorted_by_python(x):
    return sorted([x[:2], x, x[:1]], key=lambda v: -v.shape[0])


def max_by_python(x):
    return max([x[:2], x], key=lambda v: v.shape[0]), min([x, x[:1]], key=lambda v: len(v))


def higher_order(x):
    def compose(*fs):
        def run(v):
            for f in fs:
                v = f(v)
            return v

        return run

    return compose(pick, lambda v: v + 1 if v.sum() > 0 else v, Scale(2.0))(x)


def make_adder(k):
    def add(v):
        if v.sum() > 0:
            return v + k
        return v

    return add


ADD = make_adder(10.0)


def from_closure(x):
    return ADD(x) + make_adder(x)(x)


def operators(x):
    y = operator.add(x, 1) * operator.mul(x, x)
    y = operator.neg(y) if operator.gt(x.sum(), 0) else y
    return operator.itemgetter(0)(y), operator.attrgetter("shape")(y), operator.methodcaller("sum")(y)


def operator_truth(x):
    if operator.not_(x.sum() > 0):
        return -x
    return x if operator.truth(x.sum() > 1) else x * 2


def itertools_chain(x):
    total = x
    for v in itertools.chain([x, x * 2], (x,)):
        if v.sum() > 0:
            total = total + v
    return total


def itertools_accumulate(x):
    return list(itertools.accumulate([x, x, x], lambda a, b: a + b if a.sum() > 0 else a - b))


def itertools_others(x):
    out = [a * b for a, b in itertools.product([x, x + 1], [1, 2])]
    out += list(itertools.islice(itertools.cycle([x, -x]), 3))
    out += [a - b for a, b in itertools.pairwise([x, x * 2, x * 4])]
    out += list(itertools.starmap(lambda a, b: a * b if a.sum() > 0 else a, [(x, 2), (x, 3)]))
    return out


def itertools_predicates(x):
    first = list(itertools.takewhile(lambda i: i < 3, range(9)))
    return x * sum(first), list(itertools.dropwhile(lambda v: v.ndim == 0, [x.sum(), x]))


class Hooked(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_forward_pre_hook(lambda layer, inputs: (inputs[0] * 2 if inputs[0].sum() > 0 else inputs[0],))
        self.register_forward_post_hook(self.after)

    def after(self, layer, inputs, output):
        if output.sum() > 0:
            return output + 1
        return output - 1

    def forward(self, x):
        return x * 3 if x.max() > 0 else x


HOOKED = Hooked()


def hooked_layer(x):
    return HOOKED(x)


def layer_forward(x):
    return HOOKED.forward(x)


class Branch(nn.Layer):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def forward(self, x, *, flip=False):
        if x.sum() > 0:
            return -x * self.k if flip else x * self.k
        return x - self.k


class Chain(nn.Layer):
    def __init__(self):
        super().__init__()
        self.seq = nn.Sequential(Branch(2.0), nn.ReLU(), Branch(0.5))
        self.items = nn.LayerList([Branch(1.0), Branch(3.0)])
        self.named = nn.LayerDict({"a": Branch(2.0), "b": Branch(4.0)})

    def forward(self, x):
        x = self.seq(x)
        for layer in self.items:
            x = layer(x)
        for name, layer in self.named.items():
            x = layer(x, flip=name == "b")
        return self.items[0].forward(x) + self.seq[0](x)


CHAIN = Chain()


def layer_containers(x):
    return CHAIN(x)


class BaseNet(nn.Layer):
    def forward(self, x):
        return x * 2 if x.sum() > 0 else x


class DerivedNet(BaseNet):
    def forward(self, x):
        y = super().forward(x)
        if y.max() > 3:
            y = super().forward(y)
        return y


DERIVED = DerivedNet()


def super_layer(x):
    return DERIVED(x)


def layer_built_inside(x):
    return Branch(2.0)(x) + nn.ReLU()(x)


class Delegate:
    def __init__(self, target):
        self._target = target

    def __getattr__(self, name):
        return getattr(self._target, name)


def delegated_method(x):
    return Delegate(Scale(2.0)).method(x)


def getattr_method(x):
    s = Scale(2.0)
    return getattr(s, "method")(x) + getattr(s, "nothing", pick)(x)  # noqa: B009


def function_attribute(x):
    pick.calls = getattr(pick, "calls", 0)
    return pick(x) * 2


def same_name_twice(x):
    if x.ndim == 1:

        def f(v):
            return v * 2 if v.sum() > 0 else v
    else:

        def f(v):
            return v * 3 if v.sum() > 0 else v

    return f(x)


def immediately_called(x):
    return (lambda v: v * 2 if v.sum() > 0 else v - 1)(x)


def recursion_python(x, n=3):
    if n == 0:
        return x
    return recursion_python(x * 2 if x.sum() > 0 else x + 1, n - 1)


def conditional_callee(x):
    f = pick if x.shape[0] > 2 else ADD
    return f(x)


def returned_function(x):
    def choose(flag):
        return (lambda v: v * 2 if v.sum() > 0 else v) if flag else pick

    return choose(True)(x) + choose(False)(x)


class Meta(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.extra = 2.0
        return made


class WithMeta(metaclass=Meta):
    def __init__(self, v):
        self.v = v * 2 if v.sum() > 0 else v


def metaclass_call(x):
    m = WithMeta(x)
    return m.v * m.extra


CASES = [
    (f, ((X,), (N,)))
    for f in (
        lambda_in_list, lambdas_on_a_line, lambda_in_dict, lambda_default, default_from_other, keyword_only, star_args,
        mutable_default, callable_object, bound_methods, unbound_method, methods_of_tensors_by_their_class, super_call,
        super_diamond,
        super_in_comprehension, super_in_lambda, nested_classes, partial_calls, partial_of_object, decorated,
        class_decorated, no_grad_decorated, decorated_call, cached_python, cached_with_tensors, singledispatched,
        reduced, reduced_initial, mapped, mapped_two, filtered_python, filtered_shape, sorted_by_python, max_by_python,
        higher_order, from_closure, operators, operator_truth, itertools_chain, itertools_accumulate,
        itertools_others, itertools_predicates, hooked_layer, layer_forward, layer_containers, super_layer,
        layer_built_inside, delegated_method, getattr_method, function_attribute, same_name_twice,
        immediately_called, recursion_python, conditional_callee, returned_function, metaclass_call,
    )
]  # fmt: skip
