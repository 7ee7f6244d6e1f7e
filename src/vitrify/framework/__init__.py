"""Saving and loading of objects: `paddle.save` and `paddle.load`; and Paddle's inner name of Parameter."""

from ..eager.parameter import Parameter as EagerParamBase

__all__ = ["EagerParamBase"]
