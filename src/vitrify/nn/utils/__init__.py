"""`paddle.nn.utils`: reparametrized weights, parameters as vectors, clipping of gradients."""

from .gradients import clip_grad_norm_, clip_grad_value_, parameters_to_vector, vector_to_parameters
from .reparametrize import remove_weight_norm, spectral_norm, weight_norm

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "parameters_to_vector",
    "remove_weight_norm",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]
