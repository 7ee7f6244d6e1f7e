"""Second derivatives of windows, whose adjoints are ops with adjoints of their own."""

from vitrify.nn import functional as F
from vitrify.testing import Case, floats

CASES = [
    Case("adaptive average, twice", lambda x: F.adaptive_avg_pool2d(x, 2) ** 2, (floats(1, 2, 5, 4),), second=True),
    Case("convolution with bias, twice", lambda x, w, b: F.conv2d(x, w, b) ** 2,
         (floats(1, 2, 4, 4), floats(3, 2, 2, 2), floats(3)), second=True),
    Case("max pooling, twice", lambda x: F.max_pool2d(x, 2) ** 2, (floats(1, 2, 4, 4),), second=True),
    Case("resizing, twice", lambda x: F.interpolate(x, scale_factor=2, mode="bilinear") ** 2,
         (floats(1, 2, 3, 3),), second=True),
]  # fmt: skip
