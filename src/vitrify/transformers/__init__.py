"""Python functions to Python functions: control flow and calls become calls of helpers. Knows no tensors.

`convert_function(fn, helpers)` is the way in; `contract` says what `helpers` must provide.
"""

from .compile import instantiate
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
from .source import refuse_generator
from .split import SegmentCode, SplitCode, split_code
from .try_lines import TryLines, tries_around

__all__ = [
    "BLIND_METHODS",
    "PIPELINE",
    "ConvertedCode",
    "Helpers",
    "NoSourceError",
    "Place",
    "SegmentCode",
    "SplitCode",
    "TryLines",
    "UnsupportedFunctionError",
    "convert_code",
    "convert_function",
    "instantiate",
    "is_converted",
    "refuse_generator",
    "source_of",
    "split_code",
    "stage_sources",
    "tries_around",
]
