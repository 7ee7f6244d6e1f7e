"""Metrics over many batches, with Paddle's names: accuracy, precision, recall, area under the curve."""

from .accuracy import Accuracy, accuracy
from .binary import Auc, Precision, Recall
from .metric import Metric

__all__ = ["Accuracy", "Auc", "Metric", "Precision", "Recall", "accuracy"]
