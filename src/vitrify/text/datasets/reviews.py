"""Reviews of films, good and bad. Source: Maas et al. 2011."""

from __future__ import annotations

import string
from collections import Counter
from typing import Any

import numpy as np

from ...core.errors import FileFormatError
from ...io.dataset import Dataset
from ...io.local_files import local, mode_of
from .words import UNKNOWN, members, numbered

_PUNCTUATION = string.punctuation.encode()


def _words(text: bytes) -> list[bytes]:
    return text.rstrip(b"\n\r").translate(None, _PUNCTUATION).lower().split()


class Imdb(Dataset[Any]):
    """Numbers of words [n], int64, and a label [1] each: 0 good, 1 bad. Source: paddle.text.Imdb.

    data_file: the local `aclImdb_v1.tar.gz`. Raises UnsupportedError without it: nothing is downloaded. `word_idx` maps
    words (bytes) that come more than `cutoff` times to their numbers, and `"<unk>"` stands for the others.

    Example:
        >>> import vitrify as paddle
        >>> import io, tarfile, tempfile
        >>> path = tempfile.mkdtemp() + "/aclImdb_v1.tar.gz"
        >>> with tarfile.open(path, "w:gz") as archive:
        ...     for kind, text in (("pos", b"good, good film"), ("neg", b"bad film")):
        ...         info = tarfile.TarInfo(f"aclImdb/train/{kind}/0_9.txt")
        ...         info.size = len(text)
        ...         archive.addfile(info, io.BytesIO(text))
        >>> reviews = paddle.text.Imdb(path, cutoff=1)
        >>> sorted(reviews.word_idx, key=str), reviews[0][0].shape, reviews[1][1]
        (['<unk>', b'film', b'good'], (3,), array([1]))
    """

    def __init__(
        self, data_file: str | None = None, mode: str = "train", cutoff: int = 150, download: bool = True
    ) -> None:
        self.mode = mode_of("Imdb", mode, ("train", "test"))
        path = local("Imdb", "data_file", data_file)
        counts: Counter[bytes | str] = Counter()
        texts: dict[str, list[list[bytes]]] = {"pos": [], "neg": []}
        for name, content in members(path, r"aclImdb/(train|test)/(pos|neg)/.*\.txt$"):
            words = _words(content)
            counts.update(words)
            _, part, kind, _ = name.rsplit("/", 3)
            if part == self.mode:
                texts[kind].append(words)
        if not counts:
            raise FileFormatError(f"{path} has no reviews such as aclImdb/train/pos/0_9.txt")
        self.word_idx = numbered(counts, cutoff)
        other = self.word_idx[UNKNOWN]
        self.docs = [[self.word_idx.get(w, other) for w in text] for kind in ("pos", "neg") for text in texts[kind]]
        self.labels = [0] * len(texts["pos"]) + [1] * len(texts["neg"])

    def __getitem__(self, idx: int) -> Any:
        return np.array(self.docs[idx], np.int64), np.array([self.labels[idx]])

    def __len__(self) -> int:
        return len(self.docs)
