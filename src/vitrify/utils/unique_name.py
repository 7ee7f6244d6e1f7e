"""`paddle.utils.unique_name`: names that are given out once."""

from ..core.names import generate, guard, switch

__all__ = ["generate", "guard", "switch"]
