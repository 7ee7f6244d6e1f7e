"""Devices: where arrays live. Knows arrays, not Tensors."""
