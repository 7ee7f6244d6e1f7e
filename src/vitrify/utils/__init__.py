"""`paddle.utils`: exchange of memory with other libraries, unique names, nested structures, optional modules."""

from . import cpp_extension, dlpack, download, layers_utils, unique_name
from .batches import batch as batch
from .check import run_check
from .layers_utils import flatten, map_structure, pack_sequence_as
from .lazy_import import deprecated, require_version, try_import

__all__ = [
    "cpp_extension", "deprecated", "dlpack", "download", "flatten", "layers_utils", "map_structure", "pack_sequence_as",
    "require_version", "run_check", "try_import", "unique_name",
]  # fmt: skip
