"""Programs compiled ahead of time: shared libraries with a C header, which run without Python. See docs/native.md."""

from ..core.lazy import lazy_attributes

__all__ = ["NativeFunction", "NativeModel", "load", "native_file", "no_operators", "save_format"]
__getattr__ = lazy_attributes(
    __name__,
    names={
        "save_format": "saving",
        "native_file": "files",
        **dict.fromkeys(("NativeFunction", "NativeModel", "load", "no_operators"), "loading"),
    },
)
