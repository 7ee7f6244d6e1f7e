"""The language model's step with matrix products in bfloat16 (auto_cast, level O1) and parameters in float32."""

from typing import Any

from benchmarks.case import Case
from benchmarks.models import transformer
from benchmarks.workloads.gpt import SIZE

TITLE = "GPT 4 layers d 256 T 128 batch 8, AdamW step, bfloat16 autocast"


def paddle(paddle: Any, compiled: bool) -> Case:
    return transformer.in_paddle(paddle, compiled, SIZE, "bfloat16")


def torch(compiled: bool) -> Case:
    return transformer.in_torch(compiled, SIZE, "bfloat16")
