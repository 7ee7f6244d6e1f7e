"""`save` and `load` of Tensors, state dicts and nested structures of them."""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import Collection, Mapping
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ..core.atomic_file import atomic_file
from ..core.container import Source
from ..core.errors import ArgumentError, DTypeError, FileFormatError
from ..core.plain import from_json, to_json
from ..core.tensor_file import is_tensor_file, read_tensors, write_tensors
from ..eager.tensor import Tensor, wrap
from ..ir.model_file import PARAMS_SUFFIX
from ..ir.program import Program
from ..ir.serialize import program_from_bytes, program_to_bytes
from .paddle_files import from_paddle
from .pickle_data import looks_pickled, read_pickle
from .pickle_writer import to_pickle

Array = npt.NDArray[Any]
Path = str | os.PathLike[str]
_SAVE_OPTIONS = frozenset({"use_binary_format", "format"})
_FORMATS = ("vitrify", "paddle")
_LOAD_OPTIONS = frozenset({"return_numpy", "keep_name_table", "model_filename", "params_filename"})


def save(obj: Any, path: Path | BinaryIO, protocol: int = 4, **configs: Any) -> None:
    """Write `obj` to a file or a binary stream; returns nothing.

    obj: a Tensor, a state dict, a Program, or lists, tuples and dicts of these and of NumPy arrays, numbers, strings,
        None. The file holds raw data behind a checked header (docs/format.md), nothing that could run.
    path: a file (replaced in one step; its folder is made if need be), or an object with `write`.
    format: "vitrify", or "paddle" for files that PaddlePaddle reads as well, which have no checks of their own;
        protocol is theirs (2 to 4). use_binary_format: accepted for Paddle's sake.
    Raises DTypeError naming the place of what cannot be saved, ArgumentError for other arguments. Source: paddle.save.

    Example:
        >>> import io
        >>> import vitrify as paddle
        >>> file = io.BytesIO()
        >>> paddle.save({"step": 3, "w": paddle.to_tensor([1.0, 2.0])}, file)
        >>> _ = file.seek(0)
        >>> paddle.load(file)["w"].tolist()
        [1.0, 2.0]
    """
    _check_options("save", configs, _SAVE_OPTIONS)
    _check_protocol(protocol)
    if callable(getattr(obj, "state_dict", None)):
        kind = type(obj).__name__
        raise ArgumentError(f"paddle.save does not save a {kind} itself", hint="save its .state_dict()")
    if _format(configs) == "paddle":
        _write(_target(path), to_pickle(obj, protocol))
        return
    packed = _Packer()
    note = to_json(obj, packed.leaf, root="obj")
    write_tensors(_target(path), packed.arrays, note)


def load(path: Path | BinaryIO, **configs: Any) -> Any:
    """The object that `save` wrote to a file or binary stream, with new Tensors that want no gradient.

    path: such a file; a file that Paddle's `save` wrote (read without running anything in it); or the prefix given to
        `jit.save`, which gives the state dict.
    return_numpy: arrays in place of Tensors. keep_name_table: keep Paddle's table of parameter names.
    Raises FileFormatError when the file is damaged, of another kind, or holds more than data; ArgumentError when there
    is no such file. Source: paddle.load.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/net.pdparams"
        >>> paddle.save({"weight": paddle.ones([2])}, path)
        >>> paddle.load(path)["weight"].tolist()
        [1.0, 1.0]
    """
    _check_options("load", configs, _LOAD_OPTIONS)
    return_numpy = bool(configs.get("return_numpy", False))
    source = _existing(path)
    if is_tensor_file(source):
        return _unpack(source, return_numpy)
    name, data = _read(source)
    if not looks_pickled(data[:2]):
        raise FileFormatError(f"{name} was written neither by paddle.save nor by vitrify's save")
    return from_paddle(read_pickle(data, name), return_numpy, bool(configs.get("keep_name_table", False)))


# --- packing ---------------------------------------------------------------------------------------------------------


class _Packer:
    """Collects the arrays of an object under the names of their places; one object twice is stored once."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self.known: dict[int, str] = {}

    def leaf(self, value: Any, where: str) -> tuple[str, Any] | None:
        if isinstance(value, Tensor):
            return "tensor", [self.store(value, value.numpy(), where), value.name]
        if isinstance(value, np.ndarray):
            return "ndarray", self.store(value, value, where)
        if isinstance(value, np.generic):
            return "scalar", self.store(value, np.asarray(value), where)
        if isinstance(value, Program):
            return "program", b64encode(program_to_bytes(value)).decode()
        return None

    def store(self, value: Any, array: Array, where: str) -> str:
        name = self.known.get(id(value))
        if name is None:
            name = self.known[id(value)] = self.free_name(where)
            self.arrays[name] = array
        return name

    def free_name(self, where: str) -> str:
        """`w` for obj['w'], `['a'][0]` for obj['a'][0]."""
        place = where.removeprefix("obj")
        inner = place.removeprefix("['").removesuffix("']")
        name = inner if f"['{inner}']" == place and "'" not in inner else place
        while name in self.arrays:
            name += "'"
        return name


def _unpack(source: Source, return_numpy: bool) -> Any:
    file = read_tensors(source)
    tensors: dict[str, Tensor] = {}

    def tensor(body: Any) -> Tensor | Array:
        key, name = body
        if return_numpy:
            return file.tensors[key]
        if key not in tensors:
            tensors[key] = wrap(file.tensors[key])
            tensors[key].name = str(name)
        return tensors[key]

    leaves = {
        "tensor": tensor,
        "ndarray": file.tensors.__getitem__,
        "scalar": lambda key: file.tensors[key][()],
        "program": lambda text: program_from_bytes(b64decode(text, validate=True)),
    }
    return from_json(file.note, leaves)


# --- arguments -------------------------------------------------------------------------------------------------------


def _check_options(function: str, given: Mapping[str, Any], known: Collection[str]) -> None:
    for name in given:
        if name not in known:
            raise ArgumentError(f"The additional config ({name}) of `paddle.{function}` is not supported.")


def _format(configs: Mapping[str, Any]) -> str:
    name: str = configs.get("format", "vitrify")
    if name not in _FORMATS:
        raise ArgumentError(f"save: format must be one of {_FORMATS}, got {name!r}")
    return name


def _write(target: Source, data: bytes) -> None:
    if isinstance(target, (str, os.PathLike)):
        with atomic_file(target) as file:
            file.write(data)
    else:
        target.write(data)


def _check_protocol(protocol: Any) -> None:
    if type(protocol) is not int:
        raise ArgumentError(f"The 'protocol' MUST be `int`, but received {type(protocol)}")
    if not 2 <= protocol <= 4:
        raise ArgumentError(f"Expected 1<'protocol'<5, but received protocol={protocol}")


def _target(path: Any) -> Source:
    """The stream to write to, or the path, its folder made."""
    if hasattr(path, "write"):
        stream: Source = path
        return stream
    name = _path(path)
    if not os.path.basename(name):
        raise ArgumentError(f"save: path must name a file, got {name!r}")
    os.makedirs(os.path.dirname(os.path.abspath(name)), exist_ok=True)
    return name


def _existing(path: Any) -> Source:
    if hasattr(path, "read"):
        stream: Source = path
        return stream
    name = _path(path)
    for candidate in (name, name + PARAMS_SUFFIX):
        if os.path.isfile(candidate):
            return candidate
    raise ArgumentError(f"load: there is no file {name!r} (nor {name + PARAMS_SUFFIX!r})")


def _path(path: Any) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise DTypeError(f"path must be a str, a path or a binary stream, got {type(path).__name__}")
    return os.fspath(path)


def _read(source: Source) -> tuple[str, bytes]:
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            return str(source), file.read()
    return "the stream", source.read()


def read_state(path: str) -> dict[str, Any]:
    """The arrays of a state dict by name, whoever wrote the file; raises FileFormatError for other objects."""
    found = load(path, return_numpy=True)
    if not isinstance(found, dict) or not all(isinstance(v, np.ndarray) for v in found.values()):
        raise FileFormatError(f"{path} holds no dict of tensors by name")
    return found
