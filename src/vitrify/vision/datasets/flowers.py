"""Flowers102 from its three files. Source: Nilsback, Zisserman 2008."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.io

from ...core.lazy import require
from ...io.dataset import Dataset
from ...io.local_files import local, mode_of
from ..image import in_backend

# As in Paddle the larger part is for training, though its authors call it the test set.
_PARTS = {"train": "tstid", "test": "trnid", "valid": "valid"}


class Flowers(Dataset[Any]):
    """Images of 102 kinds of flowers, with an int64 label [1] each. Source: paddle.vision.datasets.Flowers.

    data_file: `102flowers.tgz`, label_file: `imagelabels.mat`, setid_file: `setid.mat`, all local. Raises
    UnsupportedError without them: nothing is downloaded.

    Example:
        >>> import vitrify as paddle
        >>> try:
        ...     paddle.vision.datasets.Flowers()
        ... except Exception as err:
        ...     print(str(err).splitlines()[0])
        Flowers: label_file is None, which asks for a download; vitrify reads local files only
    """

    def __init__(
        self, data_file: str | None = None, label_file: str | None = None, setid_file: str | None = None,
        mode: str = "train", transform: Callable[[Any], Any] | None = None, download: bool = True,
        backend: str | None = None,
    ) -> None:  # fmt: skip
        part = _PARTS[mode_of("Flowers", mode, tuple(_PARTS))]
        self.transform = transform
        self.backend = backend
        self.labels = scipy.io.loadmat(str(local("Flowers", "label_file", label_file)))["labels"][0]
        self.indexes = scipy.io.loadmat(str(local("Flowers", "setid_file", setid_file)))[part][0]
        self.data_file = local("Flowers", "data_file", data_file)

    def __getitem__(self, idx: int) -> Any:
        number = int(self.indexes[idx])
        with tarfile.open(self.data_file) as archive:
            file = archive.extractfile(f"jpg/image_{number:05}.jpg")
            data = b"" if file is None else file.read()
        pil = require("PIL.Image", extra="vision", purpose="Flowers").open(io.BytesIO(data))
        image = in_backend(pil, self.backend)
        label = np.array([self.labels[number - 1]], np.int64)
        return image if self.transform is None else self.transform(image), label

    def __len__(self) -> int:
        return len(self.indexes)
