"""What a predictor and its clones share of a native program: the library. It takes and gives arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..aot.loading import load
from ..core.errors import ArgumentError
from .config import Config
from .handle import Tensor
from .named import named


class NativeModel:
    """As `ProgramModel`, of a native program."""

    def __init__(self, file: str, config: Config) -> None:
        if config.use_gpu():
            raise ArgumentError(f"{file} is a native program, which runs on the CPU", hint="config.disable_gpu()")
        functions = load(file).functions
        if "forward" not in functions:
            raise ArgumentError(f"the model has no function `forward`, it has {', '.join(functions)}")
        self._program = functions["forward"]
        self._threads = config.cpu_math_library_num_threads()
        self.inputs, self.input_metas = named(self._program.input_names), self._program.input_metas
        self.outputs, self.output_metas = named(self._program.output_names), self._program.output_metas

    def run(self, inputs: Sequence[Tensor]) -> list[np.ndarray[Any, Any]]:
        """The outputs for what these handles hold."""
        self._program.set_threads(self._threads)  # the library's, which another predictor of the same file may have set
        return self._program(*[handle.array() for handle in inputs])
