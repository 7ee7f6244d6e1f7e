"""`paddle.utils.download`: files that model code names by their address; nothing is downloaded here."""

from __future__ import annotations

import hashlib
import logging
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from ..core.errors import DTypeError, FileFormatError, UnsupportedError

logger = logging.getLogger("vitrify.utils.download")
WEIGHTS_HOME = "~/.cache/paddle/hapi/weights"


def get_weights_path_from_url(url: str, md5sum: str | None = None) -> str:
    """The local file of these weights; see `get_path_from_url`. Source: paddle.utils.download."""
    return get_path_from_url(url, WEIGHTS_HOME, md5sum)


def get_path_from_url(
    url: str, root_dir: str, md5sum: str | None = None, check_exist: bool = True, decompress: bool = True
) -> str:
    """The path of the file in `root_dir` that has the name at the end of `url`, where somebody has put it before.

    Raises UnsupportedError where there is none, FileFormatError where its MD5 sum is another one.
    Source: paddle.utils.download.get_path_from_url.
    """
    path = Path(root_dir).expanduser() / url.rpartition("/")[2]
    if not path.exists():
        raise UnsupportedError(
            f"get_path_from_url: vitrify does not download, and there is no {path}", hint=f"put {url} there yourself"
        )
    if md5sum is not None and path.is_file():
        found = md5file(path)
        if found != md5sum:
            raise FileFormatError(f"get_path_from_url: {path} has the MD5 sum {found}, expected {md5sum}")
    return str(path)


def is_url(path: str) -> bool:
    """Whether `path` begins as an address of the web does. Source: paddle.utils.download.is_url."""
    return path.startswith(("http://", "https://"))


def _get_unique_endpoints(trainer_endpoints: Iterable[str]) -> set[str]:
    """The first of the endpoints `host:port` of each host, which downloads for the others."""
    firsts: dict[str, str] = {}
    for endpoint in trainer_endpoints:
        firsts.setdefault(endpoint.partition(":")[0], endpoint)
    return set(firsts.values())


def _decompress(fname: str) -> str:
    """Unpack a `.tar` (compressed or not) or `.zip` file beside it, and return the path of the one file or folder in
    it, or of a folder of its own for several.

    Raises TypeError for other files, FileFormatError for paths that lead elsewhere.
    """
    path = Path(fname)
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as tar:
            place, found = _unpacked(path, tar.getnames())
            tar.extractall(place, filter="data")
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            place, found = _unpacked(path, archive.namelist())
            archive.extractall(place)
    else:
        raise DTypeError(f"_decompress: {fname} is neither a tar nor a zip file")
    return str(found)


def _unpacked(path: Path, names: list[str]) -> tuple[Path, Path]:
    """Where files of these names are put, and what is there afterwards."""
    if any(PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts for name in names):
        raise FileFormatError(f"_decompress: {path} has files that belong outside of its folder")
    tops = {PurePosixPath(name).parts[0] for name in names if PurePosixPath(name).parts}
    own = path.parent / path.name.partition(".")[0]
    return (path.parent, path.parent / tops.pop()) if len(tops) == 1 else (own, own)


def md5file(fname: str | Path) -> str:
    """The MD5 sum of a file. Source: paddle.dataset.common.md5file."""
    return hashlib.md5(Path(fname).read_bytes(), usedforsecurity=False).hexdigest()


__all__ = ["get_path_from_url", "get_weights_path_from_url", "is_url", "md5file"]
