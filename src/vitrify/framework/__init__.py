"""Saving and loading of objects: `paddle.save` and `paddle.load`."""
