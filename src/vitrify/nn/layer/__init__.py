"""The Layer classes of `paddle.nn`, one file for each kind."""

from . import layers

__all__ = ["layers"]
