"""Prices of houses and 13 numbers that go with each. Source: Harrison and Rubinfeld 1978."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtype import get_default_dtype
from ...core.errors import FileFormatError
from ...io.dataset import Dataset
from ...io.local_files import local, mode_of

_COLUMNS, _TRAINED = 14, 0.8


class UCIHousing(Dataset[Any]):
    """Rows of features [13], scaled by the range of their column, and prices [1]. Source: paddle.text.UCIHousing.

    data_file: the local `housing.data`; its first 80 % are for training. Raises UnsupportedError without it: nothing is
    downloaded. Arrays have the default dtype.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> from pathlib import Path
        >>> path = Path(tempfile.mkdtemp()) / "housing.data"
        >>> _ = path.write_text(" ".join(str(number) for number in range(10 * 14)))
        >>> rows = paddle.text.UCIHousing(str(path), mode="test")
        >>> len(rows), rows[0][0].shape, rows[0][1].tolist()
        (2, (13,), [125.0])
    """

    def __init__(self, data_file: str | None = None, mode: str = "train", download: bool = True) -> None:
        self.mode = mode_of("UCIHousing", mode, ("train", "test"))
        path = local("UCIHousing", "data_file", data_file)
        try:
            rows = np.array(path.read_text().split(), np.float64).reshape(-1, _COLUMNS)
        except ValueError as err:
            raise FileFormatError(f"{path} does not hold rows of {_COLUMNS} numbers") from err
        features = rows[:, :-1]
        rows[:, :-1] = (features - features.mean(0)) / (features.max(0) - features.min(0))
        cut = int(len(rows) * _TRAINED)
        self.data = (rows[:cut] if self.mode == "train" else rows[cut:]).astype(get_default_dtype())

    def __getitem__(self, idx: int) -> Any:
        return self.data[idx][:-1], self.data[idx][-1:]

    def __len__(self) -> int:
        return len(self.data)
