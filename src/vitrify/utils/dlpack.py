"""`paddle.utils.dlpack`: tensors from and for other array libraries."""

from ..eager.dlpack import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
