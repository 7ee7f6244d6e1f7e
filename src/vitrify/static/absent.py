"""Names of `paddle.static` whose devices, servers or kinds of tensor there are none of here: calling them says so.

They exist so that code that mentions them imports, and who calls one learns why it does not work and what does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ..core.errors import UnsupportedError

_IPU = ("runs programs on IPUs, of which there is no support", "leave it out: programs run on the CPU or a GPU")
_LENGTHS = (
    "takes tensors with levels of lengths, of which PaddlePaddle's programs of today have none either",
    "pad the sequences, and mask them: paddle.nn.functional.sequence_mask",
)


def _absent(name: str, reason: tuple[str, str]) -> Callable[..., NoReturn]:
    """A function that refuses to be called, with the reason and the way out.

    >>> _absent("abacus", ("counts beads", "use paddle.sum"))()
    Traceback (most recent call last):
    vitrify.core.errors.UnsupportedError: abacus counts beads...
    """
    why, instead = reason

    def raises(*args: Any, **kwargs: Any) -> NoReturn:
        raise UnsupportedError(f"{name} {why}", hint=instead)

    raises.__name__ = raises.__qualname__ = name
    raises.__doc__ = (
        f"Raises UnsupportedError: it {why}; {instead}. Source: paddle.static.{name}.\n\n"
        "    Example:\n        >>> import vitrify as paddle\n"
        f"        >>> paddle.static.{name}()\n        Traceback (most recent call last):\n"
        f"        vitrify.core.errors.UnsupportedError: {name} {why}...\n    "
    )
    return raises


IpuCompiledProgram = _absent("IpuCompiledProgram", _IPU)
IpuStrategy = _absent("IpuStrategy", _IPU)
ipu_shard_guard = _absent("ipu_shard_guard", _IPU)
set_ipu_shard = _absent("set_ipu_shard", _IPU)
xpu_places = _absent("xpu_places", ("gives XPUs, of which there is no support", "use cpu_places or cuda_places"))
ctr_metric_bundle = _absent(
    "ctr_metric_bundle", ("counts along on parameter servers, of which there are none", "use paddle.static.auc")
)
sparse_embedding = _absent(
    "nn.sparse_embedding", ("keeps its rows on parameter servers, of which there are none", "use static.nn.embedding")
)
sequence_conv = _absent("nn.sequence_conv", _LENGTHS)
sequence_expand = _absent("nn.sequence_expand", _LENGTHS)
sequence_first_step = _absent("nn.sequence_first_step", _LENGTHS)
sequence_last_step = _absent("nn.sequence_last_step", _LENGTHS)
sequence_pool = _absent("nn.sequence_pool", _LENGTHS)
sequence_softmax = _absent("nn.sequence_softmax", _LENGTHS)

__all__ = [
    "IpuCompiledProgram", "IpuStrategy", "ctr_metric_bundle", "ipu_shard_guard", "sequence_conv", "sequence_expand",
    "sequence_first_step", "sequence_last_step", "sequence_pool", "sequence_softmax", "set_ipu_shard",
    "sparse_embedding", "xpu_places",
]  # fmt: skip
