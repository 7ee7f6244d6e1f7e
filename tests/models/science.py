"""Physics in the style of PaddleScience: a network whose loss holds derivatives, a Fourier neural operator."""

import numpy as np

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Case, normal
from vitrify import nn


class PINN(nn.Layer):
    """u(x, t) of Burgers' equation; the residual takes second derivatives by the inputs."""

    def __init__(self, hidden=8, num_layers=2):
        super().__init__()
        sizes = [2, *[hidden] * num_layers]
        self.linears = nn.LayerList([nn.Linear(i, o) for i, o in zip(sizes, sizes[1:])])
        self.last_fc = nn.Linear(hidden, 1)
        self.act = paddle.tanh

    def u(self, x, t):
        y = paddle.concat([x, t], axis=-1)
        for linear in self.linears:
            y = self.act(linear(y))
        return self.last_fc(y)

    def forward(self, points):
        x, t = points[:, 0:1], points[:, 1:2]
        if not self.training:
            return self.u(x, t)
        x.stop_gradient = t.stop_gradient = False
        u = self.u(x, t)
        u_x, u_t = paddle.grad(u, [x, t], create_graph=True)
        (u_xx,) = paddle.grad(u_x, x, create_graph=True)
        return u, u_t + u * u_x - 0.01 / np.pi * u_xx


class SpectralConv2d(nn.Layer):
    def __init__(self, in_channels, out_channels, modes1, modes2):
        super().__init__()
        self.modes1, self.modes2, self.out_channels = modes1, modes2, out_channels
        scale = 1 / (in_channels * out_channels)
        init = nn.initializer.Uniform(0, scale)
        shape = [in_channels, out_channels, modes1, modes2, 2]
        self.weights1 = self.create_parameter(shape, default_initializer=init)
        self.weights2 = self.create_parameter(shape, default_initializer=init)

    def compl_mul2d(self, inputs, weights):
        return paddle.einsum("bixy,ioxy->boxy", inputs, paddle.as_complex(weights))

    def forward(self, x):
        x_ft = paddle.fft.rfft2(x)
        out_ft = paddle.zeros([x.shape[0], self.out_channels, x.shape[-2], x.shape[-1] // 2 + 1], dtype="complex64")
        low, high = slice(None, self.modes1), slice(-self.modes1, None)
        out_ft[:, :, low, : self.modes2] = self.compl_mul2d(x_ft[:, :, low, : self.modes2], self.weights1)
        out_ft[:, :, high, : self.modes2] = self.compl_mul2d(x_ft[:, :, high, : self.modes2], self.weights2)
        return paddle.fft.irfft2(out_ft, s=(x.shape[-2], x.shape[-1]))


class FNO2d(nn.Layer):
    def __init__(self, modes=2, width=4):
        super().__init__()
        self.fc0 = nn.Linear(3, width)
        self.convs = nn.LayerList([SpectralConv2d(width, width, modes, modes) for _ in range(2)])
        self.ws = nn.LayerList([nn.Conv1D(width, width, 1) for _ in range(2)])
        self.fc1, self.fc2 = nn.Linear(width, 8), nn.Linear(8, 1)

    def get_grid(self, shape):
        batchsize, size_x, size_y = shape[0], shape[1], shape[2]
        gridx = paddle.linspace(0, 1, size_x).reshape([1, size_x, 1, 1]).tile([batchsize, 1, size_y, 1])
        gridy = paddle.linspace(0, 1, size_y).reshape([1, 1, size_y, 1]).tile([batchsize, size_x, 1, 1])
        return paddle.concat((gridx, gridy), axis=-1)

    def forward(self, x):
        batchsize, size_x, size_y = x.shape[0], x.shape[1], x.shape[2]
        x = self.fc0(paddle.concat((x, self.get_grid(x.shape)), axis=-1)).transpose([0, 3, 1, 2])
        for conv, w in zip(self.convs, self.ws):
            x2 = w(x.reshape([batchsize, -1, size_x * size_y])).reshape([batchsize, -1, size_x, size_y])
            x = F.gelu(conv(x) + x2)
        return self.fc2(F.gelu(self.fc1(x.transpose([0, 2, 3, 1]))))


def burgers(outputs, u0):
    u, residual = outputs
    return F.mse_loss(u, u0, "mean") + (residual**2).mean()


def relative_lp(out, target):
    diff = paddle.norm(out.reshape([out.shape[0], -1]) - target.reshape([target.shape[0], -1]), p=2, axis=1)
    return paddle.mean(diff / paddle.norm(target.reshape([target.shape[0], -1]), p=2, axis=1))


CASES = [
    Case(name="PINN", build=PINN, inputs=normal(2), labels=normal(1), loss=burgers, sizes=(6, 4)),
    Case(name="FNO", build=FNO2d, inputs=normal(6, 8, 1), labels=normal(6, 8, 1), loss=relative_lp),
]
