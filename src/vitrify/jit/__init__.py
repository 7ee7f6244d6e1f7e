"""Segments: functions converted, traced, cached and run as programs. Source: paddle.jit."""

from .api import enable_to_static, ignore_module, not_to_static, set_code_level, set_verbosity, to_static
from .callback import host_callback
from .eager_operators import count_calls
from .explain import Explanation, explain
from .load import TranslatedLayer, load
from .profile import CallProfile, profile
from .save import save
from .static_function import StaticFunction

count_calls()

__all__ = [
    "CallProfile",
    "Explanation",
    "StaticFunction",
    "TranslatedLayer",
    "enable_to_static",
    "explain",
    "host_callback",
    "ignore_module",
    "load",
    "not_to_static",
    "profile",
    "save",
    "set_code_level",
    "set_verbosity",
    "to_static",
]
