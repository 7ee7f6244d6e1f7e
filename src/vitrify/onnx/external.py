"""The tensors of an ONNX model that lie in files beside it, as large models have them, written and read.

A model and its tensors are two files, and other readers than ours compare nothing. So the tensors never take the place
of those that an older model names: they get a name of their own, the model takes its place, then the older ones are
removed. A process that is killed at any moment leaves a model with its own tensors.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from ..core.atomic_file import atomic_file
from ..core.dtype import DType, from_np
from ..core.errors import FileFormatError
from ..core.little_endian import little_endian
from ..core.mapped_file import mapped_tensors
from .graph import element_type, onnx_package

Array = np.ndarray[Any, Any]
EXTERNAL_FROM = 1024
"""Tensors of so many bytes go into the file beside the model."""
ALIGN, PAGE, PAGED_FROM = 64, 1 << 16, 1 << 20
"""Where tensors start in that file, so that others can map them; large ones at what is a page on every system."""
_CHUNK = 1 << 24
_SHA1 = re.compile(r"[0-9a-f]{40}")
_LONGEST_NUMBER = 18
_KNOWN = ("location", "offset", "length", "checksum", "basepath")


# -- writing -----------------------------------------------------------------------------------------------------------


def write_beside(file: str, tensors: Mapping[str, Array]) -> list[Any]:
    """Write the tensors into a file beside the model `file`; gives a TensorProto for each, which says where it lies."""
    digest = hashlib.sha1(usedforsecurity=False)
    for part in _parts(tensors):
        digest.update(part)
    checksum = digest.hexdigest()
    place = file + ".data"
    if os.path.lexists(place):  # a model may name it
        place = f"{file}.{checksum[:8]}.data"
    with atomic_file(place) as out:
        for part in _parts(tensors):
            out.write(part)
    offsets = _offsets(tensors)
    return [_proto(n, a, os.path.basename(place), offsets[n], checksum) for n, a in tensors.items()]


def remove_older(file: str, protos: list[Any]) -> None:
    """Remove the files of tensors that models which `file` held before have named."""
    kept = {entry.value for proto in protos for entry in proto.external_data if entry.key == "location"}
    folder, name = os.path.split(os.path.abspath(file))
    ours = re.compile(re.escape(name) + r"(\.[0-9a-f]{8})?\.data")
    for other in os.listdir(folder):
        if ours.fullmatch(other) and other not in kept:
            with suppress(OSError):  # gone, or in use where systems do not let files go
                os.unlink(os.path.join(folder, other))


def _offsets(tensors: Mapping[str, Array]) -> dict[str, int]:
    at, found = 0, {}
    for name, array in tensors.items():
        step = PAGE if array.nbytes >= PAGED_FROM else ALIGN
        found[name] = -(-at // step) * step
        at = found[name] + array.nbytes
    return found


def _parts(tensors: Mapping[str, Array]) -> Iterator[bytes | memoryview]:
    at = 0
    for array, offset in zip(tensors.values(), _offsets(tensors).values()):
        yield bytes(offset - at)
        yield little_endian(array)
        at = offset + array.nbytes


def _proto(name: str, array: Array, location: str, offset: int, checksum: str) -> Any:
    onnx = onnx_package()
    made = onnx.TensorProto(name=name, dims=array.shape, data_type=element_type(from_np(array.dtype)))
    made.data_location = onnx.TensorProto.EXTERNAL
    said = {"location": location, "offset": str(offset), "length": str(array.nbytes), "checksum": checksum}
    for key, value in said.items():
        made.external_data.add(key=key, value=value)
    return made


# -- reading -----------------------------------------------------------------------------------------------------------


class Beside:
    """The files in a model's folder that hold its tensors. Each is mapped once, and compared with its checksum."""

    def __init__(self, folder: str) -> None:
        self._folder = os.path.realpath(folder)
        self._maps: dict[str, memoryview] = {}
        self._sums: dict[str, str] = {}

    def array(self, tensor: Any, dtype: DType, shape: tuple[int, ...], size: int) -> Array:
        """The tensor's elements, which stay in the file until they are touched.

        Raises FileFormatError for places outside of the folder or of the file, for files that are not there, and for
        those that changed since the model was written.
        """
        said = self._said(tensor)
        location = said.get("location", "")
        data = self._mapped(tensor.name, location)
        self._check_sum(location, data, said.get("checksum"))
        start = _number(tensor.name, said.get("offset", "0"))
        if _number(tensor.name, said.get("length", str(size))) != size or start + size > data.nbytes:
            raise FileFormatError(f"tensor {tensor.name!r} does not fit into {location!r}")
        read = np.frombuffer(data[start : start + size], dtype.np.newbyteorder("<"))
        return read.astype(dtype.np, copy=False).reshape(shape)

    def _said(self, tensor: Any) -> dict[str, str]:
        found: dict[str, str] = {}
        for entry in tensor.external_data:
            if entry.key in found:
                raise FileFormatError(f"tensor {tensor.name!r} says its {entry.key} twice")
            if entry.key in _KNOWN:
                found[entry.key] = entry.value
        return found

    def _mapped(self, name: str, location: str) -> memoryview:
        if location not in self._maps:
            parts = location.split("/")
            file = os.path.join(self._folder, *parts)
            # Links may lead anywhere, and drives and backslashes are places of some systems.
            is_plain = not set(parts) & {"", ".", ".."} and not re.search(r"[\\:\0]", location)
            if not is_plain or os.path.realpath(file) != file:
                raise FileFormatError(f"tensor {name!r} lies at {location!r}: only files beside the model are read")
            if not os.path.isfile(file):
                raise FileFormatError(
                    f"tensor {name!r} lies at {location!r}, and there is no such file beside the model",
                    hint="a model whose tensors lie beside it is copied together with that file",
                )
            self._maps[location] = mapped_tensors(file)
        return self._maps[location]

    def _check_sum(self, location: str, data: memoryview, checksum: str | None) -> None:
        if checksum is None:
            return
        if not _SHA1.fullmatch(checksum):
            raise FileFormatError(f"the checksum of {location!r} is none of ONNX's, which are SHA-1")
        if location not in self._sums:
            digest = hashlib.sha1(usedforsecurity=False)
            for at in range(0, data.nbytes, _CHUNK):
                digest.update(data[at : at + _CHUNK])
            self._sums[location] = digest.hexdigest()
        if checksum != self._sums[location]:
            raise FileFormatError(
                f"{location!r} was changed, or belongs to another model than the one that names it (checksum)",
                hint="copy both files again from where they were made, or export both again",
            )


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > _LONGEST_NUMBER:
        raise FileFormatError(f"tensor {name!r} lies at {text!r}, which is no place in a file")
    return int(text)
