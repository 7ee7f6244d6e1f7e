"""What the programs of the guides share: fixed numbers for feeds and parameters."""

import re
import zlib

import numpy as np


def nums(shape, start=0, scale=0.5):
    """Fixed numbers of both signs."""
    count = int(np.prod(shape)) if len(shape) else 1
    return (np.sin(np.arange(start, start + count) * 1.7 + 0.3) * scale).reshape(shape).astype("float32")


def fill(paddle, program):
    """Set the parameters in the order of their names."""
    of_program = hasattr(program, "all_parameters")
    held = program.all_parameters() if of_program else program.global_block().all_parameters()
    for i, parameter in enumerate(sorted(held, key=lambda q: q.name)):
        found = paddle.static.global_scope().find_var(parameter.name).get_tensor()
        found.set(nums(parameter.shape, 10 * i), paddle.CPUPlace())


def ids(shape, high, start=0):
    """Fixed whole numbers below `high`."""
    count = int(np.prod(shape))
    return ((np.arange(start, start + count) * 7 + 3) % high).reshape(shape).astype("int64")


# What optimizers keep, and what Paddle keeps of recurrent networks beside their parameters.
_KEPT = re.compile(r"moment|pow|learning_rate|dropout_state|^(lstm|gru|rnn)_\d+\.w_\d+$|[bw]_\d+_[a-z_]+_\d+$")


def fill_by_name(paddle, program=None):
    """Set each parameter to numbers that follow from its name."""
    program = program or paddle.static.default_main_program()
    of_program = hasattr(program, "all_parameters")
    for parameter in program.all_parameters() if of_program else program.global_block().all_parameters():
        name = parameter.name
        if not _KEPT.search(name) and 0 not in parameter.shape:
            array = nums(parameter.shape, zlib.crc32(name.encode()) % 997)
            is_variance = re.match(r"batch_norm.*w_2$", name)
            found = paddle.static.global_scope().find_var(name).get_tensor()
            found.set(np.abs(array) + 0.5 if is_variance else array, paddle.CPUPlace())
