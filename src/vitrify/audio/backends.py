"""What reads and writes files: Python's own module for WAV. Source: paddle.audio.backends."""

from __future__ import annotations

from ..core.errors import ArgumentError
from .wave_files import AudioInfo, info, load, save

_NAME = "wave_backend"


def list_available_backends() -> list[str]:
    """The names of what can read and write files: ["wave_backend"]."""
    return [_NAME]


def get_current_backend() -> str:
    """The name of what reads and writes files: "wave_backend"."""
    return _NAME


def set_backend(backend_name: str) -> None:
    """Accept "wave_backend"; raises ArgumentError for another name, for there is no other."""
    if backend_name != _NAME:
        raise ArgumentError(f"audio: there is no backend {backend_name!r}, only {_NAME!r}")


__all__ = ["AudioInfo", "get_current_backend", "info", "list_available_backends", "load", "save", "set_backend"]
