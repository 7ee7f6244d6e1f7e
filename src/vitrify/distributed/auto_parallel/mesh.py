"""A mesh of processes: written as Paddle writes it, with one process in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from ...core.errors import ArgumentError
from ...core.setting import Setting
from ..environment import only_one


class ProcessMesh:
    """The processes, laid out in an array with named dimensions. Source: paddle.distributed.ProcessMesh.

    A mesh can be described with any number of processes, so that code for a cluster can be read; what lays tensors out
    over it (`shard_tensor`, `reshard`, ...) raises UnsupportedError if there is more than one.

    Raises:
        ArgumentError: If dim_names has not one name for each dimension.

    Example:
        >>> import vitrify as paddle
        >>> mesh = paddle.distributed.ProcessMesh([[0, 1], [2, 3]], dim_names=["dp", "mp"])
        >>> mesh.shape, mesh.ndim, mesh.process_ids, mesh.get_dim_size("mp")
        ([2, 2], 2, [0, 1, 2, 3], 2)
    """

    def __init__(
        self,
        mesh: Any = None,
        dim_names: Sequence[str] | None = None,
        shape: Sequence[int] | None = None,
        process_ids: Iterable[int] | None = None,
    ) -> None:
        if mesh is None:
            if shape is None or process_ids is None:
                raise ArgumentError("ProcessMesh: give mesh, or both shape and process_ids")
            mesh = np.array(list(process_ids)).reshape(list(shape))
        self._mesh = np.array(mesh)
        self._names = [f"d{i}" for i in range(self._mesh.ndim)] if dim_names is None else list(dim_names)
        if len(self._names) != self._mesh.ndim:
            raise ArgumentError(f"ProcessMesh: {len(self._names)} dim_names for {self._mesh.ndim} dimensions")

    mesh = property(lambda self: self._mesh, doc="The ids of the processes, an ndarray.")
    shape = property(lambda self: list(self._mesh.shape), doc="How many processes there are along each dimension.")
    ndim = property(lambda self: self._mesh.ndim, doc="The number of dimensions.")
    size = property(lambda self: self._mesh.size, doc="The number of processes.")
    dim_names = property(lambda self: list(self._names), doc="The name of each dimension.")
    process_ids = unique_process_ids = property(lambda self: self._mesh.ravel().tolist(), doc="All ids, in order.")

    def get_dim_size(self, dim_name: str) -> int:
        """The number of processes along the dimension of that name; ArgumentError if there is none."""
        return int(self._mesh.shape[self._dimension(dim_name)])

    def get_mesh_with_dim(self, dim_name: str, index: int | None = None) -> ProcessMesh:
        """The mesh with that dimension first, or what it holds at `index` of it."""
        axis = self._dimension(dim_name)
        names = [dim_name, *(name for name in self._names if name != dim_name)]
        moved = np.moveaxis(self._mesh, axis, 0)
        return ProcessMesh(moved, names) if index is None else ProcessMesh(moved[index], names[1:])

    def get_rank_by_dim_and_process_id(self, dim: str | int, process_id: int) -> int:
        """Where a process stands along a dimension, -1 if it is not in the mesh."""
        axis = dim if isinstance(dim, int) else self._dimension(dim)
        found = np.argwhere(self._mesh == process_id)
        return int(found[0][axis]) if len(found) else -1

    def _dimension(self, name: str) -> int:
        if name not in self._names:
            raise ArgumentError(f"ProcessMesh: no dimension {name!r}, there are {', '.join(self._names)}")
        return self._names.index(name)

    def __getitem__(self, index: Any) -> ProcessMesh:
        part = self._mesh[index]
        index = index if isinstance(index, tuple) else (index,)
        kept = [name for name, at in zip(self._names, index, strict=False) if isinstance(at, slice)]
        return ProcessMesh(part, [*kept, *self._names[len(index) :]]) if part.ndim else ProcessMesh([int(part)])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ProcessMesh)
            and self._names == other._names
            and self.shape == other.shape
            and self.process_ids == other.process_ids
        )

    def __hash__(self) -> int:
        return hash((tuple(self._mesh.shape), tuple(self.process_ids), tuple(self._names)))

    def __repr__(self) -> str:
        return f"ProcessMesh(shape={self.shape}, process_ids={self.process_ids}, dim_names={self._names})"

    __str__ = __repr__


_mesh: Setting[ProcessMesh | None] = Setting("mesh of processes", None)


def set_mesh(mesh: ProcessMesh) -> None:
    """Make `mesh` the one that `get_mesh` gives. Source: paddle.distributed.set_mesh.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.set_mesh(paddle.distributed.ProcessMesh([0], dim_names=["x"]))
        >>> paddle.distributed.get_mesh().dim_names
        ['x']
    """
    _mesh.set(mesh)


def get_mesh() -> ProcessMesh | None:
    """The mesh that `set_mesh` was given, None before. Source: paddle.distributed.get_mesh.

    Example:
        >>> import vitrify as paddle
        >>> mesh = paddle.distributed.ProcessMesh([0], dim_names=["x"])
        >>> paddle.distributed.set_mesh(mesh)
        >>> paddle.distributed.get_mesh() == mesh
        True
    """
    return _mesh.get()


def create_mesh(mesh_dims: Sequence[tuple[str, int]]) -> ProcessMesh:
    """Set and return the mesh of all processes with these names and sizes of dimensions.

    Source: paddle.distributed.fleet.auto.create_mesh.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.auto_parallel.create_mesh([("dp", 1), ("mp", 1)])
        ProcessMesh(shape=[1, 1], process_ids=[0], dim_names=['dp', 'mp'])
    """
    names, sizes = [name for name, _ in mesh_dims], [size for _, size in mesh_dims]
    only_one("create_mesh", prod(sizes))
    mesh = ProcessMesh(np.zeros(sizes, "int64"), names)
    set_mesh(mesh)
    return mesh


__all__ = ["ProcessMesh", "create_mesh", "get_mesh", "set_mesh"]
