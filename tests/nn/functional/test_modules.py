"""The modules of functional, and what only they offer."""

import numpy as np

import vitrify as paddle
from vitrify.nn import functional as F

MODULES = ("activation", "common", "conv", "distance", "extension", "input", "loss", "norm", "pooling", "vision")


def test_functional_offers_what_its_modules_do():
    for module in MODULES:
        home = getattr(F, module)
        missing = [name for name in home.__all__ if getattr(F, name) is not getattr(home, name)]
        assert not missing, f"{module}: {missing}"


def test_flash_attention_is_attention():
    x = paddle.randn([2, 5, 4, 3])
    out, probs = F.flash_attention.flash_attention(x, x, x, causal=True)
    np.testing.assert_array_equal(out.numpy(), F.scaled_dot_product_attention(x, x, x, is_causal=True).numpy())
    assert probs is None
    packed = paddle.stack([x, x, x], 2)
    np.testing.assert_array_equal(F.flash_attn_qkvpacked(packed, causal=True)[0].numpy(), out.numpy())


def test_conv_nd_is_the_convolution_of_that_rank():
    x, w = paddle.randn([1, 2, 5, 5]), paddle.randn([3, 2, 3, 3])
    same = F.conv._conv_nd(x, w, padding=[0, 0], padding_algorithm="SAME")
    np.testing.assert_array_equal(same.numpy(), F.conv2d(x, w, padding="SAME").numpy())
    one = F.conv._conv_nd(x, w, padding=[1, 1], padding_algorithm="EXPLICIT")
    np.testing.assert_array_equal(one.numpy(), same.numpy())
