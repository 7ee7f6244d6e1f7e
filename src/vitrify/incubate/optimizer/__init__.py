"""`paddle.incubate.optimizer`: optimizers around others. Source: paddle.incubate.optimizer."""

from ...optimizer import LBFGS
from . import functional
from .gradient_merge import GradientMergeOptimizer
from .look_ahead import LookAhead
from .model_average import ModelAverage

__all__ = ["LBFGS", "GradientMergeOptimizer", "LookAhead", "ModelAverage", "functional"]
