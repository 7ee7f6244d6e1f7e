"""CIFAR-10 and CIFAR-100 from their archives. Source: Krizhevsky 2009."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ...core.errors import FileFormatError
from ...core.lazy import require
from ...framework.pickle_data import read_pickle
from ...io.dataset import Dataset
from ...io.local_files import local, mode_of
from ..image import in_backend


class Cifar10(Dataset[Any]):
    """Colour images, 32x32, of 10 kinds. Source: paddle.vision.datasets.Cifar10.

    data_file: the local archive `cifar-10-python.tar.gz`. The pickles in it are read as data, nothing in
    them is called. Raises UnsupportedError without a file: nothing is downloaded.

    Example:
        >>> import vitrify as paddle
        >>> import io, pickle, tarfile, tempfile
        >>> path = tempfile.mkdtemp() + "/cifar-10-python.tar.gz"
        >>> batch = pickle.dumps({"data": paddle.zeros([2, 3072], "uint8").numpy(), "labels": [3, 8]})
        >>> with tarfile.open(path, "w:gz") as archive:
        ...     info = tarfile.TarInfo("cifar-10-batches-py/test_batch")
        ...     info.size = len(batch)
        ...     archive.addfile(info, io.BytesIO(batch))
        >>> images = paddle.vision.datasets.Cifar10(path, mode="test", backend="cv2")
        >>> len(images), images[0][0].shape, images[1][1]
        (2, (32, 32, 3), np.int64(8))
    """

    _members: ClassVar[dict[str, str]] = {"train": "data_batch", "test": "test_batch"}
    _label: ClassVar[str] = "labels"

    def __init__(
        self, data_file: str | None = None, mode: str = "train", transform: Callable[[Any], Any] | None = None,
        download: bool = True, backend: str | None = None,
    ) -> None:  # fmt: skip
        owner = type(self).__name__
        self.mode = mode_of(owner, mode, ("train", "test"))
        self.transform = transform
        self.backend = backend
        batches = list(self._batches(local(owner, "data_file", data_file)))
        if not batches:
            raise FileFormatError(f"{owner}: {data_file} holds no {self._members[self.mode]}")
        pixels = np.concatenate([np.asarray(b["data"], np.uint8) for b in batches])
        self.images = pixels.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        self.labels = np.concatenate([np.asarray(b[self._label], np.int64) for b in batches])

    def _batches(self, path: Path) -> Any:
        with tarfile.open(path) as archive:
            wanted = self._members[self.mode]
            for member in sorted(archive.getmembers(), key=lambda m: m.name):
                file = archive.extractfile(member) if wanted in Path(member.name).name else None
                if file is not None:
                    yield read_pickle(file.read(), member.name)

    def __getitem__(self, idx: int) -> Any:
        pil = require("PIL.Image", extra="vision", purpose=type(self).__name__).fromarray(self.images[idx])
        image = in_backend(pil, self.backend)
        return image if self.transform is None else self.transform(image), self.labels[idx].reshape(())

    def __len__(self) -> int:
        return len(self.labels)


class Cifar100(Cifar10):
    """Colour images, 32x32, of 100 kinds. Source: paddle.vision.datasets.Cifar100.

    Example:
        >>> import vitrify as paddle
        >>> import io, pickle, tarfile, tempfile
        >>> path = tempfile.mkdtemp() + "/cifar-100-python.tar.gz"
        >>> batch = pickle.dumps({"data": paddle.zeros([1, 3072], "uint8").numpy(), "fine_labels": [42]})
        >>> with tarfile.open(path, "w:gz") as archive:
        ...     info = tarfile.TarInfo("cifar-100-python/test")
        ...     info.size = len(batch)
        ...     archive.addfile(info, io.BytesIO(batch))
        >>> paddle.vision.datasets.Cifar100(path, mode="test", backend="cv2")[0][1]
        np.int64(42)
    """

    _members: ClassVar[dict[str, str]] = {"train": "train", "test": "test"}
    _label = "fine_labels"
