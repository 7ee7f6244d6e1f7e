"""Models that would be split into stages: one stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ....core.errors import ArgumentError
from ....eager.layer import Layer
from ....nn import LayerDict
from ...environment import only_one


class LayerDesc:
    """A class of Layers with arguments, to be built later. Source: paddle.distributed.fleet.meta_parallel.LayerDesc."""

    def __init__(self, layer_func_or_spec: Callable[..., Any], *inputs: Any, **kwargs: Any) -> None:
        self.layer_func = layer_func_or_spec
        self.inputs, self.kwargs = inputs, kwargs

    def build_layer(self) -> Any:
        """The Layer."""
        return self.layer_func(*self.inputs, **self.kwargs)

    def __repr__(self) -> str:
        given = [*map(repr, self.inputs), *(f"{name}={value!r}" for name, value in self.kwargs.items())]
        return f"{self.layer_func.__name__}({', '.join(given)})"


class SharedLayerDesc(LayerDesc):
    """A Layer that stands in several places, under one key.

    Source: paddle.distributed.fleet.meta_parallel.SharedLayerDesc.
    """

    def __init__(
        self, key: str, layer_func: Callable[..., Any], forward_func: Callable[..., Any] | None = None,
        shared_weight_attr: str | list[str] = "weight", *inputs: Any, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(layer_func, *inputs, **kwargs)
        self.layer_name = key
        self.forward_func = forward_func
        self.shared_weight_attr = shared_weight_attr


class PipelineLayer(Layer):
    """Layers, one after the other, which would be split into stages; here all of them are one stage.

    `layers` are Layers, functions, LayerDescs and SharedLayerDescs; those of one key are one Layer.
    Source: paddle.distributed.fleet.meta_parallel.PipelineLayer.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.distributed.fleet.meta_parallel import LayerDesc, PipelineLayer
        >>> net = PipelineLayer([LayerDesc(paddle.nn.Linear, 4, 3), paddle.nn.functional.relu], num_stages=1)
        >>> list(net(paddle.ones([2, 4])).shape), sorted(net.state_dict())
        ([2, 3], ['0.bias', '0.weight'])
    """

    def __init__(
        self, layers: Sequence[Any], num_stages: int | None = None, topology: Any = None, loss_fn: Any = None,
        seg_method: str = "uniform", recompute_interval: int = 0, recompute_ctx: Any = None,
        num_virtual_pipeline_stages: int | None = None, use_cudagraph: bool = False, use_dualpipev: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if num_stages is None and topology is None:
            raise ArgumentError("PipelineLayer: should provide num_stages or topology", hint="pass num_stages=1")
        only_one("PipelineLayer: num_stages", num_stages or 1)
        self._layers_desc = list(layers)
        self.run_function: list[Callable[..., Any]] = []
        self.shared_layers = LayerDict()
        self._loss_fn = loss_fn
        for place, item in enumerate(self._layers_desc):
            self.run_function.append(self._step(str(place), item))

    def _step(self, place: str, item: Any) -> Callable[..., Any]:
        """What runs for an item, which is built and added under its place or key."""
        if isinstance(item, SharedLayerDesc):
            if item.layer_name not in self.shared_layers:
                self.shared_layers[item.layer_name] = item.build_layer()
            shared = self.shared_layers[item.layer_name]
            return shared if item.forward_func is None else partial(item.forward_func, shared)
        built = item.build_layer() if isinstance(item, LayerDesc) else item
        if isinstance(built, Layer):
            self.add_sublayer(place, built)
        step: Callable[..., Any] = built
        return step

    def forward(self, input: Any, chunk_id: int | None = None) -> Any:
        """What the last one gives for what the ones before it give for the input."""
        for step in self.run_function:
            input = step(input)
        return input


__all__ = ["LayerDesc", "PipelineLayer", "SharedLayerDesc"]
