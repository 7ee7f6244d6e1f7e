"""`paddle.base.param_attr`."""

from ..eager.param_attr import ParamAttr

__all__ = ["ParamAttr"]
