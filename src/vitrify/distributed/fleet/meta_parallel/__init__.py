"""`paddle.distributed.fleet.meta_parallel`: layers split over processes, whole in the one process there is."""

from .mp_layers import ColumnParallelLinear, ParallelCrossEntropy, RowParallelLinear, VocabParallelEmbedding
from .pipeline import LayerDesc, PipelineLayer, SharedLayerDesc
from .random_states import RNGStatesTracker, get_rng_state_tracker

__all__ = [
    "ColumnParallelLinear", "LayerDesc", "ParallelCrossEntropy", "PipelineLayer", "RNGStatesTracker",
    "RowParallelLinear", "SharedLayerDesc", "VocabParallelEmbedding", "get_rng_state_tracker",
]  # fmt: skip
