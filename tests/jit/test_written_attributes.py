"""Attributes that a function writes, of objects and of tensors: as in eager code, whatever is changed between calls."""

import pytest

import vitrify as paddle

SIGNS = (1.0, -1.0, 1.0)


class Logged:
    """Notes which attributes are set."""

    def __init__(self):
        object.__setattr__(self, "names", [])

    def __setattr__(self, name, value):
        self.names.append(name)
        object.__setattr__(self, name, value)

    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


class LoggedByBase(Logged):
    """Reads as its base does."""

    def __getattribute__(self, name):
        return super().__getattribute__(name)


class World:
    """What a function writes to, made anew for each way to run it."""

    def __init__(self):
        self.number, self.nothing = 5, None
        self.logged, self.logged_by_base = Logged(), LoggedByBase()
        self.net = paddle.nn.Linear(2, 2)
        self.net.step = 0
        self.weight = self.net.weight
        self.tensor = paddle.ones([2])
        self.kept = paddle.to_tensor([1.0, 2.0], stop_gradient=False)

    def state(self):
        held = {name: value for name, value in vars(self).items() if isinstance(value, (int, float, type(None)))}
        tensors = [self.weight, self.net.weight, self.tensor, self.kept]
        known = ("seen", "need_clip", "persistable", "stop_gradient", "optimize_attr")
        names = [*self.logged.names], [*self.logged_by_base.names]
        return held, names, self.net.step, [[getattr(t, name, "none") for name in known] for t in tensors]


def same_number(w, x):
    w.number = 5
    return x


def same_nothing(w, x):
    w.nothing = None
    return x


def same_of_a_layer(w, x):
    w.net.step = 0
    return x


def set_and_deleted(w, x):
    w.fresh = 1
    del w.fresh
    return x


def past_the_class(w, x):
    w.__dict__["number"] = 5
    return x


def same_tensor(w, x):
    w.tensor = w.weight
    return x


def field_of_a_tensor(w, x):
    if x.sum() > 0:
        w.tensor.persistable = True
    return x * 2 if w.tensor.persistable else x


def same_field_of_a_tensor(w, x):
    w.tensor.persistable = False
    return x


def clipping(w, x):
    if x.sum() > 0:
        w.weight.need_clip = False
    return x


def counted_by_a_tensor(w, x):
    w.kept.seen = getattr(w.kept, "seen", 0) + 1
    return x * w.kept.seen


def counted_by_a_parameter(w, x):
    w.net.weight.seen = getattr(w.net.weight, "seen", 0) + 1
    return w.net(x) * 0 + w.net.weight.seen


def rate(w, x):
    return x * w.weight.optimize_attr["learning_rate"]


def turned_round(w, x):
    w.weight.stop_gradient = not w.weight.stop_gradient
    return x, w.weight.stop_gradient, w.weight.trainable


def asked_whether_trainable(w, x):
    w.weight.trainable = not w.weight.trainable
    return x, w.weight.trainable


def of_what_is_given(w, x):
    if x.sum() > 0:
        x.seen = 7
    y = x * 2
    y.seen = x.sum()
    return y


def noted_by_the_object(w, x):
    w.logged.a = x
    w.logged_by_base.b = w.logged.a + 1
    return w.logged_by_base.b


def another_parameter(w):
    w.net.weight = paddle.create_parameter([2, 2], "float32")


CASES = [
    (same_number, lambda w: setattr(w, "number", 7)),
    (same_nothing, lambda w: setattr(w, "nothing", 7)),
    (same_of_a_layer, lambda w: setattr(w.net, "step", 7)),
    (set_and_deleted, lambda w: setattr(w, "fresh", 7)),
    (past_the_class, lambda w: setattr(w, "number", 7)),
    (same_tensor, lambda w: setattr(w, "tensor", paddle.ones([2, 2]))),
    (field_of_a_tensor, lambda w: setattr(w.tensor, "persistable", False)),
    (same_field_of_a_tensor, lambda w: setattr(w.tensor, "persistable", True)),
    (clipping, lambda w: setattr(w.weight, "need_clip", True)),
    (counted_by_a_tensor, lambda w: setattr(w.kept, "seen", 40)),
    (counted_by_a_parameter, another_parameter),
    (rate, lambda w: w.weight.optimize_attr.update(learning_rate=0.5)),
    (turned_round, lambda w: setattr(w.weight, "stop_gradient", True)),
    (asked_whether_trainable, lambda w: setattr(w.weight, "trainable", False)),
    (of_what_is_given, lambda w: None),
    (noted_by_the_object, lambda w: w.logged.names.append("outside")),
]


def shown(found):
    if isinstance(found, paddle.Tensor):
        return found.tolist(), found.stop_gradient, shown(getattr(found, "seen", None))
    return [shown(item) for item in found] if isinstance(found, tuple) else found


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize(("fn", "change"), CASES, ids=[fn.__name__ for fn, _ in CASES])
def test_state_is_that_of_eager_code(fn, change, full_graph):
    seen = []
    for compiled in (False, True):
        w = World()

        def call(x, w=w):
            return fn(w, x)

        run = paddle.jit.to_static(call, full_graph=full_graph) if compiled else call
        seen.append([])
        for turn in range(3):
            for sign in SIGNS:
                x = paddle.to_tensor([sign, 2.0 * sign])
                seen[-1].append((shown(run(x)), getattr(x, "seen", None), w.state()))
            if turn < 2:
                change(w)
    assert seen[0] == seen[1]


class Plain:
    pass


def without_the_first(x):
    made = Plain()
    made.first, made.second = x, x * 2
    if x.sum() > 0:
        del made.first
    return made


def test_an_attribute_deleted_on_a_path_stays_in_its_place_on_others():
    static = paddle.jit.to_static(without_the_first, full_graph=True)
    for values, names in (([1.0], ["second"]), ([-1.0], ["first", "second"])):
        for _ in range(2):
            x = paddle.to_tensor(values)
            assert list(vars(static(x))) == list(vars(without_the_first(x))) == names


class WithAPlace(paddle.nn.Layer):
    """Has a parameter, and a name that holds None."""

    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([2])
        self.place = None
        self.last = 1

    def state(self):
        names = [name for name in vars(self) if name in ("place", "last")]
        return names, [*self._parameters], getattr(self, "place", 0) is self.weight


class TakenBack(WithAPlace):
    def forward(self, x):
        self.place = self.weight
        self.place = None
        return x * self.weight


class TakenBackOnAPath(WithAPlace):
    def forward(self, x):
        self.place = self.weight
        if x.sum() > 0:
            self.place = None
        return x * self.weight


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("cls", [TakenBack, TakenBackOnAPath])
def test_what_was_given_a_parameter_is_one_of_the_layers_when_it_is_none_again(cls, full_graph):
    seen = []
    for compiled in (False, True):
        layer = cls()
        run = paddle.jit.to_static(layer.forward, full_graph=full_graph) if compiled else layer.forward
        seen.append([])
        for sign in [*SIGNS, *SIGNS]:
            run(paddle.to_tensor([sign, 2.0 * sign]))
            seen[-1].append(layer.state())
    assert seen[0] == seen[1]
