"""Python functions to Python functions: control flow and calls become calls of helpers. Knows no tensors.

`convert_function(fn, helpers)` is the way in; `contract` says what `helpers` must provide.
"""

from .contract import Helpers, Place
from .errors import NoSourceError, UnsupportedFunctionError
from .observe import BLIND_METHODS
from .pipeline import (
    PIPELINE,
    ConvertedCode,
    convert_code,
    convert_function,
    is_converted,
    source_of,
    stage_sources,
)
from .try_lines import TryLines, tries_around

__all__ = [
    "BLIND_METHODS",
    "PIPELINE",
    "ConvertedCode",
    "Helpers",
    "NoSourceError",
    "Place",
    "TryLines",
    "UnsupportedFunctionError",
    "convert_code",
    "convert_function",
    "is_converted",
    "source_of",
    "stage_sources",
    "tries_around",
]
