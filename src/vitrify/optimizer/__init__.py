"""Optimizers and learning-rate schedulers, with Paddle's names."""

from . import lr
from .adam import Adam, Adamax, AdamW, Lamb
from .adaptive import Adadelta, Adagrad, RMSProp, Rprop
from .asgd import ASGD
from .corrected_adam import NAdam, RAdam
from .gradient_descent import SGD, Momentum
from .lbfgs import LBFGS
from .optimizer import Optimizer

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lamb",
    "Momentum",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSProp",
    "Rprop",
    "lr",
]
