"""A stand-in for CuPy that computes with NumPy and writes down what the GPU would have been told to do.

It has the names that the real package has, and no others; its functions take the parameters that the real ones take;
its arrays do not turn into NumPy's by themselves, nor mix with them. While a stream captures, kernels are not run but
kept, and what CUDA refuses is refused.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from threading import Event as Gate
from threading import local
from time import perf_counter
from types import ModuleType, SimpleNamespace
from weakref import WeakValueDictionary

import numpy as np
import scipy.special

NAMES = {}
for _line in (Path(__file__).parent / "cupy_names.txt").read_text().splitlines():
    if not _line.startswith("#"):
        _name, *_parameters = _line.split()
        NAMES[_name] = _parameters

LOG = []
DEVICES_END = Gate()
"""Cleared, it lets the work of devices hang."""
DEVICES_END.set()
FROM_HOST = {"array", "asarray", "ascontiguousarray", "from_dlpack"}


class CUDARuntimeError(RuntimeError):
    """What CUDA refuses."""


class _State(local):
    def __init__(self):
        self.streams = []
        self.devices = [0]


state = _State()


def log(*what):
    LOG.append(what)


# -- streams, events, graphs -----------------------------------------------------------------------------------------


EVENTS = WeakValueDictionary()


def query(ptr):
    """cudaEventQuery; a test makes the work of a stream hang by setting `hangs`."""
    refuse("cudaEventQuery")
    event = EVENTS[ptr]
    return 600 if event.stream is not None and event.stream.hangs else 0


class Event:
    def __init__(self, block=False, disable_timing=False, interprocess=False):
        self.timing = not disable_timing
        self.stream = None
        self.ptr = id(self)
        EVENTS[self.ptr] = self

    @property
    def done(self):
        return query(self.ptr) == 0

    def record(self, stream=None):
        (stream or current()).record(self)

    def synchronize(self):
        refuse("cudaEventSynchronize")
        log("synchronize", self.stream)


def elapsed(start, end):
    if not (start.timing and end.timing):
        raise CUDARuntimeError("cudaErrorInvalidResourceHandle: these events take no times")
    return (end.time - start.time) * 1e3


class Stream:
    null = None
    _count = 0

    def __init__(self, null=False, non_blocking=False, ptds=False, priority=None):
        Stream._count += 1
        self.ptr = 0 if null else Stream._count
        self.non_blocking, self.priority = non_blocking, priority
        self.device_id = state.devices[-1]
        self.captured = None
        self.hangs = False

    def __enter__(self):
        state.streams.append(self)
        return self

    def __exit__(self, *_):
        state.streams.pop()

    def use(self):
        state.streams[:] = [self]
        return self

    def __eq__(self, other):
        return isinstance(other, Stream) and self.ptr == other.ptr

    def __hash__(self):
        return self.ptr

    @property
    def done(self):
        refuse("cudaStreamQuery")
        return True

    def record(self, event=None):
        event = event or Event()
        event.stream = self
        event.time = perf_counter()
        event.captured = self.capture()
        log("record", self)
        return event

    def wait_event(self, event):
        log("wait", self, event.stream)
        if getattr(event, "captured", None) is not None and not event.captured.complete:
            self.captured = event.captured  # the stream joins the capture

    def synchronize(self):
        refuse("cudaStreamSynchronize")
        log("synchronize", self)

    def begin_capture(self, mode=None):
        if self.ptr == 0:
            raise CUDARuntimeError("cudaErrorStreamCaptureUnsupported: the legacy stream cannot be captured")
        self.captured = Graph()
        log("begin_capture", self)

    def end_capture(self):
        graph, self.captured = self.captured, None
        if graph is not None:
            graph.complete = True
        if graph is None or graph.broken:
            raise CUDARuntimeError("cudaErrorStreamCaptureInvalidated")
        log("end_capture", self)
        return graph

    def is_capturing(self):
        return self.capture() is not None

    def capture(self):
        """The graph that notes what the stream is given; a capture ends for all streams that joined it."""
        return None if self.captured is None or self.captured.complete else self.captured


class Graph:
    def __init__(self):
        self.kernels, self.broken, self.complete, self.copies_in = [], False, False, False

    def launch(self, stream=None):
        log("graph", stream or current())
        for kernel in self.kernels:
            kernel()

    def upload(self, stream=None):
        log("upload", stream or current())

    def debug_dot_str(self, flags=0):
        return f"digraph {{ {len(self.kernels)} {'MEMCPY HtoD' if self.copies_in else ''} }}"


Stream.null = Stream(null=True)


def current(device_id=-1):
    return state.streams[-1] if state.streams else Stream.null


def capturing():
    return current().capture()


def refuse(what):
    graph = capturing()
    if graph is not None:
        graph.broken = True
        raise CUDARuntimeError(f"cudaErrorStreamCaptureUnsupported: {what}")


class Device:
    def __init__(self, device=None):
        self.id = state.devices[-1] if device is None else getattr(device, "id", device)
        self.compute_capability = "90"
        self.mem_info = (1 << 30, 1 << 34)

    def __enter__(self):
        state.devices.append(self.id)
        return self

    def __exit__(self, *_):
        state.devices.pop()

    def __eq__(self, other):
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self):
        return self.id

    def use(self):
        state.devices[-1] = self.id

    def synchronize(self):
        DEVICES_END.wait()
        log("synchronize", self.id)


# -- arrays ----------------------------------------------------------------------------------------------------------


def host(value, mixed=False):
    """NumPy's view of an argument; NumPy's own arrays are refused."""
    if isinstance(value, ndarray):
        return value._host
    if isinstance(value, np.ndarray) and not mixed:
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, (list, tuple)):
        return type(value)([host(v, mixed) for v in value])
    return value


def there(value, like=()):
    """CuPy's array for what NumPy gave."""
    if isinstance(value, (np.ndarray, np.generic)):
        return ndarray(np.asarray(value))
    if isinstance(value, (list, tuple)):
        made = [there(v) for v in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    return value


def run(name, fn, args, kwargs, mixed=False):
    """Compute on the current stream, or note it while it captures."""
    given, options = host(tuple(args), mixed), {k: host(v, mixed) for k, v in kwargs.items()}
    log("kernel", name, current())
    graph = capturing()
    with np.errstate(all="ignore"):
        found = _arrays(fn(*given, **options))
    if name.endswith("diagonal"):  # NumPy's cannot be written to
        found.flags.writeable = True
    if graph is not None:
        keep(graph, fn, given, options, found)
    return there(found)


def _arrays(found):
    """Results whose numbers have memory."""
    if isinstance(found, (list, tuple)) and not hasattr(found, "_fields"):
        return type(found)([_arrays(v) for v in found])
    return np.asarray(found) if isinstance(found, np.generic) else found


def keep(graph, fn, given, options, found):
    results = found if isinstance(found, (list, tuple)) else [found]
    arrays = [v for v in (*given, *options.values()) if isinstance(v, np.ndarray)]
    targets = []
    for result in results:
        if isinstance(result, np.ndarray) and not any(np.may_share_memory(result, a) for a in arrays):
            targets.append(result)
        else:
            targets.append(None)

    def kernel():
        again = fn(*given, **options)
        for target, value in zip(targets, again if isinstance(found, (list, tuple)) else [again]):
            if target is not None:
                target[...] = value

    graph.kernels.append(kernel)
    for target in targets:
        if target is not None and target.dtype.kind == "f":
            target[...] = np.nan  # nothing has run


class _Flags:
    def __init__(self, flags):
        self.c_contiguous, self.f_contiguous, self.owndata = flags.c_contiguous, flags.f_contiguous, flags.owndata

    def __getitem__(self, name):
        return {"C_CONTIGUOUS": self.c_contiguous, "F_CONTIGUOUS": self.f_contiguous, "OWNDATA": self.owndata}[name]


class ndarray:
    __array_priority__ = 100
    __slots__ = ("__weakref__", "_host", "device")

    def __init__(self, held):
        self._host = held
        self.device = Device()

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        out = kwargs.get("out", ())
        if any(isinstance(v, np.ndarray) for v in (*inputs, *out)):
            return NotImplemented
        return run(ufunc.__name__, getattr(ufunc, method), inputs, kwargs)

    def __array_function__(self, func, types, args, kwargs):
        if f"cupy.{func.__name__}" not in NAMES:
            return NotImplemented
        return getattr(cupy, func.__name__)(*args, **kwargs)

    shape = property(lambda self: self._host.shape)
    dtype = property(lambda self: self._host.dtype)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    nbytes = property(lambda self: self._host.nbytes)
    itemsize = property(lambda self: self._host.itemsize)
    strides = property(lambda self: self._host.strides)
    flags = property(lambda self: _Flags(self._host.flags))
    data = property(lambda self: SimpleNamespace(ptr=self._host.ctypes.data))
    T = property(lambda self: ndarray(self._host.T))
    mT = property(lambda self: ndarray(self._host.mT))
    base = property(lambda self: None if self._host.base is None else ndarray(self._host.base))

    def _part(self, name):
        return ndarray(getattr(self._host, name))

    def _set_part(self, name, value):
        setattr(self._host, name, host(value))

    real = property(lambda self: self._part("real"), lambda self, v: self._set_part("real", v))
    imag = property(lambda self: self._part("imag"), lambda self, v: self._set_part("imag", v))

    def get(self, stream=None, order="C", out=None, blocking=True):
        log("d2h", stream or current(), blocking)
        if blocking:
            refuse("cudaMemcpy to the host")
        if out is None:
            return self._host.copy()
        assert isinstance(out, np.ndarray) and out.shape == self.shape and out.dtype == self.dtype
        out[...] = self._host
        return out

    def set(self, arr, stream=None):
        assert isinstance(arr, np.ndarray) and arr.dtype == self.dtype and arr.shape == self.shape
        log("h2d", stream or current())
        self._host[...] = arr

    def item(self, *args):
        refuse("cudaMemcpy to the host")
        log("item", current())
        return self._host.item(*args)

    def tolist(self):
        refuse("cudaMemcpy to the host")
        return self._host.tolist()

    def __bool__(self):
        return bool(self.item())

    def __int__(self):
        return int(self.item())

    def __float__(self):
        return float(self.item())

    def __index__(self):
        return self.item().__index__()

    def __len__(self):
        return len(self._host)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getitem__(self, item):
        return run("getitem", lambda a, i: np.asarray(a[i]), (self, _index(item)), {}, mixed=True)

    def __setitem__(self, item, value):
        index, given = host(_index(item), True), host(value)
        target = self._host
        log("kernel", "setitem", current())
        graph = capturing()
        if graph is not None:
            graph.kernels.append(lambda: target.__setitem__(index, given))
        else:
            target[index] = given

    def __repr__(self):
        return repr(self._host)


def _index(item):
    if isinstance(item, list):
        return item
    return tuple(item) if isinstance(item, tuple) else item


def _method(name):
    def method(self, *args, **kwargs):
        return run(name, getattr(np.ndarray, name), (self, *args), kwargs)

    return method


def _operator(name):
    def operate(self, *args):
        if any(isinstance(a, np.ndarray) for a in args):
            return NotImplemented
        return run(name, getattr(np.ndarray, name), (self, *args), {})

    return operate


for _n in NAMES:
    _short = _n.removeprefix("cupy.ndarray.")
    if _n != _short and "." not in _short and not hasattr(ndarray, _short) and callable(getattr(np.ndarray, _short, 0)):
        setattr(ndarray, _short, _method(_short))
_OPERATORS = """
add sub mul truediv floordiv mod pow matmul and or xor lshift rshift radd rsub rmul rtruediv rfloordiv rmod rpow
rmatmul rand ror rxor neg pos abs invert eq ne lt le gt ge
"""
for _n in _OPERATORS.split():
    setattr(ndarray, f"__{_n}__", _operator(f"__{_n}__"))
ndarray.__hash__ = None


def _inplace(name):
    def operate(self, other):
        run(name, getattr(np.ndarray, name), (self, other), {})
        return self

    return operate


_INPLACE = "iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift"
for _n in _INPLACE.split():
    setattr(ndarray, f"__{_n}__", _inplace(f"__{_n}__"))
ndarray.__module__ = "cupy"


@contextmanager
def using_allocator(allocator=None):
    log("allocator", allocator)
    yield


# -- the modules -----------------------------------------------------------------------------------------------------


class _Ufunc:
    """A function with the methods of a ufunc."""

    def __init__(self, name, fn):
        self.__name__, self._fn = name, fn

    def __call__(self, *args, **kwargs):
        return run(self.__name__, self._fn, args, kwargs)

    def __getattr__(self, name):
        if name not in ("at", "reduce", "accumulate", "outer", "reduceat"):
            raise AttributeError(name)
        return lambda *args, **kwargs: run(f"{self.__name__}.{name}", getattr(self._fn, name), args, kwargs)


def _checked(full, fn, mixed):
    parameters = NAMES[full]

    def call(*args, **kwargs):
        unknown = set(kwargs) - {p.lstrip("*") for p in parameters}
        if parameters and unknown:
            raise TypeError(f"{full}() got unexpected arguments {sorted(unknown)}")
        kwargs.pop("blocking", None)
        return run(full, fn, args, kwargs, mixed)

    call.__name__ = full.rpartition(".")[-1]
    return call


class _Module(ModuleType):
    def __init__(self, name, source):
        super().__init__(name)
        self.__spec__ = ModuleSpec(name, None)
        self.__path__ = []
        self._source = source

    def __getattr__(self, name):
        full = f"{self.__name__}.{name}"
        if full not in NAMES:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found = getattr(self._source, name)
        if isinstance(found, np.ufunc):
            found = _Ufunc(name, found)
        elif callable(found) and not isinstance(found, type):
            found = _checked(full, found, name in FROM_HOST)
        setattr(self, name, found)
        return found


def _asarray(a, dtype=None, order=None, *, copy=None, blocking=False):
    if isinstance(a, ndarray) and (dtype is None or a.dtype == dtype):
        return a
    if not isinstance(a, ndarray):
        copy_in()
    return there(np.array(host(a, True), dtype))


def copy_in():
    log("h2d", current())
    if capturing() is not None:
        capturing().copies_in = True


def _array(obj, dtype=None, copy=True, order="K", subok=False, ndmin=0, *, blocking=False):
    made = _asarray(obj, dtype)
    return made.copy() if made is obj and copy else made


def _asnumpy(a, stream=None, order="C", out=None, *, blocking=True):
    return a.get() if isinstance(a, ndarray) else np.asarray(a)


cupy = _Module("cupy", np)
cupy.__version__ = "14.2.0"
cupy.ndarray, cupy.asarray, cupy.array, cupy.asnumpy = ndarray, _asarray, _array, _asnumpy
cupy.ufunc = _Ufunc
cupy.broadcast = lambda *arrays: np.broadcast(*map(host, arrays))
cupy.linalg = _Module("cupy.linalg", np.linalg)
cupy.fft = _Module("cupy.fft", np.fft)
cupy.lib = _Module("cupy.lib", np.lib)
cupy.lib.stride_tricks = _Module("cupy.lib.stride_tricks", np.lib.stride_tricks)
cupy.broadcast_shapes, cupy.may_share_memory = np.broadcast_shapes, lambda a, b: np.may_share_memory(a._host, b._host)
cupy.cuda = SimpleNamespace(
    Stream=Stream, Event=Event, Graph=Graph, Device=Device, get_current_stream=current,
    alloc_pinned_memory=lambda size: (log("pinned", size), bytearray(size))[1],
    get_elapsed_time=elapsed, get_device_id=lambda: state.devices[-1],
    MemoryPool=lambda *_: SimpleNamespace(malloc="private pool", used_bytes=lambda: 0),
    using_allocator=using_allocator,
    runtime=SimpleNamespace(
        CUDARuntimeError=CUDARuntimeError, eventQuery=query, getDeviceCount=lambda: 2, streamCaptureModeGlobal=0,
        streamCaptureModeThreadLocal=1, streamCaptureModeRelaxed=2, runtimeGetVersion=lambda: 12090,
        getDeviceProperties=lambda i: {
            "name": b"Fake GPU", "major": 9, "minor": 0, "totalGlobalMem": 1 << 34, "multiProcessorCount": 132,
        },
    ),
)  # fmt: skip
special = _Module("cupyx.scipy.special", scipy.special)
cupyx = _Module("cupyx", None)
cupyx.scipy = _Module("cupyx.scipy", None)
cupyx.scipy.special = special
cupyx.scatter_add = lambda a, at, value: a.__setitem__(at, a[at] + value)


@contextmanager
def installed():
    """`import cupy` gives the stand-in."""
    modules = {
        "cupy": cupy, "cupyx": cupyx, "cupyx.scipy": cupyx.scipy, "cupyx.scipy.special": special,
        "cupy.lib": cupy.lib, "cupy.lib.stride_tricks": cupy.lib.stride_tricks,
    }  # fmt: skip
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    LOG.clear()
    try:
        yield cupy
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


@contextmanager
def as_cupy(fn):
    yield fn
