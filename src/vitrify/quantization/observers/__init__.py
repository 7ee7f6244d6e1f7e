"""`paddle.quantization.observers`: scales that are found without training."""

from .abs_max import AbsmaxObserver, AbsmaxObserverLayer, GroupWiseWeightObserver, GroupWiseWeightObserverLayer

__all__ = ["AbsmaxObserver", "AbsmaxObserverLayer", "GroupWiseWeightObserver", "GroupWiseWeightObserverLayer"]
