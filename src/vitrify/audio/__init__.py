"""`paddle.audio`: features of sounds, and WAV files. Source: paddle.audio."""

from . import backends, features, functional
from .wave_files import info, load, save

__all__ = ["backends", "features", "functional", "info", "load", "save"]
