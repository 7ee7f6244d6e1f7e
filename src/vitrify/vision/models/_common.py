"""What the models share: refusing weights that would have to be downloaded, and channel numbers."""

from __future__ import annotations

from ...core.errors import UnsupportedError


def no_download(pretrained: bool, model: str) -> None:
    """Raise UnsupportedError if pretrained weights are asked for."""
    if pretrained:
        raise UnsupportedError(
            f"{model}(pretrained=True) would download weights, which vitrify does not",
            hint=f"make the model without, then model.set_state_dict(paddle.load('{model}.pdparams')) of a local file",
        )


def divisible(value: float, divisor: int = 8, least: int | None = None) -> int:
    """The multiple of `divisor` nearest to value, but not under 90 % of it, nor under `least`."""
    out = max(divisor if least is None else least, int(value + divisor / 2) // divisor * divisor)
    return out + divisor if out < 0.9 * value else out
