"""Datasets of text files that `Executor.train_from_dataset` goes through: streamed, or held in memory and shuffled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from ..core.errors import ArgumentError, UnsupportedError
from .slots import Sample, batch_of, checked_slots, lines_of, sample_of

_T = TypeVar("_T")
_SERVERS = "is for parameter servers, of which there are none"

# Settings and what they are without being set. Those behind `use_var` and the commands say how many threads read and
# where Hadoop is: one thread reads here, from files of this machine.
_SETTINGS: dict[str, Any] = {
    "batch_size": 1,
    "use_var": (),
    "pipe_command": "cat",
    "download_cmd": "cat",
    "thread_num": 1,
    "input_type": 0,
    "fs_name": "",
    "fs_ugi": "",
}
_IN_MEMORY: dict[str, Any] = {**_SETTINGS, "data_feed_type": "MultiSlotInMemoryDataFeed", "queue_num": -1}
_FEEDS = ("MultiSlotDataFeed", "MultiSlotInMemoryDataFeed")


class DatasetBase:
    """What the datasets share: settings and files.

    A file has a line for each sample. For each variable of `use_var` in turn the line says how many values follow, and
    the values: "3 0.1 0.2 0.3 1 7". Values of a batch lie behind each other in the variable's shape.
    """

    _known = _SETTINGS

    def __init__(self) -> None:
        self._settings = dict(self._known)
        self._files: list[str] = []

    def init(self, **kwargs: Any) -> None:
        """Set batch_size, use_var, pipe_command (a shell command that every file goes through) and the others.

        thread_num, queue_num and input_type are taken, and one thread reads. Raises ArgumentError for a setting that
        there is none of, UnsupportedError for files on Hadoop.
        """
        unknown = sorted(set(kwargs) - set(self._known))
        if unknown:
            raise ArgumentError(
                f"{type(self).__name__}.init: there is no setting {unknown[0]!r}",
                hint=f"settings are {', '.join(self._known)}",
            )
        if kwargs.get("fs_name") or kwargs.get("fs_ugi"):
            raise UnsupportedError("fs_name reads files from Hadoop", hint="copy them, or set download_cmd")
        if kwargs.get("data_feed_type", _FEEDS[0]) not in _FEEDS:
            raise UnsupportedError(f"data_feed_type {kwargs['data_feed_type']!r}", hint=f"use {' or '.join(_FEEDS)}")
        if kwargs.get("batch_size", 1) < 1:
            raise ArgumentError(f"batch_size must be at least 1, got {kwargs['batch_size']}")
        if "use_var" in kwargs:
            kwargs["use_var"] = checked_slots(kwargs["use_var"])
        self._settings.update(kwargs)

    def set_filelist(self, filelist: Sequence[str]) -> None:
        """Set the files, read in this order."""
        self._files = [str(path) for path in filelist]

    def feeds(self) -> Iterator[dict[str, np.ndarray[Any, Any]]]:
        """Yield what an Executor is fed, batch by batch; the last one may be smaller."""
        slots = self._slots()
        for samples in _in_groups(self._samples(), self._settings["batch_size"]):
            yield batch_of(samples, slots)

    def _slots(self) -> Any:
        if not self._settings["use_var"]:
            raise ArgumentError("the dataset has no use_var", hint="dataset.init(batch_size=8, use_var=[x, y])")
        return self._settings["use_var"]

    def _samples(self) -> Iterable[Sample]:
        slots = self._slots()
        for path in self._files:
            lines = lines_of(path, self._settings["pipe_command"], self._settings["download_cmd"])
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield sample_of(line, slots, f"{path}, line {number}")


def _in_groups(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    """Yield lists of `size` items, the last with what is left."""
    left = iter(items)
    while group := list(islice(left, size)):
        yield group


class QueueDataset(DatasetBase):
    """Samples of text files, read as they are used. Source: paddle.distributed.QueueDataset.

    Example:
        >>> import vitrify as paddle
        >>> dataset = paddle.distributed.QueueDataset()
        >>> dataset.init(batch_size=32, pipe_command="cat", use_var=[])
        >>> dataset.set_filelist([])
    """


class InMemoryDataset(DatasetBase):
    """Samples of text files, held in memory and shuffled there. Source: paddle.distributed.InMemoryDataset.

    Shuffles draw from NumPy's global generator, as samplers do. One process has all samples: `global_shuffle` is
    `local_shuffle`. What only parameter servers need raises UnsupportedError.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/part-0"
        >>> with open(path, "w") as file:
        ...     _ = file.write("1 3 1 0" + chr(10) + "1 5 1 1" + chr(10))
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     used = [paddle.static.data(name, [None, 1], "int64") for name in ("words", "label")]
        >>> dataset = paddle.distributed.InMemoryDataset()
        >>> dataset.init(batch_size=2, use_var=used, pipe_command="cat")
        >>> dataset.set_filelist([path])
        >>> dataset.load_into_memory()
        >>> dataset.get_memory_data_size()
        2
    """

    _known = _IN_MEMORY

    def __init__(self) -> None:
        super().__init__()
        self._held: list[Sample] | None = None
        self._exchanged = 0

    def update_settings(self, **kwargs: Any) -> None:
        """Change some settings, as `init` does."""
        self.init(**kwargs)

    def load_into_memory(self, is_shuffle: bool = False) -> None:
        """Read the files. is_shuffle: shuffle the samples as well."""
        self._held = list(super()._samples())
        if is_shuffle:
            self.local_shuffle()

    def preload_into_memory(self, thread_num: int | None = None) -> None:
        """Read the files; in Paddle `thread_num` threads begin to, here they are read when this returns."""
        self.load_into_memory()

    def wait_preload_done(self) -> None:
        """Nothing is left to wait for. Raises ArgumentError if nothing was loaded."""
        self._samples()

    def local_shuffle(self) -> None:
        """Shuffle the samples."""
        held = self._samples()
        self._held = [held[index] for index in np.random.permutation(len(held))]

    def global_shuffle(self, fleet: Any = None, thread_num: int = 12) -> None:
        """Shuffle the samples of all processes, of which there is one."""
        self.local_shuffle()
        self._exchanged = len(self._samples())

    def slots_shuffle(self, slots: Sequence[str]) -> None:
        """Exchange the values of these slots between samples, which shows what a model makes of a slot."""
        names = [slot.name for slot in self._slots()]
        held = self._samples()
        for slot in slots:
            if slot not in names:
                raise ArgumentError(f"slots_shuffle: there is no slot {slot!r}", hint=f"slots are {', '.join(names)}")
            at = names.index(slot)
            values = [held[index][at] for index in np.random.permutation(len(held))]
            for sample, value in zip(held, values):
                sample[at] = value

    def release_memory(self) -> None:
        """Let go of the samples."""
        self._held, self._exchanged = None, 0

    def get_memory_data_size(self, fleet: Any = None) -> int:
        """The number of samples in memory."""
        return len(self._held or ())

    def get_shuffle_data_size(self, fleet: Any = None) -> int:
        """The number of samples that `global_shuffle` went over."""
        return self._exchanged

    def set_date(self, date: str) -> None:
        """Raises UnsupportedError."""
        raise UnsupportedError(f"InMemoryDataset.set_date {_SERVERS}", hint="choose files by set_filelist")

    def tdm_sample(
        self, tree_name: str, tree_path: str, tdm_layer_counts: list[int], start_sample_layer: int,
        with_hierarchy: bool, seed: int, id_slot: int,
    ) -> None:  # fmt: skip
        """Raises UnsupportedError."""
        raise UnsupportedError(f"InMemoryDataset.tdm_sample {_SERVERS}", hint="sample in the pipe_command")

    def _samples(self) -> list[Sample]:
        if self._held is None:
            raise ArgumentError("the InMemoryDataset holds nothing", hint="call load_into_memory() before")
        return self._held
