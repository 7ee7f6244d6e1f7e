"""A cache hit runs no Python of the user's."""

import sys

import vitrify as paddle

from .models import Stack, tensor


class Watch:
    """Counts function calls in this file while it is entered."""

    def __init__(self):
        self.calls = []

    def _note(self, frame, event, arg):
        if event == "call" and frame.f_code.co_filename == HERE and frame.f_code is not Watch.__exit__.__code__:
            self.calls.append(frame.f_code.co_name)

    def __enter__(self):
        sys.setprofile(self._note)
        return self

    def __exit__(self, *exc):
        sys.setprofile(None)


HERE = Watch.__enter__.__code__.co_filename


def helper(x):
    return x * 2 if x.sum() > 0 else x


@paddle.jit.to_static
def uses_helper(x):
    for _ in range(5):
        x = helper(x)
        if x.sum() > 50:
            break
    return x


def test_a_hit_runs_no_user_code():
    x = tensor(1.0, 2.0)
    with Watch() as first:
        uses_helper(x)
    assert "uses_helper" in first.calls and "helper" in first.calls
    with Watch() as second:
        uses_helper(x)
    assert second.calls == []


def test_nor_does_its_backward():
    x = tensor(1.0, 2.0, grad=True)
    uses_helper(x).sum().backward()
    with Watch() as watch:
        uses_helper(x).sum().backward()
    assert watch.calls == []


def test_a_whole_layer_runs_only_its_calls_from_outside():
    net = paddle.jit.to_static(Stack())
    x = tensor(1.0, 2.0, 3.0)
    net(x)
    files = []
    models = sys.modules[Stack.__module__].__file__

    def note(frame, event, arg):
        if event == "call" and frame.f_code.co_filename == models:
            files.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        net(x)
    finally:
        sys.setprofile(None)
    assert files == []
