"""Paddle's own saved programs, both ways: `.json` and `.pdmodel` with `.pdiparams` (docs/interchange.md)."""

from ..core.lazy import lazy_attributes

__all__ = ["read_desc_format", "read_json_format", "save_desc", "save_json"]

__getattr__ = lazy_attributes(
    __name__,
    names={
        **dict.fromkeys(("read_json_format", "read_desc_format"), "importing"),
        **dict.fromkeys(("save_desc", "save_json"), "exporting"),
    },
)
