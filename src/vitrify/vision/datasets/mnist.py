"""MNIST and FashionMNIST from their four files, compressed or not. Source: LeCun et al.; Xiao et al. 2017."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import FileFormatError
from ...core.lazy import require
from ...io.dataset import Dataset
from ...io.local_files import local, mode_of
from ..image import in_backend

_IMAGES, _LABELS = 2051, 2049


def _read(path: Path, magic: int) -> Any:
    """The numbers of an IDX file of bytes; raises FileFormatError for another kind."""
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    dims = magic % 256
    head = np.frombuffer(raw[: min(4 * (dims + 1), len(raw) // 4 * 4)], ">i4")
    shape = [int(n) for n in head[1:]]
    if len(head) != dims + 1 or head[0] != magic or len(raw) != head.nbytes + int(np.prod(shape)):
        raise FileFormatError(f"{path} is not an IDX file of {dims} dimensions, or it is cut short")
    return np.frombuffer(raw, np.uint8, offset=head.nbytes).reshape(shape)


class MNIST(Dataset[Any]):
    """Images of digits, 28x28, with an int64 label [1] each. Source: paddle.vision.datasets.MNIST.

    image_path, label_path: the local files, such as `train-images-idx3-ubyte.gz`. Raises UnsupportedError without them:
    nothing is downloaded.

    Example:
        >>> import vitrify as paddle
        >>> import struct, tempfile
        >>> from pathlib import Path
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "images").write_bytes(struct.pack(">4i", 2051, 2, 28, 28) + bytes(2 * 28 * 28))
        >>> _ = (folder / "labels").write_bytes(struct.pack(">2i", 2049, 2) + bytes([7, 3]))
        >>> digits = paddle.vision.datasets.MNIST(str(folder / "images"), str(folder / "labels"), backend="cv2")
        >>> image, label = digits[0]
        >>> len(digits), image.shape, label
        (2, (28, 28), array([7]))
    """

    NAME = "mnist"

    def __init__(
        self, image_path: str | None = None, label_path: str | None = None, mode: str = "train",
        transform: Callable[[Any], Any] | None = None, download: bool = True, backend: str | None = None,
    ) -> None:  # fmt: skip
        owner = type(self).__name__
        self.mode = mode_of(owner, mode, ("train", "test"))
        self.images = _read(local(owner, "image_path", image_path), _IMAGES)
        self.labels = _read(local(owner, "label_path", label_path), _LABELS).astype(np.int64)
        if len(self.images) != len(self.labels):
            raise FileFormatError(f"{owner}: {len(self.images)} images, but {len(self.labels)} labels")
        self.transform = transform
        self.backend = backend

    def __getitem__(self, idx: int) -> Any:
        pil = require("PIL.Image", extra="vision", purpose=type(self).__name__).fromarray(self.images[idx])
        image = in_backend(pil, self.backend)
        return image if self.transform is None else self.transform(image), self.labels[idx : idx + 1]

    def __len__(self) -> int:
        return len(self.labels)


class FashionMNIST(MNIST):
    """Images of clothes in MNIST's form. Source: paddle.vision.datasets.FashionMNIST.

    Example:
        >>> import vitrify as paddle
        >>> import struct, tempfile
        >>> from pathlib import Path
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "images").write_bytes(struct.pack(">4i", 2051, 1, 28, 28) + bytes(28 * 28))
        >>> _ = (folder / "labels").write_bytes(struct.pack(">2i", 2049, 1) + bytes([9]))
        >>> clothes = paddle.vision.datasets.FashionMNIST(str(folder / "images"), str(folder / "labels"))
        >>> clothes[0][0].size, clothes[0][1]
        ((28, 28), array([9]))
    """

    NAME = "fashion-mnist"
