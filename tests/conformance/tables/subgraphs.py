"""Sub-graphs of models, with their inputs."""

from __future__ import annotations

from tests.conformance.spec import Row, T, index, literal, row, t
from tests.conformance.subgraphs import Subgraph


def subgraph(name: str, *inputs: T) -> Row:
    """Return the row of a sub-graph."""
    return row(f"subgraph {name}", *inputs).through(Subgraph(name)).as_function_only()


ROWS = [
    subgraph("conv_bn_act", t(2, 4, 7, 6)),
    subgraph("attention", t(2, 5, 8)),
    subgraph("shifted_windows", t(2, 6, 7, 3)),
    subgraph("feature_pyramid", t(1, 3, 9, 8), t(1, 6, 5, 4)),
    subgraph("anchors_decoded", t(12, 4), t(1, 2, 3, 4, grad=False)),
    subgraph("recurrent_head", t(2, 3, 1, 5)),
    subgraph("focal_loss", t(2, 3, 4, 5), index(2, 4, 5, below=3)),
    subgraph("diffusion_step", t(2, 4, 3, 3), literal([3, 700])),
    subgraph("second_derivative", t(5, 1)),
    subgraph("messages", t(4, 3), literal([0, 1, 2, 3, 3]), literal([1, 2, 0, 0, 2])),
]
