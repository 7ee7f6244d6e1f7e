"""StyleGAN2 in the style of PaddleGAN: equalized layers, modulated convolutions, blurs, the penalty R1 of gradients."""

import math

import numpy as np

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Case, normal
from vitrify import nn


class EqualLinear(nn.Layer):
    def __init__(self, in_dim, out_dim, bias_init=0.0, lr_mul=1.0, activation=None):
        super().__init__()
        self.weight = self.create_parameter(
            (in_dim, out_dim), default_initializer=nn.initializer.Normal(std=1.0 / lr_mul)
        )
        self.bias = self.create_parameter((out_dim,), default_initializer=nn.initializer.Constant(bias_init))
        self.activation, self.lr_mul = activation, lr_mul
        self.scale = (1 / math.sqrt(in_dim)) * lr_mul

    def forward(self, input):
        if self.activation:
            out = F.linear(input, self.weight * self.scale)
            return math.sqrt(2) * F.leaky_relu(out + self.bias * self.lr_mul, negative_slope=0.2)
        return F.linear(input, self.weight * self.scale, bias=self.bias * self.lr_mul)


def make_kernel(k):
    k = paddle.to_tensor(k, dtype="float32")
    if k.ndim == 1:
        k = k.unsqueeze(0) * k.unsqueeze(1)
    return k / k.sum()


def upfirdn2d(input, kernel, up=1, down=1, pad=(0, 0)):
    batch, channel, in_h, in_w = input.shape
    out = input.reshape((-1, channel, in_h, 1, in_w, 1))
    out = paddle.concat([out, paddle.zeros((*out.shape[:5], up - 1), dtype=out.dtype)], axis=5) if up > 1 else out
    if up > 1:
        blank = paddle.zeros((out.shape[0], channel, in_h, up - 1, in_w, up), dtype=out.dtype)
        out = paddle.concat([out, blank], axis=3)
    out = out.reshape((-1, 1, in_h * up, in_w * up))
    out = F.pad(out, [pad[0], pad[1], pad[0], pad[1]])
    out = F.conv2d(out, paddle.flip(kernel, [0, 1]).unsqueeze((0, 1)), stride=down)
    return out.reshape((-1, channel, out.shape[2], out.shape[3]))


class ModulatedConv2D(nn.Layer):
    def __init__(self, in_channel, out_channel, kernel_size, style_dim, demodulate=True, upsample=False):
        super().__init__()
        self.eps, self.kernel_size, self.out_channel = 1e-8, kernel_size, out_channel
        self.demodulate, self.upsample = demodulate, upsample
        self.register_buffer("kernel", make_kernel([1, 3, 3, 1]) * 4)
        self.scale, self.padding = 1 / math.sqrt(in_channel * kernel_size**2), kernel_size // 2
        shape = (1, out_channel, in_channel, kernel_size, kernel_size)
        self.weight = self.create_parameter(shape, default_initializer=nn.initializer.Normal())
        self.modulation = EqualLinear(style_dim, in_channel, bias_init=1)

    def forward(self, input, style):
        batch, in_channel, height, width = input.shape
        style = self.modulation(style).reshape((batch, 1, in_channel, 1, 1))
        if self.upsample:
            input = upfirdn2d(input, self.kernel, up=2, pad=(2, 1))
        weight = self.scale * self.weight
        out = F.conv2d(input * style[:, 0], weight.squeeze(0), padding=self.padding)
        if self.demodulate:
            demod = paddle.rsqrt((weight * style).pow(2).sum([2, 3, 4]) + self.eps)
            out = out * demod.reshape((batch, self.out_channel, 1, 1))
        return out


class Generator(nn.Layer):
    def __init__(self, style_dim=8, channels=6, n_mlp=2):
        super().__init__()
        layers = [EqualLinear(style_dim, style_dim, lr_mul=0.01, activation="fused_lrelu") for _ in range(n_mlp)]
        self.style = nn.Sequential(*layers)
        self.input = self.create_parameter((1, channels, 4, 4), default_initializer=nn.initializer.Normal())
        self.conv1 = ModulatedConv2D(channels, channels, 3, style_dim)
        self.conv2 = ModulatedConv2D(channels, 4, 3, style_dim, upsample=True)
        self.noise_weight = self.create_parameter((2,), default_initializer=nn.initializer.Constant(0.1))
        self.to_rgb = nn.LayerList([ModulatedConv2D(c, 3, 1, style_dim, demodulate=False) for c in (channels, 4)])
        self.register_buffer("noise", paddle.to_tensor(np.cos(np.arange(64)).reshape(1, 1, 8, 8).astype("float32")))

    def forward(self, z):
        z = z * paddle.rsqrt(paddle.mean(z**2, 1, keepdim=True) + 1e-8)
        latent = self.style(z)
        out = self.input.tile((z.shape[0], 1, 1, 1))
        out = self.conv1(out, latent) + self.noise_weight[0] * self.noise[:, :, :4, :4]
        skip = self.to_rgb[0](F.leaky_relu(out, 0.2), latent)
        out = self.conv2(F.leaky_relu(out, 0.2), latent) + self.noise_weight[1] * self.noise
        skip = upfirdn2d(skip, self.conv2.kernel, up=2, pad=(2, 1))
        return skip + self.to_rgb[1](F.leaky_relu(out, 0.2), latent), latent


class Discriminator(nn.Layer):
    def __init__(self, channels=6):
        super().__init__()
        self.conv = nn.Conv2D(3, channels, 3, padding=1)
        self.register_buffer("kernel", make_kernel([1, 3, 3, 1]))
        self.final = EqualLinear(channels * 16 + 16, 1)

    def forward(self, x):
        batch = x.shape[0]
        out = upfirdn2d(F.leaky_relu(self.conv(x), 0.2), self.kernel, down=2, pad=(2, 1))
        stddev = paddle.sqrt(out.var(0, unbiased=False) + 1e-8).mean(0, keepdim=True)
        out = paddle.concat([out, stddev.unsqueeze(0).tile((batch, 1, 1, 1))], 1)
        return self.final(out.reshape((batch, -1)))


class StyleGAN2(nn.Layer):
    def __init__(self):
        super().__init__()
        self.g, self.d = Generator(), Discriminator()

    def forward(self, z):
        fake, latent = self.g(z)
        return fake, latent, self.d(fake)

    def d_loss(self, real, z):
        real.stop_gradient = False
        real_pred, fake_pred = self.d(real), self.d(self.g(z)[0].detach())
        (grad_real,) = paddle.grad(real_pred.sum(), real, create_graph=True)
        r1 = (grad_real**2).reshape((grad_real.shape[0], -1)).sum(1).mean()
        return F.softplus(-real_pred).mean() + F.softplus(fake_pred).mean() + 0.5 * r1

    def g_loss(self, z):
        fake, _ = self.g(z)
        return F.softplus(-self.d(fake)).mean()


def two_players(case, model, compiled):
    """The discriminator's step with R1, then the generator's; what is returned falls."""
    optim_d = paddle.optimizer.Adam(parameters=model.d.parameters(), learning_rate=0.01, beta1=0.0, beta2=0.99)
    optim_g = paddle.optimizer.Adam(parameters=model.g.parameters(), learning_rate=0.002, beta1=0.0, beta2=0.99)
    d_loss, g_loss = compiled(model.d_loss), compiled(model.g_loss)
    real = paddle.to_tensor(np.sin(np.arange(2 * 192)).reshape(2, 3, 8, 8).astype("float32"))

    def step(inputs, labels):
        loss = d_loss(real, *inputs)
        loss.backward()
        optim_d.step()
        optim_d.clear_grad()
        other = g_loss(*inputs)
        optim_g.clear_grad()
        other.backward()
        optim_g.step()
        optim_g.clear_grad()
        optim_d.clear_grad()
        return float(loss)

    return step


def seen(outputs):
    fake, latent, score = outputs
    return F.softplus(-score).mean() + fake.square().mean() + latent.square().mean()


CASES = [
    Case(name="StyleGAN2", build=StyleGAN2, inputs=normal(8), loss=seen, trainer=two_players, sizes=(2, 3)),
]
