"""`paddle.distributed.fleet.utils.log_util`: the logger of fleet."""

import logging

logger = logging.getLogger("vitrify.distributed.fleet")

__all__ = ["logger"]
