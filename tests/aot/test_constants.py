"""Parameters lie in the file once, however many parts and methods of a program read them."""

import numpy as np

import vitrify as paddle
from vitrify import nn
from vitrify.aot import load
from vitrify.static import InputSpec

WIDTH = 256
BYTES = WIDTH * WIDTH * 4


class Twice(nn.Layer):
    """The same matrix before and behind a result whose size depends on values."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        y = self.fc(x)
        return self.fc(y[y[:, 0] > 0])

    @paddle.jit.to_static(input_spec=[InputSpec([None, WIDTH])])
    def once(self, x):
        return self.fc(x)


def test_parts_and_methods_share_parameters(tmp_path):
    paddle.seed(0)
    net = Twice()
    net.eval()
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[InputSpec([None, WIDTH])], format="native")
    assert BYTES < (tmp_path / "net.so").stat().st_size < 2 * BYTES
    program = load(tmp_path / "net")
    x = np.random.default_rng(0).standard_normal((9, WIDTH)).astype("float32")
    for name, method in (("forward", net.forward), ("once", net.once)):
        found, wanted = program.functions[name](x)[0], method(paddle.to_tensor(x)).numpy()
        assert 0 < len(found) == len(wanted)
        np.testing.assert_allclose(found, wanted, 2e-5, 2e-5)
