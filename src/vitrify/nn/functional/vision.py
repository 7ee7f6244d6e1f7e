"""Images rearranged and sampled. Source: paddle.nn.functional.vision."""

from ...ops.rearrange import channel_shuffle, pixel_shuffle, pixel_unshuffle
from ...ops.vision import affine_grid, grid_sample

__all__ = ["affine_grid", "channel_shuffle", "grid_sample", "pixel_shuffle", "pixel_unshuffle"]
