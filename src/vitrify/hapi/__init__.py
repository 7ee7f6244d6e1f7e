"""`paddle.hapi`: the loops around a network (Model, callbacks), and what it is made of and costs (summary, flops)."""

from . import callbacks
from .flops import flops
from .model import Model
from .summary import summary

__all__ = ["Model", "callbacks", "flops", "summary"]
