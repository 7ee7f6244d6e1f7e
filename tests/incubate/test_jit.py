"""incubate.jit.inference: a Layer, a method or a function, compiled as one program without gradients."""

import inspect
import sys

import numpy as np
import pytest

import vitrify as paddle
from vitrify.incubate.jit import inference, is_inference_mode


class Scored(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fn = paddle.nn.Linear(3, 3)

    def forward(self, x):
        for _ in range(3):
            x = paddle.nn.functional.softmax(x, -1)
        return self.fn(x + x)


def test_a_layer_gives_what_it_gave_and_runs_no_python_again():
    net, x = Scored(), paddle.rand([4, 3])
    wanted = net(x).numpy()
    assert inference(net) is net and is_inference_mode(net.forward) and not is_inference_mode(Scored().forward)
    found = net(x)
    assert found.stop_gradient
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    ran = []
    sys.setprofile(lambda frame, event, _: ran.append(frame.f_code.co_filename))
    try:
        net(x)
    finally:
        sys.setprofile(None)
    assert ran.count(__file__) == 1  # that of this function, where profiling ends
    with paddle.no_grad():
        net.fn.bias.add_(paddle.ones([3]))
    np.testing.assert_allclose(net(x), wanted + 1, rtol=1e-6)


@pytest.mark.parametrize("decorate", [inference, inference()])
def test_methods_and_functions(decorate):
    class Doubled(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.fn = paddle.nn.Linear(2, 2)

        @decorate
        def forward(self, x):
            return self.fn(x) * 2

    net, x = Doubled(), paddle.ones([1, 2])
    np.testing.assert_allclose(net(x), net.fn(x).numpy() * 2, rtol=1e-6)
    assert is_inference_mode(net.forward) and list(inspect.signature(Doubled.forward).parameters) == ["self", "x"]
    added = decorate(lambda x, y: x + y)
    given = paddle.ones([2], "float32")
    given.stop_gradient = False
    assert added(given, y=given).tolist() == [2, 2] and added(given, y=given).stop_gradient
    assert paddle.incubate.inference is inference


def test_what_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="inference: expects a Layer or a function, got int"):
        inference(3)
