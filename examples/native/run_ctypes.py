"""Classify two images with the program that save.py compiled: Python's standard library is all that is needed."""

import ctypes

FLOAT32 = 11  # VITRIFY_FLOAT32 of the header


class Array(ctypes.Structure):
    """vitrify_array of the header."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("bytes", ctypes.c_int64), ("dtype", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("shape", ctypes.c_int64 * 8),
    )  # fmt: skip


digits = ctypes.CDLL("./build/digits.so")
digits.digits_last_error.restype = ctypes.c_char_p
digits.digits_run.argtypes = ctypes.POINTER(Array), ctypes.c_int64, ctypes.POINTER(Array), ctypes.c_int64

digits.digits_set_threads(2)  # of large products; 1 unless this says more
images = (ctypes.c_float * 128)(*[i / 64 for i in range(128)])
result = (ctypes.c_float * 20)()
given = Array(ctypes.addressof(images), ctypes.sizeof(images), FLOAT32, 4, (2, 1, 8, 8))
room = Array(ctypes.addressof(result), ctypes.sizeof(result))
if digits.digits_run(given, 1, room, 1):
    raise SystemExit(digits.digits_last_error().decode())
rows, columns = room.shape[0], room.shape[1]
for i in range(rows):
    print(" ".join(f"{p:.4f}" for p in result[i * columns : (i + 1) * columns]))
