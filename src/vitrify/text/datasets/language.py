"""Sentences of newspapers, for language models. Source: Mikolov et al. 2010 (Penn Treebank)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ...core.errors import ArgumentError
from ...io.dataset import Dataset
from ...io.local_files import local, mode_of
from .words import UNKNOWN, lines_of, numbered

_START, _END = "<s>", "<e>"


class Imikolov(Dataset[Any]):
    """Windows of words, or sentences and the words that follow, as int64 numbers. Source: paddle.text.Imikolov.

    data_file: the local `simple-examples.tgz`. Raises UnsupportedError without it: nothing is downloaded.
    data_type: "NGRAM" gives `window_size` numbers; "SEQ" gives a sentence [n] that starts with `<s>`, and the one
    [n] after it that ends with `<e>`; longer ones than a positive `window_size` are left out. `word_idx` maps words
    (bytes) that come more than `min_word_freq` times, and the marks (str), to their numbers.

    Example:
        >>> import vitrify as paddle
        >>> import io, tarfile, tempfile
        >>> path = tempfile.mkdtemp() + "/simple-examples.tgz"
        >>> with tarfile.open(path, "w:gz") as archive:
        ...     for part in ("train", "valid"):
        ...         text = b"the cat saw the dog"
        ...         info = tarfile.TarInfo(f"./simple-examples/data/ptb.{part}.txt")
        ...         info.size = len(text)
        ...         archive.addfile(info, io.BytesIO(text))
        >>> windows = paddle.text.Imikolov(path, window_size=3, min_word_freq=0)
        >>> len(windows), len(windows[0])
        (5, 3)
    """

    def __init__(
        self, data_file: str | None = None, data_type: str = "NGRAM", window_size: int = -1, mode: str = "train",
        min_word_freq: int = 50, download: bool = True,
    ) -> None:  # fmt: skip
        self.data_type = data_type.upper()
        if self.data_type not in ("NGRAM", "SEQ"):
            raise ArgumentError(f"Imikolov: data_type must be NGRAM or SEQ, got {data_type!r}")
        if self.data_type == "NGRAM" and window_size < 1:
            raise ArgumentError(f"Imikolov: window_size must be positive for NGRAM, got {window_size}")
        self.window_size = window_size
        self.mode = mode_of("Imikolov", mode, ("train", "test"))
        path = local("Imikolov", "data_file", data_file)
        counts: Counter[bytes | str] = Counter()
        for part in ("train", "valid"):
            for line in lines_of(path, f"data/ptb.{part}.txt"):
                counts.update([_START, *line.split(), _END])
        self.word_idx = numbered(counts, min_word_freq)
        other = self.word_idx[UNKNOWN]
        start, end = self.word_idx.get(_START, other), self.word_idx.get(_END, other)
        self.data: list[Any] = []
        for line in lines_of(path, f"data/ptb.{self.mode}.txt"):
            self._add([start, *[self.word_idx.get(word, other) for word in line.split()], end])

    def _add(self, ids: list[int]) -> None:
        """What one sentence, with its marks, gives."""
        size = self.window_size
        if self.data_type == "NGRAM":
            self.data += [tuple(ids[i : i + size]) for i in range(len(ids) - size + 1)]
        elif size <= 0 or len(ids) - 1 <= size:
            self.data.append((ids[:-1], ids[1:]))

    def __getitem__(self, idx: int) -> Any:
        return tuple(np.array(part, np.int64) for part in self.data[idx])

    def __len__(self) -> int:
        return len(self.data)
