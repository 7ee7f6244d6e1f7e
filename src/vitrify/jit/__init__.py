"""Segments: functions converted, traced, cached and run as programs; each part loads when used. Source: paddle.jit."""

from typing import TYPE_CHECKING

from ..core.dispatch import EAGER
from ..core.lazy import lazy_attributes
from .eager_kernels import EAGER_KERNELS
from .eager_rules import EAGER_RULES
from .operator_calls import count_calls

if TYPE_CHECKING:
    from .api import enable_to_static, ignore_module, not_to_static, set_code_level, set_verbosity, to_static
    from .callback import host_callback
    from .explaining import Explanation, explain
    from .loading import TranslatedLayer, load
    from .profiling import CallProfile, profile
    from .saving import save
    from .static_function import StaticFunction

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

# Eager programs import neither the converter nor what traces.
__getattr__ = lazy_attributes(
    __name__,
    ("api", "marker"),
    names={
        **dict.fromkeys(("enable_to_static", "ignore_module", "not_to_static"), "api"),
        **dict.fromkeys(("set_code_level", "set_verbosity", "to_static"), "api"),
        **dict.fromkeys(("Explanation", "explain"), "explaining"),
        **dict.fromkeys(("TranslatedLayer", "load"), "loading"),
        **dict.fromkeys(("CallProfile", "profile"), "profiling"),
        "StaticFunction": "static_function",
        "host_callback": "callback",
        "save": "saving",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


count_calls()
EAGER.large = EAGER_KERNELS.run
EAGER.large_rule = EAGER_RULES.run
