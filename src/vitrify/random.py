"""`paddle.random`: what the random numbers of today start from. Source: paddle.random."""

from .core.rng import default_generator


def initial_seed() -> int:
    """The seed of the default generator, from which the numbers on every device follow.

    Source: paddle.random.initial_seed.

    Example:
        >>> import vitrify as paddle
        >>> generator = paddle.seed(7)
        >>> paddle.random.initial_seed()
        7
    """
    return default_generator().initial_seed()


__all__ = ["initial_seed"]
