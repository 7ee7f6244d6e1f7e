"""The segmentation part of VOC2012 from its archive. Source: Everingham et al. 2012."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.lazy import require
from ...io.dataset import Dataset
from ...io.local_files import local, mode_of
from ..image import in_backend

_ROOT = "VOCdevkit/VOC2012"
_PARTS = {"train": "trainval", "test": "train", "valid": "val"}


class VOC2012(Dataset[Any]):
    """Images, each with a picture of the class of every place. Source: paddle.vision.datasets.VOC2012.

    data_file: the local archive `VOCtrainval_11-May-2012.tar`. Raises UnsupportedError without it.

    Example:
        >>> import vitrify as paddle
        >>> import io, tarfile, tempfile
        >>> path = tempfile.mkdtemp() + "/VOCtrainval_11-May-2012.tar"
        >>> names = b"2007_000032 2007_000039"
        >>> with tarfile.open(path, "w") as archive:
        ...     info = tarfile.TarInfo("VOCdevkit/VOC2012/ImageSets/Segmentation/val.txt")
        ...     info.size = len(names)
        ...     archive.addfile(info, io.BytesIO(names))
        >>> len(paddle.vision.datasets.VOC2012(path, mode="valid"))
        2
    """

    def __init__(
        self, data_file: str | None = None, mode: str = "train", transform: Callable[[Any], Any] | None = None,
        download: bool = True, backend: str | None = None,
    ) -> None:  # fmt: skip
        part = _PARTS[mode_of("VOC2012", mode, tuple(_PARTS))]
        self.data_file = local("VOC2012", "data_file", data_file)
        self.transform = transform
        self.backend = backend
        names = self._read(f"{_ROOT}/ImageSets/Segmentation/{part}.txt").decode().split()
        self.data = [f"{_ROOT}/JPEGImages/{name}.jpg" for name in names]
        self.labels = [f"{_ROOT}/SegmentationClass/{name}.png" for name in names]

    def _read(self, name: str) -> bytes:
        with tarfile.open(self.data_file) as archive:
            file = archive.extractfile(name)
            return b"" if file is None else file.read()

    def _image(self, name: str) -> Any:
        return require("PIL.Image", extra="vision", purpose="VOC2012").open(io.BytesIO(self._read(name)))

    def __getitem__(self, idx: int) -> Any:
        image = in_backend(self._image(self.data[idx]), self.backend)
        return image if self.transform is None else self.transform(image), np.asarray(self._image(self.labels[idx]))

    def __len__(self) -> int:
        return len(self.data)
