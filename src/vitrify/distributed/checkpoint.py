"""Checkpoints that are folders, of which each process would write a part; one process writes all of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..core.errors import ArgumentError, DTypeError, FileFormatError, MissingFileError, ShapeError, UnsupportedError
from ..eager.tensor import Tensor
from ..framework.save_load import load, save

_FILE = re.compile(r"0_(\d+)\.distcp")


def _flat(op: str, state: Any, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, Tensor]]:
    """The tensors in nested dicts, by the keys that lead to them with dots between."""
    if not isinstance(state, Mapping):
        raise DTypeError(f"{op}: state_dict must be a dict, got {type(state).__name__}")
    for key, value in state.items():
        path = (*prefix, str(key))
        if isinstance(value, Mapping):
            yield from _flat(op, value, path)
        elif isinstance(value, Tensor):
            yield ".".join(path), value
        else:
            raise DTypeError(f"{op}: {'.'.join(path)} must be a dict or a Tensor, got {type(value).__name__}")


def _unique(op: str, state: Any) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for name, tensor in _flat(op, state):
        if name in found:
            raise ArgumentError(f"{op}: two tensors of state_dict have the name {name}")
        found[name] = tensor
    return found


def _ids(folder: Path) -> list[int]:
    return sorted(int(found[1]) for file in folder.glob("*.distcp") if (found := _FILE.fullmatch(file.name)))


def _file(folder: Path, unique_id: int) -> Path:
    return folder / f"0_{unique_id}.distcp"


def _refuse_safetensors(op: str, wanted: bool) -> None:
    if wanted:
        raise UnsupportedError(
            f"{op}: files of safetensors are not supported here", hint="leave safetensors=False for vitrify's own files"
        )


def save_state_dict(
    state_dict: Mapping[str, Any], path: str, process_group: Any = None, coordinator_rank: int = 0,
    unique_id: int | None = None, async_save: bool = False, safetensors: bool = False, save_replicas: bool = False,
) -> None:  # fmt: skip
    """Write a dict of tensors, and of dicts of them, to the folder `path` as its checkpoint `unique_id`.

    unique_id: None for one more than the highest there, from 0 on; that of another replaces it. The file, in vitrify's
    format, is complete before this returns, with async_save, too. process_group, coordinator_rank and save_replicas
    have no effect in one process. Raises DTypeError for what is neither dict nor tensor, UnsupportedError for
    safetensors. Source: paddle.distributed.save_state_dict.

    Example:
        >>> import tempfile
        >>> import vitrify as paddle
        >>> folder = tempfile.mkdtemp()
        >>> paddle.distributed.save_state_dict({"w": paddle.arange(3)}, folder)
        >>> state = {"w": paddle.zeros([3], "int64")}
        >>> paddle.distributed.load_state_dict(state, folder)
        >>> state["w"].tolist()
        [0, 1, 2]
    """
    _refuse_safetensors("save_state_dict", safetensors)
    tensors = _unique("save_state_dict", state_dict)
    folder = Path(path)
    number = max(_ids(folder), default=-1) + 1 if unique_id is None else unique_id
    folder.mkdir(parents=True, exist_ok=True)
    save(tensors, _file(folder, number))


def load_state_dict(
    state_dict: Mapping[str, Any], path: str, process_group: Any = None, coordinator_rank: int = 0,
    unique_id: int | None = None, offload: bool = False, mw_name_compatibility: bool = True, aoa_config: Any = None,
    safetensors: bool = False, worker_groups: Any = None, comm_method: str = "broadcast",
) -> None:  # fmt: skip
    """Set the tensors of a dict, and of dicts in it, to those that `save_state_dict` wrote to `path` under their names.

    unique_id: None for the checkpoint with the highest one. What one process of PaddlePaddle wrote is read, too. All
    are looked at before the first changes: raises KeyError for a name that the checkpoint lacks, ShapeError and
    DTypeError for other shapes and dtypes, MissingFileError where there is no checkpoint, UnsupportedError for
    safetensors and aoa_config. Other arguments have no effect in one process.
    Source: paddle.distributed.load_state_dict.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> paddle.distributed.save_state_dict({"w": paddle.ones([2])}, folder)
        >>> state = {"w": paddle.zeros([2])}
        >>> paddle.distributed.load_state_dict(state, folder)
        >>> state["w"].tolist()
        [1.0, 1.0]
    """
    _refuse_safetensors("load_state_dict", safetensors)
    if aoa_config:
        raise UnsupportedError("load_state_dict: aoa_config, which renames and joins tensors, is not supported")
    tensors = _unique("load_state_dict", state_dict)
    saved = _read(Path(path), unique_id)
    for name, tensor in tensors.items():
        if name not in saved:
            raise KeyError(f"load_state_dict: the checkpoint in {path} has no {name}")
        given = saved[name]
        if list(given.shape) != list(tensor.shape):
            raise ShapeError(f"load_state_dict: {name} is {list(tensor.shape)}, in the checkpoint {list(given.shape)}")
        if given.dtype != tensor.dtype:
            raise DTypeError(f"load_state_dict: {name} is {tensor.dtype}, in the checkpoint {given.dtype}")
    for name, tensor in tensors.items():
        tensor.set_value(saved[name])


def _read(folder: Path, unique_id: int | None) -> dict[str, Tensor]:
    ids = _ids(folder)
    if not ids or unique_id not in (None, *ids):
        wanted = "" if unique_id is None else f" {unique_id}"
        there = f"; there are {', '.join(map(str, ids))}" if ids else ""
        raise MissingFileError(f"load_state_dict: {folder} has no checkpoint{wanted} of save_state_dict{there}")
    file = _file(folder, ids[-1] if unique_id is None else unique_id)
    saved = load(file)
    if not isinstance(saved, dict) or not all(isinstance(value, Tensor) for value in saved.values()):
        raise FileFormatError(f"load_state_dict: {file} was not written by save_state_dict")
    return saved


__all__ = ["load_state_dict", "save_state_dict"]
