"""`paddle.framework.io`: saving and loading, with the class of parameters that model code takes from here."""

from ..eager.parameter import Parameter as EagerParamBase
from .save_load import load, save

__all__ = ["EagerParamBase", "load", "save"]
