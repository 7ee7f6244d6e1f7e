"""`paddle.distributed.parallel_helper`: whether there are other processes to exchange values with."""


def _is_parallel_ctx_initialized() -> bool:
    """False: there is one process."""
    return False


__all__ = ["_is_parallel_ctx_initialized"]
