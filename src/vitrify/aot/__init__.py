"""Programs compiled ahead of time: shared libraries with a C header, which run without Python. See docs/native.md."""

from .loading import NativeFunction, NativeModel, load, native_file, no_operators
from .saving import save_format

__all__ = ["NativeFunction", "NativeModel", "load", "native_file", "no_operators", "save_format"]
