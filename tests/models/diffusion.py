"""Denoising diffusion in the style of ppdiffusers: a U-Net that knows the time, DDPM training, DDIM sampling."""

import math

import numpy as np

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Call, Case, together
from vitrify import nn


def get_timestep_embedding(timesteps, embedding_dim, flip_sin_to_cos=True, downscale_freq_shift=0, max_period=10000):
    assert len(timesteps.shape) == 1, "Timesteps should be a 1d-array"
    half_dim = embedding_dim // 2
    exponent = -math.log(max_period) * paddle.arange(start=0, end=half_dim, dtype="float32")
    emb = paddle.exp(exponent / (half_dim - downscale_freq_shift))
    emb = timesteps[:, None].cast("float32") * emb[None, :]
    emb = paddle.concat([paddle.sin(emb), paddle.cos(emb)], axis=-1)
    if flip_sin_to_cos:
        emb = paddle.concat([emb[:, half_dim:], emb[:, :half_dim]], axis=-1)
    return emb


class ResnetBlock2D(nn.Layer):
    def __init__(self, in_channels, out_channels, temb_channels, groups=2, eps=1e-6):
        super().__init__()
        self.norm1 = nn.GroupNorm(num_groups=groups, num_channels=in_channels, epsilon=eps)
        self.conv1 = nn.Conv2D(in_channels, out_channels, 3, padding=1)
        self.time_emb_proj = nn.Linear(temb_channels, out_channels * 2)
        self.norm2 = nn.GroupNorm(num_groups=groups, num_channels=out_channels, epsilon=eps)
        self.conv2 = nn.Conv2D(out_channels, out_channels, 3, padding=1)
        self.nonlinearity = nn.Silu()
        use_shortcut = in_channels != out_channels
        self.conv_shortcut = nn.Conv2D(in_channels, out_channels, kernel_size=1) if use_shortcut else None

    def forward(self, input_tensor, temb):
        hidden_states = self.conv1(self.nonlinearity(self.norm1(input_tensor)))
        temb = self.time_emb_proj(self.nonlinearity(temb))[:, :, None, None]
        scale, shift = paddle.chunk(temb, 2, axis=1)
        hidden_states = self.norm2(hidden_states) * (1 + scale) + shift
        hidden_states = self.conv2(self.nonlinearity(hidden_states))
        if self.conv_shortcut is not None:
            input_tensor = self.conv_shortcut(input_tensor)
        return (input_tensor + hidden_states) / math.sqrt(2)


class AttentionBlock(nn.Layer):
    def __init__(self, channels, num_head_channels=4):
        super().__init__()
        self.num_heads = channels // num_head_channels
        self.group_norm = nn.GroupNorm(2, channels, epsilon=1e-5)
        self.query, self.key, self.value = (nn.Linear(channels, channels) for _ in range(3))
        self.proj_attn = nn.Linear(channels, channels)

    def reshape_heads_to_batch_dim(self, tensor):
        return tensor.reshape([0, 0, self.num_heads, tensor.shape[2] // self.num_heads]).transpose([0, 2, 1, 3])

    def forward(self, hidden_states):
        batch, channel, height, width = hidden_states.shape
        normed = self.group_norm(hidden_states).reshape([batch, channel, height * width]).transpose([0, 2, 1])
        query, key, value = (
            self.reshape_heads_to_batch_dim(proj(normed)) for proj in (self.query, self.key, self.value)
        )
        scores = paddle.matmul(query, key, transpose_y=True) * (1 / math.sqrt(channel / self.num_heads))
        probs = F.softmax(scores.cast("float32"), axis=-1).cast(scores.dtype)
        out = paddle.matmul(probs, value).transpose([0, 2, 1, 3]).reshape([0, 0, channel])
        out = self.proj_attn(out).transpose([0, 2, 1]).reshape([batch, channel, height, width])
        return out + hidden_states


class UNet2DModel(nn.Layer):
    def __init__(self, channels=8, temb=16):
        super().__init__()
        self.channels = channels
        self.time_embedding = nn.Sequential(nn.Linear(channels, temb), nn.Silu(), nn.Linear(temb, temb))
        self.conv_in = nn.Conv2D(1, channels, 3, padding=1)
        self.down = ResnetBlock2D(channels, channels, temb)
        self.downsample = nn.Conv2D(channels, channels, 3, stride=2, padding=1)
        self.mid = nn.LayerList([ResnetBlock2D(channels, 16, temb), AttentionBlock(16), ResnetBlock2D(16, 16, temb)])
        self.upsample = nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2D(16, channels, 3, padding=1))
        self.up = ResnetBlock2D(2 * channels, channels, temb)
        self.conv_out = nn.Conv2D(channels, 1, 3, padding=1)
        betas = paddle.linspace(1e-4, 0.02, 20, dtype="float32")
        self.register_buffer("alphas_cumprod", paddle.cumprod(1.0 - betas, 0), persistable=False)

    def denoise(self, sample, timesteps):
        temb = self.time_embedding(get_timestep_embedding(timesteps, self.channels))
        x = self.conv_in(sample)
        skip = self.down(x, temb)
        x = self.downsample(skip)
        for layer in self.mid:
            x = layer(x, temb) if isinstance(layer, ResnetBlock2D) else layer(x)
        return self.conv_out(F.silu(self.up(paddle.concat([self.upsample(x), skip], axis=1), temb)))

    def forward(self, images, noise, timesteps):
        alpha = paddle.gather(self.alphas_cumprod, timesteps).reshape([-1, 1, 1, 1])
        noisy = alpha**0.5 * images + (1 - alpha) ** 0.5 * noise
        return self.denoise(noisy, timesteps)

    def ddim_sample(self, sample, num_inference_steps=4):
        steps = np.arange(0, 20, 20 // num_inference_steps)[::-1].copy().tolist()
        for t, previous in zip(steps, [*steps[1:], -1]):
            timesteps = paddle.full([sample.shape[0]], t, dtype="int64")
            noise_pred = self.denoise(sample, timesteps)
            alpha_t = self.alphas_cumprod[t]
            alpha_prev = self.alphas_cumprod[previous] if previous >= 0 else paddle.to_tensor(1.0)
            original = (sample - (1 - alpha_t).sqrt() * noise_pred) / alpha_t.sqrt()
            original = paddle.clip(original, -1, 1)
            noise_pred = (sample - alpha_t.sqrt() * original) / (1 - alpha_t).sqrt()
            sample = alpha_prev.sqrt() * original + (1 - alpha_prev).sqrt() * noise_pred
        return ((sample / 2 + 0.5).clip(0, 1) * 255).round().cast("int32").transpose([0, 2, 3, 1])


def pictures(rng, n):
    return (rng.uniform(-1, 1, (n, 1, 8, 8)).astype("float32"),)


def noises(rng, n):
    return (rng.normal(size=(n, 1, 8, 8)).astype("float32"), rng.integers(0, 20, (n,)).astype("int64"))


CASES = [
    Case(
        name="Diffusion U-Net", build=UNet2DModel, inputs=together(pictures, noises),
        labels=lambda rng, n: noises(rng, n)[:1], loss=lambda pred, noise: F.mse_loss(pred, noise),
        calls=(Call("ddim_sample", lambda rng, n: pictures(rng, n)),),
    ),
]  # fmt: skip
