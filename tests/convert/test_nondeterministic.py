"""Library functions whose results belong to the moment of the call are refused, those that only compute are not."""

import datetime
import logging
import math
import os
import pathlib
import random
import secrets
import time
import uuid

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError

LOG = logging.getLogger("model")
RNG = np.random.default_rng(0)
ARRAY = np.arange(3)
HERE = pathlib.Path(__file__)

REFUSED = {
    "getstate": lambda x: x * len(random.getstate()),
    "random.Random()": lambda x: x * random.Random().random(),
    "shuffle of an array": lambda x: x * np.random.shuffle(ARRAY),
    "default_rng": lambda x: x * np.random.default_rng().random(),
    "spawn": lambda x: x * len(RNG.spawn(1)),
    "time.time": lambda x: x * time.time(),
    "perf_counter": lambda x: x * time.perf_counter(),
    "now": lambda x: x * datetime.datetime.now().year,
    "today": lambda x: x * datetime.date.today().year,
    "len of environ": lambda x: x * len(os.environ),
    "putenv": lambda x: x * (os.putenv("SCALE", "1") or 1),
    "listdir": lambda x: x * len(os.listdir(".")),
    "open": lambda x: x * len(open(HERE).read()),  # noqa: SIM115
    "read_text": lambda x: x * len(HERE.read_text()),
    "uuid4": lambda x: x * uuid.uuid4().int,
    "secrets": lambda x: x * secrets.randbelow(3),
    "input": lambda x: x * float(input()),
}
ALLOWED = {
    "getenv": lambda x: x * float(os.getenv("SCALE", "1")),
    "environ": lambda x: x * float(os.environ.get("SCALE", "1")),
    "math": lambda x: x * math.sqrt(4),
    "numpy": lambda x: x * float(np.sqrt(4.0)),
    "os.path": lambda x: x * len(os.path.join("a", "b")),
    "logging.info": lambda x: (logging.info("x"), x)[1],
    "logger.info": lambda x: (LOG.info("x"), x)[1],
    "getLogger": lambda x: x if logging.getLogger("a").name else -x,
    "paddle.rand": lambda x: x + paddle.rand([3]) * 0,
    "timedelta": lambda x: x * datetime.timedelta(days=1).days,
    "pathlib": lambda x: x * len(pathlib.Path("a/b").parts),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_way_out(name):
    static = paddle.jit.to_static(REFUSED[name], full_graph=True)
    with pytest.raises(UnsupportedError) as caught:
        static(paddle.ones([3]))
    assert "a program would repeat" in str(caught.value) and "full_graph=False" in str(caught.value)
    assert caught.value.loc is not None and caught.value.loc.file == __file__


@pytest.mark.parametrize("name", ALLOWED)
def test_what_only_computes_is_called(name):
    x = paddle.ones([3])
    np.testing.assert_allclose(paddle.jit.to_static(ALLOWED[name])(x).numpy(), ALLOWED[name](x).numpy())


def test_without_full_graph_each_call_draws_anew():
    def noisy(x):
        y = x * 2
        k = random.random()
        return y * k

    static = paddle.jit.to_static(noisy, full_graph=False)
    random.seed(1)
    wanted = [2 * random.random() for _ in range(3)]
    random.seed(1)
    assert [static(paddle.to_tensor(1.0)).item() for _ in range(3)] == pytest.approx(wanted)
