"""Fourier transforms against SciPy, and short-time transforms against sums written out."""

import numpy as np
import scipy.fft

from vitrify.ops import fft, signal, windows
from vitrify.testing import Case, complexes, floats, ints

REAL, COMPLEX = floats(3, 6), complexes(3, 5, seed=2)
CUBE = floats(2, 3, 4)
FLOATS = {"dtypes": ("float32",)}


def given(name):
    return REAL if name in ("rfft", "ihfft") else COMPLEX


KINDS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
ONE = [
    Case(f"{name}/{kwargs}", getattr(fft, name), (given(name),), kwargs, second=True, ref=getattr(scipy.fft, name)(given(name), **kwargs),
         **FLOATS)
    for name in KINDS
    for kwargs in ({}, {"n": 4}, {"n": 9}, {"axis": 0}, {"norm": "ortho"}, {"norm": "forward", "n": 5})
]  # fmt: skip
TWO = [
    Case(f"{name}2/{kwargs}", getattr(fft, name + "2"), (np.stack([given(name)] * 2),), kwargs,
         ref=getattr(scipy.fft, name + "2")(np.stack([given(name)] * 2), **kwargs), **FLOATS)
    for name in KINDS
    for kwargs in ({}, {"s": (4, 5)}, {"axes": (0, 1)}, {"norm": "ortho"})
]  # fmt: skip
MANY = [
    Case(f"{name}n/{kwargs}", getattr(fft, name + "n"), (np.stack([given(name)] * 2),), kwargs, second="s" in kwargs,
         ref=getattr(scipy.fft, name + "n")(np.stack([given(name)] * 2), **kwargs), **FLOATS)
    for name in KINDS
    for kwargs in ({}, {"s": (4, 5)}, {"axes": (2, 0)}, {"s": (3,), "axes": (1,), "norm": "forward"})
]  # fmt: skip
REALS = [
    Case(f"{name}/real", getattr(fft, name), (REAL,), ref=getattr(scipy.fft, name), second=True, **FLOATS)
    for name in ("fft", "ifft", "irfft", "hfft")
]
TYPES = [
    Case("fft/int", fft.fft, (ints(5),), ref=scipy.fft.fft, rtol=1e-5, atol=1e-5),
    Case("rfft/int", fft.rfft, (ints(5),), ref=scipy.fft.rfft, rtol=1e-5, atol=1e-5),
    Case("fft/no rows", fft.fft, (np.zeros((0, 4)),), ref=np.zeros((0, 4), complex), **FLOATS),
    Case("fft/nothing to sum", fft.fft, (np.zeros((4, 0)),), ref=np.zeros((4, 0), complex), **FLOATS),
    Case("rfft/nothing to sum", fft.rfft, (np.zeros((4, 0)),), ref=np.zeros((4, 1), complex), **FLOATS),
    Case("irfft/no rows", fft.irfft, (np.zeros((0, 4), complex),), ref=np.zeros((0, 6)), **FLOATS),
    Case("fft/axis of None", lambda x: fft.fft(x, axis=None), (floats(2, 3),), ref=scipy.fft.fft, **FLOATS),
    Case("fft2/axes of None", lambda x: fft.fft2(x, axes=None), (floats(2, 3, 4),), ref=scipy.fft.fftn, **FLOATS),
    Case("fft2/sizes and axes of None", lambda x: fft.fft2(x, (2, 3), None), (floats(2, 3, 4),),
         ref=lambda x: scipy.fft.fft2(x, (2, 3)), **FLOATS),
    Case("irfft/one number", fft.irfft, (COMPLEX, 1), ref=lambda x, n: scipy.fft.irfft(x, n), **FLOATS),
]
FREQUENCIES = [
    *[Case(f"fftfreq/{n}", fft.fftfreq, (n, 0.5), ref=np.fft.fftfreq(n, 0.5), rtol=1e-6) for n in (1, 5, 6)],
    *[Case(f"rfftfreq/{n}", fft.rfftfreq, (n, 0.5), ref=np.fft.rfftfreq(n, 0.5), rtol=1e-6) for n in (1, 5, 6)],
    Case("fftfreq/int32", fft.fftfreq, (4, 0.5), {"dtype": "int32"}, ref=np.fft.fftfreq(4, 0.5).astype("float32")),
    Case("rfftfreq/int64", fft.rfftfreq, (5,), {"dtype": "int64"}, ref=np.fft.rfftfreq(5).astype("float32")),
    Case("fftfreq/float64", fft.fftfreq, (5, 0.3), {"dtype": "float64"}, ref=np.fft.fftfreq(5, 0.3)),
    *[
        Case(f"{name}/{axes}", getattr(fft, name), (floats(4, 5), axes), ref=lambda x, a, name=name: getattr(np.fft, name)(x, a))
        for name in ("fftshift", "ifftshift")
        for axes in (None, 0, (1,), (0, 1), [-1])
    ],
]  # fmt: skip


def frames_of(x, size, hop):
    count = (x.shape[-1] - size) // hop + 1
    return np.stack([x[..., i * hop : i * hop + size] for i in range(count)], -1)


def added(x, hop):
    out = np.zeros((*x.shape[:-2], (x.shape[-1] - 1) * hop + x.shape[-2]), x.dtype)
    for i in range(x.shape[-1]):
        out[..., i * hop : i * hop + x.shape[-2]] += x[..., i]
    return out


SIGNAL, WINDOW = floats(2, 16), floats(8, low=0.5, high=1.5)
FRAMES = [
    *[
        Case(f"frame/{size, hop}", signal.frame, (SIGNAL, size, hop), ref=frames_of, second=True)
        for size, hop in ((4, 2), (5, 3), (3, 5), (16, 1), (1, 1))
    ],
    Case("frame/first axis", signal.frame, (SIGNAL.T, 4, 3, 0), ref=lambda x, n, h, _: frames_of(x.T, n, h).transpose(2, 1, 0)),
    Case("frame/one signal", signal.frame, (SIGNAL[0], 4, 3), ref=frames_of),
    Case("frame/one signal first axis", signal.frame, (SIGNAL[0], 4, 3, 0), ref=lambda x, n, h, _: frames_of(x, n, h).T),
    Case("frame/int", signal.frame, (ints(9), 4, 3), ref=frames_of),
    *[Case(f"overlap_add/{hop}", signal.overlap_add, (CUBE, hop), ref=added, second=True, dynamic=False) for hop in (1, 2, 3)],
    Case("overlap_add/unknown sizes", signal.overlap_add, (CUBE, 2), ref=added, grad=False),
    Case("overlap_add/first axis", signal.overlap_add, (CUBE, 2, 0), ref=lambda x, h, _: added(x.transpose(2, 1, 0), h).T,
         dynamic=False),
    Case("overlap_add/one signal", signal.overlap_add, (CUBE[0], 2), ref=added, dynamic=False),
    Case("unfold/adjoint with gaps", lambda x: windows.unfold(x, 0, 2, 3) * 2, (floats(10, 2),), second=True),
]  # fmt: skip


def spectra(x, n, hop=None, window=None, center=True, mode="reflect", transform=scipy.fft.rfft):
    if center:
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(n // 2, n // 2)], mode)
    frames = frames_of(x, n, hop or n // 4)
    return transform(frames if window is None else frames * window[:, None], axis=-2)


def stft(name, *args, ref, **options):
    return Case(f"stft/{name}", signal.stft, args[:1] + args[1:], options.pop("kwargs", {}), ref=ref, **{**FLOATS, **options})


WIDE = np.pad(WINDOW[:6], 1)
STFT = [
    stft("defaults", SIGNAL, 8, ref=spectra(SIGNAL, 8), second=True),
    stft("one signal", SIGNAL[0], 8, ref=spectra(SIGNAL[0], 8)),
    stft("hop", SIGNAL, 8, 3, ref=spectra(SIGNAL, 8, 3)),
    stft("odd", SIGNAL, 7, 2, ref=spectra(SIGNAL, 7, 2)),
    stft("window", SIGNAL, 8, 3, None, WINDOW, ref=spectra(SIGNAL, 8, 3, WINDOW), second=True),
    stft("narrow window", SIGNAL, 8, 3, 6, WINDOW[:6], ref=spectra(SIGNAL, 8, 3, WIDE)),
    stft("no window given", SIGNAL, 8, 3, 6, ref=spectra(SIGNAL, 8, 3, np.pad(np.ones(6), 1))),
    stft("from the start", SIGNAL, 8, 3, kwargs={"center": False}, ref=spectra(SIGNAL, 8, 3, center=False)),
    stft("zeros around", SIGNAL, 8, 3, kwargs={"pad_mode": "constant"}, ref=spectra(SIGNAL, 8, 3, mode="constant")),
    stft("normalized", SIGNAL, 8, 3, kwargs={"normalized": True}, ref=spectra(SIGNAL, 8, 3) / np.sqrt(8)),
    stft("two sides", SIGNAL, 8, 3, kwargs={"onesided": False}, ref=spectra(SIGNAL, 8, 3, transform=scipy.fft.fft)),
    stft("complex", complexes(2, 16), 8, 3, ref=spectra(complexes(2, 16), 8, 3, transform=scipy.fft.fft), layouts=False),
]


def there_and_back(x, *sizes, window=None, length=None, return_complex=False, **kwargs):
    found = signal.stft(x, *sizes, window=window, **kwargs)
    return signal.istft(found, *sizes, window=window, length=length, return_complex=return_complex, **kwargs)


def back(name, *args, ref=SIGNAL, **kwargs):
    return Case(f"istft/{name}", there_and_back, args, kwargs, ref=ref, dynamic=False, **FLOATS)


ISTFT = [
    back("defaults", SIGNAL, 8),
    back("window", SIGNAL, 8, 2, window=WINDOW),
    back("narrow window", SIGNAL, 8, 2, 6, window=WINDOW[:6]),
    back("odd", SIGNAL[:, :15], 7, 2, ref=SIGNAL[:, :15]),
    back("length", SIGNAL, 8, 2, length=10, ref=SIGNAL[:, :10]),
    back("length from the start", SIGNAL, 8, 2, length=10, center=False, ref=SIGNAL[:, :10]),
    back("from the start", SIGNAL, 8, 2, center=False),
    back("normalized", SIGNAL, 8, 2, normalized=True),
    back("two sides", SIGNAL, 8, 2, onesided=False),
    back("complex", complexes(2, 16), 8, 2, onesided=False, return_complex=True, ref=complexes(2, 16)),
    back("one signal", SIGNAL[0], 8, 2, ref=SIGNAL[0]),
    Case("istft/of any spectrum", signal.istft, (complexes(2, 5, 6), 8, 2, None, WINDOW), second=True, dynamic=False, **FLOATS),
]
CASES = [*ONE, *TWO, *MANY, *REALS, *TYPES, *FREQUENCIES, *FRAMES, *STFT, *ISTFT]
