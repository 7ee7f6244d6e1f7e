"""`paddle.utils.unique_name`: names that are given out once."""

from ..core.names import generate, guard, switch

generate_with_ignorable_key = generate

__all__ = ["generate", "generate_with_ignorable_key", "guard", "switch"]
