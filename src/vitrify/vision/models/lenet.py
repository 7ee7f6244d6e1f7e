"""LeNet for 28x28 images of one channel. Source: LeCun et al. 1998; paddle.vision.models.LeNet."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...ops.shape import flatten


class LeNet(nn.Layer):
    """Two convolutions and three linear layers. Source: paddle.vision.models.LeNet.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.models.LeNet()(paddle.ones([2, 1, 28, 28])).shape
        paddle.Size([2, 10])
    """

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.features = nn.Sequential(
            nn.Conv2D(1, 6, 3, stride=1, padding=1),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
            nn.Conv2D(6, 16, 5, stride=1, padding=0),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
        )
        if num_classes > 0:
            self.fc = nn.Sequential(nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, num_classes))

    def forward(self, x: Any) -> Any:
        """x: [N, 1, 28, 28] -> [N, num_classes]."""
        x = self.features(x)
        return self.fc(flatten(x, 1)) if self.num_classes > 0 else x


__all__ = ["LeNet"]
