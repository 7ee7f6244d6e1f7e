"""Devices: where arrays live. Knows arrays, not Tensors."""

from . import memory as memory  # its import keeps freed memory for the next arrays
