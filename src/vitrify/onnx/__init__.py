"""`paddle.onnx`: models to ONNX files and back. The package `onnx` (extra `[onnx]`) is imported at first use."""

from ..core.lazy import lazy_attributes

__all__ = ["export", "import_model", "load"]

__getattr__ = lazy_attributes(
    __name__,
    names={
        **dict.fromkeys(("export", "save_format"), "exporting"),
        **dict.fromkeys(("load", "import_model", "read_format"), "importing"),
    },
)
