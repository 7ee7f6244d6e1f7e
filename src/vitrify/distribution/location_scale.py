"""What distributions share that are one shape, moved and stretched."""

from __future__ import annotations

from typing import Any

from ..ops.expand import broadcast_tensors
from .distribution import Distribution, as_floats


class LocationScale(Distribution):
    """A distribution given by where it is and how wide: loc and scale, floating, broadcast against each other."""

    def __init__(self, loc: Any, scale: Any) -> None:
        self.loc, self.scale = broadcast_tensors(list(as_floats(loc, scale)))
        super().__init__(self.loc.shape)

    def _dtype(self) -> Any:
        return self.loc.dtype
