"""What library code is given: it is not converted, so what it may look at guards the program, and stays as it is."""

import argparse
import collections
import configparser
import contextvars
import copy
import dataclasses
import functools
import logging
import math
import operator
import os
import string
import sys

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError


@dataclasses.dataclass
class Settings:
    scale: float = 1.0
    steps: list = dataclasses.field(default_factory=lambda: [1.0])
    inner: "Settings | None" = None


class Listed(list):
    offset = 1.0


class Answering:
    def __getattr__(self, name):
        return float(len(name))


class Other:
    offset = 9.0


PARSER = configparser.ConfigParser()
PARSER.read_string("[model]\nscale = 2\n")
NAMESPACE = argparse.Namespace(scale=2.0)
TEMPLATE = string.Template("$a")
SETTINGS = Settings(inner=Settings())
LISTED = Listed([1.0])
ANSWERING = Answering()
DEPTH = contextvars.ContextVar("depth", default=1)
LOGGER = logging.getLogger("test_given_to_libraries")
SCALED = functools.partial(operator.mul, 3.0)
POWER = functools.partial(pow, mod=None, exp=2)


def method(x):
    return x * PARSER.getfloat("model", "scale")


def item(x):
    return x * float(PARSER["model"]["scale"])


def membership(x):
    return x * (2 if "other" in NAMESPACE else 3)


def equality(x):
    return x * (2 if argparse.Namespace(scale=2.0) == NAMESPACE else 3)


def text(x):
    return x * len(TEMPLATE.substitute(a="q"))


def function(x):
    return x * dataclasses.asdict(SETTINGS)["scale"] + dataclasses.astuple(SETTINGS.inner)[1][0]


def copied(x):
    return x * copy.copy(SETTINGS).scale + copy.deepcopy(SETTINGS).inner.steps[0]


def getter(x):
    return x * operator.attrgetter("inner.scale")(SETTINGS)


def names(x):
    return x * len([name for name in dir(SETTINGS) if not name.startswith("_")])


def of_a_list(x):
    return x * LISTED.offset + LISTED[0]


def answered(x):
    return x * ANSWERING.offset


def of_a_class(x):
    return x * (2 if isinstance(SETTINGS.inner, Settings) else 3) + len(type(SETTINGS.inner).__name__)


def with_keywords(x):
    return POWER(x) + SCALED(x)


def given(x, settings=SETTINGS):
    return x * dataclasses.asdict(settings)["scale"]


CHANGES = {
    method: lambda patch: patch.setitem(PARSER["model"], "scale", "5"),
    item: lambda patch: patch.setitem(PARSER["model"], "scale", "5"),
    membership: lambda patch: patch.setattr(NAMESPACE, "other", 1, raising=False),
    equality: lambda patch: patch.setattr(NAMESPACE, "scale", 3.0),
    text: lambda patch: patch.setattr(TEMPLATE, "template", "$a$a$a"),
    function: lambda patch: patch.setattr(SETTINGS.inner, "steps", [7.0]),
    copied: lambda patch: patch.setattr(SETTINGS, "scale", 4.0),
    getter: lambda patch: patch.setattr(SETTINGS.inner, "scale", 4.0),
    names: lambda patch: patch.setattr(SETTINGS, "added", 1, raising=False),
    of_a_list: lambda patch: patch.setattr(LISTED, "offset", 3.0, raising=False),
    answered: lambda patch: patch.setattr(Answering, "offset", 2.0, raising=False),
    of_a_class: lambda patch: patch.setattr(SETTINGS.inner, "__class__", Other),
    with_keywords: lambda patch: patch.setitem(POWER.keywords, "exp", 3),
    given: lambda patch: patch.setattr(SETTINGS, "scale", 4.0),
}


@pytest.mark.parametrize("fn", CHANGES, ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("full_graph", [True, False])
def test_what_a_library_looks_at_guards_the_program(fn, full_graph, monkeypatch):
    x = paddle.to_tensor([1.0, 2.0])
    static = paddle.jit.to_static(fn, full_graph=full_graph)
    seen = []
    for change in (lambda patch: None, CHANGES[fn]):
        change(monkeypatch)
        for _ in range(2):
            assert static(x).tolist() == fn(x).tolist()
        seen.append(fn(x).tolist())
    assert seen[0] != seen[1]
    assert static.cache_info().misses == 2


def folder(x):
    return x * len(os.getcwd())


def there(x):
    return x * (2 if os.path.exists("marker") else 3)


def level(x):
    return x * (2 if LOGGER.isEnabledFor(logging.INFO) else 3)


def variable(x):
    return x * DEPTH.get()


def argument(x):
    return x * len(sys.argv)


def module(x):
    return x * (2 if "not_imported" in sys.modules else 3)


def by_name(x):
    return x * globals()["SCALE"] + globals().get("OFFSET", 1.0) + (1 if "OFFSET" in globals() else 0)


def flag(x):
    return x * (2 if paddle.get_flags(["FLAGS_check_nan_inf"])["FLAGS_check_nan_inf"] else 3)


SCALE = 2.0


def test_what_the_process_is_asked_is_asked_again(monkeypatch, tmp_path):
    x = paddle.to_tensor([1.0, 2.0])
    functions = [folder, there, level, variable, argument, module, by_name, flag]
    statics = [paddle.jit.to_static(fn, full_graph=True) for fn in functions]

    def results():
        expected = [fn(x).tolist() for fn in functions]
        for _ in range(2):
            assert [static(x).tolist() for static in statics] == expected
        return expected

    before = results()
    (tmp_path / "marker").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(LOGGER, "level", logging.INFO)
    LOGGER.manager._clear_cache()
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--more"])
    monkeypatch.setitem(sys.modules, "not_imported", sys)
    monkeypatch.setitem(globals(), "OFFSET", 5.0)
    token = DEPTH.set(4)
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    try:
        after = results()
    finally:
        paddle.set_flags({"FLAGS_check_nan_inf": False})
        DEPTH.reset(token)
    assert all(a != b for a, b in zip(before, after))


class _Bar(collections.UserList):
    pass


LOG = _Bar([0])


def pushing(x):
    LOG.append(1)
    return x * 2


def pushing_on_a_path(x):
    if x.sum() > 0:
        LOG.append(1)
    return x * 2


@pytest.mark.parametrize("fn", [pushing, pushing_on_a_path])
def test_a_library_that_changes_an_object_is_refused_and_does_so_at_each_call(fn):
    x = paddle.to_tensor([1.0, 2.0])
    del LOG.data[1:]
    with pytest.raises(UnsupportedError, match=r"append\(\) changes a _Bar that was there before") as told:
        paddle.jit.to_static(fn, full_graph=True)(x)
    assert "LOG.append(1)" in str(told.value)
    assert LOG == [0]
    static = paddle.jit.to_static(fn)
    for _ in range(3):
        static(x)
    assert LOG == [0, 1, 1, 1]


def made_inside(x):
    settings = Settings()
    settings.added = 1.0
    x = x * len(vars(settings)) + dataclasses.asdict(settings)["scale"] + copy.copy(settings).added
    log = _Bar([1.0])
    log.append(2.0)
    counts = collections.Counter("ab")
    counts.update("a")
    return x * log[1] + counts["a"]


def test_what_is_made_inside_may_be_changed():
    x = paddle.to_tensor([1.0, 2.0])
    static = paddle.jit.to_static(made_inside, full_graph=True)
    for _ in range(2):
        assert static(x).tolist() == made_inside(x).tolist()
    assert static.cache_info().misses == 1


def drop(layer):
    layer.p = 1.0


def stabilize(layer):
    layer._epsilon = 0.5


def step_wider(layer):
    layer._stride = (2, 2)


SET = [
    (paddle.nn.Dropout(0.0), drop, [2, 3]),
    (paddle.nn.LayerNorm(3), stabilize, [2, 3]),
    (paddle.nn.BatchNorm1D(3), stabilize, [2, 3]),
    (paddle.nn.Sequential(paddle.nn.Dropout(0.0), paddle.nn.ReLU()), lambda layer: drop(layer[0]), [2, 3]),
    (paddle.nn.Conv2D(1, 1, 1), step_wider, [1, 1, 4, 4]),
]


@pytest.mark.parametrize(("layer", "change", "shape"), SET, ids=lambda value: type(value).__name__)
def test_settings_of_layers_guard_the_program(layer, change, shape):
    x = paddle.arange(math.prod(shape)).reshape(shape).astype("float32")
    static = paddle.jit.to_static(lambda v: layer(v) * 2, full_graph=True)
    before = (layer(x) * 2).tolist()
    for _ in range(3):
        assert static(x).tolist() == before
    change(layer)
    after = (layer(x) * 2).tolist()
    assert after != before
    for _ in range(2):
        np.testing.assert_allclose(static(x).numpy(), np.array(after, "float32"), rtol=1e-6)
    assert static.cache_info().misses == 2


def by_variables(x):
    SETTINGS.scale += 1.0
    return x * SETTINGS.scale * len(vars(SETTINGS))


def test_the_names_of_attributes_matter_where_all_are_asked_for(monkeypatch):
    x = paddle.to_tensor([1.0, 2.0])
    static = paddle.jit.to_static(by_variables, full_graph=True)
    monkeypatch.setattr(SETTINGS, "scale", 1.0)
    for added in (None, None, None, "more", None):
        if added is not None:
            monkeypatch.setattr(SETTINGS, added, 1.0, raising=False)
        expected = by_variables(x).tolist()
        SETTINGS.scale -= 1.0
        assert static(x).tolist() == expected
