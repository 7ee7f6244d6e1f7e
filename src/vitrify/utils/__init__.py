"""`paddle.utils`: exchange of memory with other libraries, unique names."""

from . import dlpack, unique_name

__all__ = ["dlpack", "unique_name"]
