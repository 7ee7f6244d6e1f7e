"""Places: where a tensor's data lies, and where new ones are put."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

from .errors import ArgumentError
from .lazy import is_available
from .setting import MODES, Setting

Kind: TypeAlias = Literal["cpu", "gpu", "gpu_pinned", "simulated"]


class Place:
    """A kind of device and its number; immutable, and equal by value.

    >>> CUDAPlace(1), CPUPlace() == as_place("cpu"), isinstance(as_place("gpu:0"), CUDAPlace)
    (Place(gpu:1), True, True)
    """

    __slots__ = ("index", "kind")
    kind: Kind
    index: int

    def __init__(self, kind: Kind, index: int = 0) -> None:
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "index", index)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a place cannot be changed: {self!r}.{name}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self.kind == other.kind and self.index == other.index

    def __hash__(self) -> int:
        return hash((self.kind, self.index))

    def __repr__(self) -> str:
        return f"Place({self.kind}:{self.index})" if self.kind == "gpu" else f"Place({self.kind})"

    def __reduce__(self) -> tuple[object, tuple[Kind, int]]:
        return _make, (self.kind, self.index)

    def is_cpu_place(self) -> bool:
        """Say whether this is ordinary host memory."""
        return self.kind == "cpu"

    def is_gpu_place(self) -> bool:
        """Say whether this is a CUDA device's memory."""
        return self.kind == "gpu"

    def is_cuda_pinned_place(self) -> bool:
        """Say whether this is page-locked host memory."""
        return self.kind == "gpu_pinned"

    def is_simulated_place(self) -> bool:
        """Say whether this is the simulated device, whose timing tests control."""
        return self.kind == "simulated"

    def gpu_device_id(self) -> int:
        """Return the CUDA device's number; 0 for other places."""
        return self.index


class CPUPlace(Place):
    """Ordinary host memory. Source: paddle.CPUPlace.

    Example:
        >>> import vitrify as paddle
        >>> paddle.to_tensor([1.0], place=paddle.CPUPlace()).place == paddle.CPUPlace()
        True
    """

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("cpu")


class CUDAPlace(Place):
    """The memory of CUDA device number `id`; raises ArgumentError for a negative one. Source: paddle.CUDAPlace.

    Example:
        >>> import vitrify as paddle
        >>> paddle.CUDAPlace(1), paddle.CUDAPlace(1).gpu_device_id()
        (Place(gpu:1), 1)
    """

    __slots__ = ()

    def __init__(self, id: int = 0) -> None:
        if id < 0:
            raise ArgumentError(f"CUDAPlace: a device number is 0 or more, but received {id}")
        super().__init__("gpu", id)


class CUDAPinnedPlace(Place):
    """Page-locked host memory, from which copies to a GPU run beside computation.

    Source: paddle.CUDAPinnedPlace.

    Example:
        >>> import vitrify as paddle
        >>> paddle.CUDAPinnedPlace().is_cuda_pinned_place()
        True
    """

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("gpu_pinned")


class SimulatedPlace(Place):
    """The memory of simulated device number `id`."""

    __slots__ = ()

    def __init__(self, id: int = 0) -> None:
        super().__init__("simulated", id)


_MAKERS: dict[Kind, Callable[[int], Place]] = {
    "cpu": lambda _: CPUPlace(),
    "gpu": CUDAPlace,
    "gpu_pinned": lambda _: CUDAPinnedPlace(),
    "simulated": SimulatedPlace,
}


def _make(kind: Kind, index: int) -> Place:
    """Return the place of this kind and number."""
    return _MAKERS[kind](index)


_CURRENT: Setting[Place] = Setting("place", CPUPlace(), MODES)
_DEVICE = re.compile(r"(cpu|gpu_pinned|gpu|simulated)(?::(\d+))?")
_NUMBERED = frozenset({"gpu", "simulated"})

PlaceLike: TypeAlias = Place | str


def as_place(value: PlaceLike) -> Place:
    """Return the place that `value` names: a Place, or "cpu", "gpu", "gpu:1", "gpu_pinned", "simulated:0".

    Raises ArgumentError for any other text.

    >>> as_place("gpu:1"), as_place("cpu")
    (Place(gpu:1), Place(cpu))
    """
    if isinstance(value, Place):
        return value
    match = _DEVICE.fullmatch(value.lower()) if isinstance(value, str) else None
    if match is None or (match[2] and match[1] not in _NUMBERED):
        raise ArgumentError(
            f"a device is named like 'cpu', 'gpu', 'gpu:1', 'gpu_pinned' or 'simulated', but received {value!r}"
        )
    return _make(match[1], int(match[2] or 0))  # type: ignore[arg-type]  # the pattern admits exactly the kinds


def current_place() -> Place:
    """Return the place where new tensors are put."""
    return _CURRENT.get()


def set_device(device: PlaceLike) -> Place:
    """Put new tensors on `device` from now on and return its place.

    Inside `place_guard` it changes the guard's own place only. Raises ArgumentError for a GPU when CuPy is missing.
    Source: paddle.device.set_device.

    Example:
        >>> import vitrify as paddle
        >>> paddle.set_device("cpu")
        Place(cpu)
    """
    place = _usable(as_place(device))
    _CURRENT.set(place)
    return place


def get_device(input: Any = None) -> Any:
    """Return the name of the current place: 'cpu', 'gpu:0', ...; of a tensor, the number of its GPU, -1 for none.

    Source: paddle.device.get_device.

    >>> with place_guard("cpu"):
    ...     get_device()
    'cpu'
    """
    if input is not None:
        return input.place.index if input.place.kind in _NUMBERED else -1
    place = _CURRENT.get()
    return f"{place.kind}:{place.index}" if place.kind in _NUMBERED else place.kind


@contextmanager
def place_guard(device: PlaceLike) -> Iterator[Place]:
    """Put new tensors on `device` inside the block, in this thread or task alone."""
    with _CURRENT.scope(_usable(as_place(device))) as place:
        yield place


def is_compiled_with_cuda() -> bool:
    """Say whether CUDA devices can be used: whether CuPy is installed. Source: paddle.is_compiled_with_cuda.

    Example:
        >>> import vitrify as paddle
        >>> paddle.is_compiled_with_cuda() in (True, False)
        True
    """
    return is_available("cupy")


def _usable(place: Place) -> Place:
    """Return `place`; raise ArgumentError if it needs CuPy and there is none."""
    if place.kind in ("gpu", "gpu_pinned") and not is_compiled_with_cuda():
        raise ArgumentError(
            f"the device cannot be {place.kind!r}: CuPy is not installed",
            hint="pip install 'vitrify[cuda12]', or 'vitrify[cuda13]' for CUDA 13",
        )
    return place
