"""What quanters and observers are: Layers that know scales."""

from __future__ import annotations

from typing import Any

from ..eager.layer import Layer


class BaseQuanter(Layer):
    """A Layer that gives what rounding leaves of its input, and knows by which scales.

    Subclasses define `forward`, and `scales`, `zero_points`, `quant_axis` and `bit_length` where models shall be
    converted. Source: paddle.quantization.BaseQuanter.
    """

    def scales(self) -> Any:
        """The largest magnitudes that numbers of so many bits stand for, a Tensor."""
        raise NotImplementedError(f"{type(self).__name__} needs scales()")

    def zero_points(self) -> Any:
        """What stands for zero; None where zero does."""
        return None

    def quant_axis(self) -> int:
        """The axis along which scales differ, -1 for one scale."""
        return -1

    def bit_length(self) -> int:
        """How many bits the numbers have."""
        return 8


class BaseObserver(BaseQuanter):
    """A quanter that gives its input as it is, and finds scales by it. Source: paddle.quantization.BaseObserver."""

    def cal_thresholds(self) -> None:
        """Find the scales of what was seen, where they are not known yet."""
