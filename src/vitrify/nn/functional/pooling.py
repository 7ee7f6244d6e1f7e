"""Pooling and its inverse. Source: paddle.nn.functional.pooling."""

# ruff: noqa: F403

from ...ops import adaptive_pool as _adaptive
from ...ops import pool as _pool
from ...ops import unpool as _unpool
from ...ops.adaptive_pool import *
from ...ops.pool import *
from ...ops.unpool import *

__all__ = [*_adaptive.__all__, *_pool.__all__, *_unpool.__all__]  # noqa: PLE0604 - they are strings
