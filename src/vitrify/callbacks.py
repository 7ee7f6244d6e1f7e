"""`paddle.callbacks`: what `Model.fit`, `evaluate` and `predict` call while they run; see `vitrify.hapi.callbacks`."""

from .hapi.callbacks import (
    Callback,
    EarlyStopping,
    LRScheduler,
    ModelCheckpoint,
    ProgBarLogger,
    ReduceLROnPlateau,
    VisualDL,
)
from .hapi.wandb_logger import WandbCallback

__all__ = [
    "Callback", "EarlyStopping", "LRScheduler", "ModelCheckpoint", "ProgBarLogger", "ReduceLROnPlateau", "VisualDL",
    "WandbCallback",
]  # fmt: skip
