"""A program that logs, changes something and raises: the function runs again for its changes, without its records."""

import logging
import threading

import pytest

import vitrify as paddle
from vitrify.eager.log_records import dropping_records

LOG = logging.getLogger("tests.convert.logged")


class Beams:
    def __init__(self):
        self.kept = []
        self.done = paddle.zeros([2], "int64")

    def add(self, x, index):
        assert self.done[index] == 0, "done already"
        self.kept.append(x)
        if x.sum() > 2:
            self.done[index] = 1


def logged_twice(x, beams):
    LOG.warning("starts")
    beams.add(x, 0)
    logging.LoggerAdapter(LOG, {}).info("has %d", len(beams.kept))
    beams.add(x + 1, 0)
    LOG.warning("ends")
    return x


def in_a_loop(x, beams):
    turn = 0
    while x.sum() < 9:
        LOG.warning("turn %d", turn)
        beams.add(x, turn % 2)
        turn += 1
        x = x + 1
    return x


@pytest.mark.parametrize("value", [0.1, 0.5, 3.0])
@pytest.mark.parametrize("function", [logged_twice, in_a_loop])
def test_records_and_changes_are_those_of_eager_code(function, value, caplog):
    caplog.set_level(logging.INFO)
    static = paddle.jit.to_static(function, full_graph=True)
    seen = []
    for called in (function, static, static):
        caplog.clear()
        beams, error = Beams(), None
        try:
            called(paddle.full([3], value), beams)
        except AssertionError as err:
            error = str(err)
        seen.append((error, [v.tolist() for v in beams.kept], beams.done.tolist(), caplog.messages[:]))
    assert seen[0] == seen[1] == seen[2] and not LOG.filters


def test_records_of_another_thread_are_kept(caplog):
    with dropping_records({LOG: 1}):
        other = threading.Thread(target=LOG.warning, args=("another's",))
        other.start()
        other.join()
        LOG.warning("first")
        LOG.warning("second")
    assert caplog.messages == ["another's", "second"]
