"""Statistics, by the path that model code imports from. Source: paddle.tensor.stat."""

from ..ops.quantile import median, nanmedian, nanquantile, quantile
from ..ops.reduce import mean
from ..ops.sizes import numel
from ..ops.statistics import std, var

__all__ = ["mean", "median", "nanmedian", "nanquantile", "numel", "quantile", "std", "var"]
