"""Swin Transformer: windows, shifted by `roll`, biases by relative position, masks made with slices at construction."""

import numpy as np

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Case, integers, normal
from vitrify import nn


def window_partition(x, window_size):
    B, H, W, C = x.shape
    x = x.reshape([-1, H // window_size, window_size, W // window_size, window_size, C])
    return x.transpose([0, 1, 3, 2, 4, 5]).reshape([-1, window_size, window_size, C])


def window_reverse(windows, window_size, H, W, C):
    x = windows.reshape([-1, H // window_size, W // window_size, window_size, window_size, C])
    return x.transpose([0, 1, 3, 2, 4, 5]).reshape([-1, H, W, C])


class WindowAttention(nn.Layer):
    def __init__(self, dim, window_size, num_heads, qkv_bias=True, qk_scale=None):
        super().__init__()
        self.dim = dim
        self.window_size = window_size
        self.num_heads = num_heads
        self.scale = qk_scale or (dim // num_heads) ** -0.5
        self.relative_position_bias_table = self.create_parameter(
            shape=((2 * window_size[0] - 1) * (2 * window_size[1] - 1), num_heads),
            default_initializer=nn.initializer.TruncatedNormal(std=0.02),
        )
        coords_h = paddle.arange(self.window_size[0])
        coords_w = paddle.arange(self.window_size[1])
        coords = paddle.stack(paddle.meshgrid([coords_h, coords_w]))
        coords_flatten = paddle.flatten(coords, 1)
        coords_flatten_1 = coords_flatten.unsqueeze(axis=2)
        coords_flatten_2 = coords_flatten.unsqueeze(axis=1)
        relative_coords = coords_flatten_1 - coords_flatten_2
        relative_coords = relative_coords.transpose([1, 2, 0])
        relative_coords[:, :, 0] += self.window_size[0] - 1
        relative_coords[:, :, 1] += self.window_size[1] - 1
        relative_coords[:, :, 0] *= 2 * self.window_size[1] - 1
        self.register_buffer("relative_position_index", relative_coords.sum(-1))
        self.qkv = nn.Linear(dim, dim * 3, bias_attr=qkv_bias)
        self.proj = nn.Linear(dim, dim)
        self.softmax = nn.Softmax(axis=-1)

    def eval(self):
        # this is used to re-param swin for model export
        super().eval()
        relative_position_bias_table = self.relative_position_bias_table
        window_size = self.window_size
        index = self.relative_position_index.reshape([-1])
        relative_position_bias = paddle.index_select(relative_position_bias_table, index)
        relative_position_bias = relative_position_bias.reshape(
            [window_size[0] * window_size[1], window_size[0] * window_size[1], -1]
        )
        relative_position_bias = relative_position_bias.transpose([2, 0, 1])
        self.register_buffer("relative_position_bias", relative_position_bias.unsqueeze(0), persistable=False)

    def forward(self, x, mask=None):
        B_, N, C = x.shape
        qkv = self.qkv(x).reshape([-1, N, 3, self.num_heads, C // self.num_heads]).transpose([2, 0, 3, 1, 4])
        q, k, v = qkv.unbind(0)
        attn = (q * self.scale) @ k.mT if hasattr(k, "mT") else paddle.matmul(q * self.scale, k, transpose_y=True)
        if self.training or not hasattr(self, "relative_position_bias"):
            index = self.relative_position_index.reshape([-1])
            bias = paddle.index_select(self.relative_position_bias_table, index)
            bias = bias.reshape(
                [self.window_size[0] * self.window_size[1], self.window_size[0] * self.window_size[1], -1]
            )
            attn = attn + bias.transpose([2, 0, 1]).unsqueeze(0)
        else:
            attn = attn + self.relative_position_bias
        if mask is not None:
            nW = mask.shape[0]
            attn = attn.reshape([-1, nW, self.num_heads, N, N]) + mask.unsqueeze(1).unsqueeze(0)
            attn = attn.reshape([-1, self.num_heads, N, N])
        attn = self.softmax(attn)
        x = paddle.matmul(attn, v).transpose([0, 2, 1, 3]).reshape([-1, N, C])
        return self.proj(x)

    def extra_repr(self):
        return f"dim={self.dim}, window_size={self.window_size}, num_heads={self.num_heads}"


class SwinTransformerBlock(nn.Layer):
    def __init__(self, dim, input_resolution, num_heads, window_size=4, shift_size=0, mlp_ratio=2.0):
        super().__init__()
        self.input_resolution = input_resolution
        self.window_size = window_size
        self.shift_size = shift_size
        if min(self.input_resolution) <= self.window_size:
            self.shift_size = 0
            self.window_size = min(self.input_resolution)
        assert 0 <= self.shift_size < self.window_size, "shift_size must in 0-window_size"
        self.norm1 = nn.LayerNorm(dim)
        self.attn = WindowAttention(dim, (self.window_size, self.window_size), num_heads)
        self.norm2 = nn.LayerNorm(dim)
        hidden = int(dim * mlp_ratio)
        self.mlp = nn.Sequential(("fc1", nn.Linear(dim, hidden)), ("act", nn.GELU()), ("fc2", nn.Linear(hidden, dim)))
        attn_mask = None
        if self.shift_size > 0:
            H, W = self.input_resolution
            img_mask = np.zeros([1, H, W, 1], dtype=np.float32)
            h_slices = (
                slice(0, -self.window_size),
                slice(-self.window_size, -self.shift_size),
                slice(-self.shift_size, None),
            )
            cnt = 0
            for h in h_slices:
                for w in h_slices:
                    img_mask[:, h, w, :] = cnt
                    cnt += 1
            mask_windows = window_partition(paddle.to_tensor(img_mask), self.window_size)
            mask_windows = mask_windows.reshape((-1, self.window_size * self.window_size))
            attn_mask = paddle.unsqueeze(mask_windows, 1) - paddle.unsqueeze(mask_windows, 2)
            huns = -100.0 * paddle.ones_like(attn_mask)
            attn_mask = huns * (attn_mask != 0).astype("float32")
        self.register_buffer("attn_mask", attn_mask)

    def forward(self, x):
        H, W = self.input_resolution
        B, L, C = x.shape
        assert L == H * W, f"input feature has wrong size, with L = {L}, H = {H}, W = {W}"
        shortcut = x
        x = self.norm1(x).reshape([-1, H, W, C])
        if self.shift_size > 0:
            shifted_x = paddle.roll(x, shifts=(-self.shift_size, -self.shift_size), axis=(1, 2))
        else:
            shifted_x = x
        x_windows = window_partition(shifted_x, self.window_size).reshape([-1, self.window_size * self.window_size, C])
        attn_windows = self.attn(x_windows, mask=self.attn_mask)
        attn_windows = attn_windows.reshape([-1, self.window_size, self.window_size, C])
        shifted_x = window_reverse(attn_windows, self.window_size, H, W, C)
        if self.shift_size > 0:
            x = paddle.roll(shifted_x, shifts=(self.shift_size, self.shift_size), axis=(1, 2))
        else:
            x = shifted_x
        x = shortcut + x.reshape([-1, H * W, C])
        return x + self.mlp(self.norm2(x))


class PatchMerging(nn.Layer):
    def __init__(self, input_resolution, dim, norm_layer=nn.LayerNorm):
        super().__init__()
        self.input_resolution = input_resolution
        self.dim = dim
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias_attr=False)
        self.norm = norm_layer(4 * dim)

    def forward(self, x):
        H, W = self.input_resolution
        B, L, C = x.shape
        assert H % 2 == 0 and W % 2 == 0, f"x size ({H}*{W}) are not even."
        x = x.reshape([-1, H, W, C])
        x0 = x[:, 0::2, 0::2, :]
        x1 = x[:, 1::2, 0::2, :]
        x2 = x[:, 0::2, 1::2, :]
        x3 = x[:, 1::2, 1::2, :]
        x = paddle.concat([x0, x1, x2, x3], -1)
        return self.reduction(self.norm(x.reshape([-1, H * W // 4, 4 * C])))


class BasicLayer(nn.Layer):
    def __init__(self, dim, input_resolution, depth, num_heads, window_size, downsample=None):
        super().__init__()
        self.blocks = nn.LayerList(
            [
                SwinTransformerBlock(
                    dim, input_resolution, num_heads, window_size, shift_size=0 if (i % 2 == 0) else window_size // 2
                )
                for i in range(depth)
            ]
        )
        self.downsample = downsample(input_resolution, dim=dim) if downsample is not None else None

    def forward(self, x):
        for blk in self.blocks:
            x = blk(x)
        if self.downsample is not None:
            x = self.downsample(x)
        return x


class SwinTransformer(nn.Layer):
    def __init__(
        self, img_size=32, patch_size=4, embed_dim=8, depths=(2, 2), num_heads=(2, 4), window_size=4, class_num=5
    ):
        super().__init__()
        self.num_layers = len(depths)
        self.num_features = int(embed_dim * 2 ** (self.num_layers - 1))
        self.patch_embed = nn.Conv2D(3, embed_dim, kernel_size=patch_size, stride=patch_size)
        resolution = img_size // patch_size
        self.layers = nn.LayerList()
        for i_layer in range(self.num_layers):
            layer = BasicLayer(
                dim=int(embed_dim * 2**i_layer),
                input_resolution=(resolution // (2**i_layer), resolution // (2**i_layer)),
                depth=depths[i_layer],
                num_heads=num_heads[i_layer],
                window_size=window_size,
                downsample=PatchMerging if (i_layer < self.num_layers - 1) else None,
            )
            self.layers.append(layer)
        self.norm = nn.LayerNorm(self.num_features)
        self.avgpool = nn.AdaptiveAvgPool1D(1)
        self.head = nn.Linear(self.num_features, class_num)

    def forward_features(self, x):
        x = self.patch_embed(x).flatten(2).transpose([0, 2, 1])
        for layer in self.layers:
            x = layer(x)
        x = self.norm(x)
        x = self.avgpool(x.transpose([0, 2, 1]))
        return paddle.flatten(x, 1)

    def forward(self, x):
        return self.head(self.forward_features(x))


CASES = [Case("Swin", SwinTransformer, normal(3, 32, 32), F.cross_entropy, integers(5))]
