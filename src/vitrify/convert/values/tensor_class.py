"""What somebody put into the class Tensor: variables of a program are Tensors to the user, so they have it, too."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ...eager.tensor import Tensor
from .user_code import class_attribute, converted

if TYPE_CHECKING:
    from collections.abc import Callable

_OWN = {name: class_attribute(Tensor, name) for name in dir(Tensor)}


def put_in(owner: Any, name: str) -> Callable[[], Any] | None:
    """What reads `owner.name`, of a variable of a program, where somebody put that into the class; None elsewhere."""
    found = class_attribute(Tensor, name)
    if found is None or found is _OWN.get(name):
        return None
    if isinstance(found, property):
        return partial(converted(found.fget), owner)
    return lambda: found.__get__(owner, Tensor) if hasattr(type(found), "__get__") else found
