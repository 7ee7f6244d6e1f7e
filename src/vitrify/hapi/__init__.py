"""What a network is made of and costs, as tables: `paddle.summary` and `paddle.flops`."""

from .flops import flops
from .summary import summary

__all__ = ["flops", "summary"]
