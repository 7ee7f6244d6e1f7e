"""What `summary` and `flops` count and print, against what Paddle's pages show."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import nn
from vitrify.core.errors import ArgumentError


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.c, self.b, self.r = nn.Conv2D(3, 8, 3, padding=1), nn.BatchNorm2D(8), nn.ReLU()
        self.p, self.f = nn.AdaptiveAvgPool2D(1), nn.Linear(8, 4)

    def forward(self, x):
        return self.f(self.p(self.r(self.b(self.c(x)))).flatten(1))


NET = """\
-------------------------------------------------------------------------------
   Layer (type)         Input Shape          Output Shape         Param #    
===============================================================================
     Conv2D-1          [[2, 3, 8, 8]]        [2, 8, 8, 8]           224      
   BatchNorm2D-1       [[2, 8, 8, 8]]        [2, 8, 8, 8]           32       
      ReLU-1           [[2, 8, 8, 8]]        [2, 8, 8, 8]            0       
AdaptiveAvgPool2D-1    [[2, 8, 8, 8]]        [2, 8, 1, 1]            0       
     Linear-1             [[2, 8]]              [2, 4]              36       
===============================================================================
Total params: 292
Trainable params: 276
Non-trainable params: 16
-------------------------------------------------------------------------------
Input size (MB): 0.00
Forward/backward pass size (MB): 0.02
Params size (MB): 0.00
Estimated Total Size (MB): 0.03
-------------------------------------------------------------------------------
"""  # noqa: W291


def test_summary_of_a_network(capsys):
    net = Net()
    before = net.b._mean.numpy()
    assert paddle.summary(net, (2, 3, 8, 8)) == {"total_params": 292, "trainable_params": 276}
    assert capsys.readouterr().out == NET + "\n"
    assert net.training and net.b.training and np.array_equal(net.b._mean.numpy(), before)


def test_summary_of_recurrent_layers_and_boxes(capsys):
    assert paddle.summary(nn.LSTM(4, 5), (2, 3, 4))["total_params"] == 220
    assert "[[2, 3, 5], [[1, 2, 5], [1, 2, 5]]]" in capsys.readouterr().out
    nested = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Sequential(nn.Linear(2, 2)))
    assert paddle.summary(nested, (None, 3))["total_params"] == 14
    assert "Sequential" not in capsys.readouterr().out


def test_summary_of_several_inputs():
    class Two(nn.Layer):
        def __init__(self):
            super().__init__()
            self.l, self.e = nn.Linear(3, 2), nn.Embedding(5, 3)

        def forward(self, x, i):
            return self.l(x) + self.l(self.e(i))

    found = paddle.summary(Two(), [(2, 3), (2,)], dtypes=["float32", "int64"])
    assert found == {"total_params": 23, "trainable_params": 23}
    assert paddle.summary(Two(), input=[paddle.ones([2, 3]), paddle.zeros([2], "int64")]) == found
    with pytest.raises(ArgumentError, match="input_size or input"):
        paddle.summary(nn.Linear(3, 2))


def lenet():
    return nn.Sequential(
        nn.Conv2D(1, 6, 3, stride=1, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(6, 16, 5), nn.ReLU(),
        nn.MaxPool2D(2, 2), nn.Flatten(), nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10),
    )  # fmt: skip


def test_flops_of_lenet(capsys):
    assert paddle.flops(lenet(), [1, 1, 28, 28], print_detail=True) == 347560
    out = capsys.readouterr().out
    assert "Total Flops: 347560     Total Params: 61610" in out and "| 241600 |" in out
    assert "Cannot find suitable count function for <class 'vitrify.nn.layer.pooling.MaxPool2D'>" in out


def test_flops_counted_by_the_user():
    def count(layer, x, y):
        layer.total_ops += int(x[0].numel())

    assert paddle.flops(lenet(), [1, 1, 28, 28], custom_ops={nn.ReLU: count}) == 347560 + 4704 + 1600

    def count_in_a_tensor(layer, x, y):
        layer.total_ops += y.numel()

    assert paddle.flops(nn.Sequential(nn.Flatten()), [2, 3, 4], custom_ops={nn.Flatten: count_in_a_tensor}) == 24
    assert paddle.flops(Net(), [2, 3, 8, 8]) == 2 * 8 * 64 * 28 + 2 * 2 * 8 * 64 + 2 * 8 * 65 + 2 * 4 * 8
