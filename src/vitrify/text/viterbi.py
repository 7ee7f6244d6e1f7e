"""The best tags of a sequence. Source: paddle.text."""

from __future__ import annotations

from typing import Any

from ..nn import Layer
from ..ops.viterbi import viterbi_decode


class ViterbiDecoder(Layer):
    """`viterbi_decode` with fixed transitions: called with potentials and lengths. Source: paddle.text.ViterbiDecoder.

    Example:
        >>> import vitrify as paddle
        >>> decoder = paddle.text.ViterbiDecoder(paddle.eye(2), include_bos_eos_tag=False)
        >>> decoder(paddle.to_tensor([[[1.0, 0.0], [0.0, 0.5]]]), paddle.to_tensor([2]))[1].tolist()
        [[0, 0]]
    """

    def __init__(self, transitions: Any, include_bos_eos_tag: bool = True, name: str | None = None) -> None:
        super().__init__()
        self.transitions = transitions
        self.include_bos_eos_tag = include_bos_eos_tag

    def forward(self, potentials: Any, lengths: Any) -> tuple[Any, Any]:
        """Scores and paths."""
        return viterbi_decode(potentials, self.transitions, lengths, self.include_bos_eos_tag)


__all__ = ["ViterbiDecoder", "viterbi_decode"]
