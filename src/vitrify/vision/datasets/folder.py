"""Data sets that are folders. Source: paddle.vision.datasets.folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...core.errors import ArgumentError
from ...io.dataset import Dataset
from ...io.local_files import local
from ..image import image_load

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")

_HINT = "extensions or is_valid_file say which files do"


def _load(path: str) -> Any:
    image = image_load(path)
    return image.convert("RGB") if hasattr(image, "convert") else image


def _files(
    owner: str, root: Path, extensions: Sequence[str] | None, is_valid_file: Callable[[str], bool] | None
) -> list[str]:
    """Every file below `root` that counts, sorted; raises ArgumentError when there is none, or both tests are given."""
    if extensions is not None and is_valid_file is not None:
        raise ArgumentError(f"{owner}: give extensions or is_valid_file, not both")
    ends = tuple(e.lower() for e in (IMG_EXTENSIONS if extensions is None else extensions))
    counts = is_valid_file or (lambda path: path.lower().endswith(ends))
    return [str(path) for path in sorted(root.rglob("*")) if path.is_file() and counts(str(path))]


class DatasetFolder(Dataset[Any]):
    """The files of `root/<class>/...`, each with the number of its class. Source: paddle.vision.datasets.DatasetFolder.

    loader: path -> sample, an RGB image by default. Raises ArgumentError when no file counts.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> from pathlib import Path
        >>> root = Path(tempfile.mkdtemp())
        >>> for name in ("cat", "dog"):
        ...     (root / name).mkdir()
        ...     _ = (root / name / "1.txt").write_text(f"a {name}")
        >>> texts = paddle.vision.datasets.DatasetFolder(str(root), lambda path: Path(path).read_text(), (".txt",))
        >>> texts.classes, texts[1]
        (['cat', 'dog'], ('a dog', 1))
    """

    def __init__(
        self, root: str, loader: Callable[[str], Any] | None = None, extensions: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None, is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:  # fmt: skip
        folder = local("DatasetFolder", "root", root)
        self.root = root
        self.loader = loader or _load
        self.extensions = IMG_EXTENSIONS if extensions is None and is_valid_file is None else extensions
        self.transform = transform
        self.classes = sorted(path.name for path in folder.iterdir() if path.is_dir())
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
        self.samples = [
            (path, number)
            for name, number in self.class_to_idx.items()
            for path in _files("DatasetFolder", folder / name, extensions, is_valid_file)
        ]
        if not self.samples:
            raise ArgumentError(f"DatasetFolder: no file below {root} counts", hint=_HINT)
        self.targets = [number for _, number in self.samples]

    def __getitem__(self, index: int) -> Any:
        path, target = self.samples[index]
        sample = self.loader(path)
        return sample if self.transform is None else self.transform(sample), target

    def __len__(self) -> int:
        return len(self.samples)


class ImageFolder(Dataset[Any]):
    """The files below `root`, each as a list of one sample. Source: paddle.vision.datasets.ImageFolder.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> from pathlib import Path
        >>> root = Path(tempfile.mkdtemp())
        >>> _ = (root / "1.txt").write_text("hello")
        >>> paddle.vision.datasets.ImageFolder(str(root), lambda path: Path(path).read_text(), (".txt",))[0]
        ['hello']
    """

    def __init__(
        self, root: str, loader: Callable[[str], Any] | None = None, extensions: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None, is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:  # fmt: skip
        self.root = root
        self.loader = loader or _load
        self.extensions = IMG_EXTENSIONS if extensions is None and is_valid_file is None else extensions
        self.transform = transform
        self.samples = _files("ImageFolder", local("ImageFolder", "root", root), extensions, is_valid_file)
        if not self.samples:
            raise ArgumentError(f"ImageFolder: no file below {root} counts", hint=_HINT)

    def __getitem__(self, index: int) -> Any:
        sample = self.loader(self.samples[index])
        return [sample if self.transform is None else self.transform(sample)]

    def __len__(self) -> int:
        return len(self.samples)
