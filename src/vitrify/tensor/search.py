"""Sorting and searching, by the path that model code imports from. Source: paddle.tensor.search."""

from ..ops.creation import assign
from ..ops.gather import index_sample, index_select
from ..ops.inplace import where_
from ..ops.masked import masked_select
from ..ops.search import argwhere, bucketize, nonzero, searchsorted
from ..ops.select import where
from ..ops.sort import argsort, kthvalue, mode, msort, sort, topk
from ..ops.statistics import argmax, argmin

__all__ = [
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "assign",
    "bucketize",
    "index_sample",
    "index_select",
    "kthvalue",
    "masked_select",
    "mode",
    "msort",
    "nonzero",
    "searchsorted",
    "sort",
    "topk",
    "where",
    "where_",
]
