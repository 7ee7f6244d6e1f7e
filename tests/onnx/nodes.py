"""Files of one node, as other frameworks write them, and what ONNX Runtime makes of them."""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import vitrify as paddle


def saved(folder, type_, fed, kept, outputs=1, open_dims=(), opset=17, **attrs):
    """A file of one node: its inputs are `fed` (arrays by name) and then `kept`; None is left out."""
    names = [*fed, *kept]
    given = [n if {**fed, **kept}[n] is not None else "" for n in names]
    node = helper.make_node(type_, given, [f"y{i}" for i in range(outputs)], **attrs)
    return saved_graph(folder, [node], fed, kept, outputs, open_dims, opset)


def saved_graph(folder, nodes, fed, kept=None, outputs=1, open_dims=(), opset=17, functions=(), domains=(), typed=True):
    """A file of nodes that give y0, y1, ... from the inputs `fed` and the initializers `kept`."""
    ins = [
        helper.make_tensor_value_info(
            n,
            helper.np_dtype_to_tensor_dtype(a.dtype),
            [f"{n}_{i}" if i in open_dims else s for i, s in enumerate(a.shape)],
        )
        for n, a in fed.items()
    ]
    tensors = [numpy_helper.from_array(a, n) for n, a in (kept or {}).items() if a is not None]
    made = [helper.make_tensor_value_info(f"y{i}", TensorProto.UNDEFINED, None) for i in range(outputs)]
    graph = helper.make_graph(nodes, "g", ins, made, tensors)
    opsets = [helper.make_opsetid("", opset), *[helper.make_opsetid(d, 1) for d in domains]]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=list(functions))
    path = str(folder / "m.onnx")
    onnx.save(onnx.shape_inference.infer_shapes(model) if typed else model, path)
    return path


def agrees(path, fed):
    """The file gives here what it gives in ONNX Runtime."""
    wanted = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, fed)
    found = paddle.onnx.load(path)(*map(paddle.to_tensor, fed.values()))
    found = found if isinstance(found, (list, tuple)) else [found]
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        assert a.shape == list(b.shape)
        assert str(a.dtype).split(".")[-1] == str(b.dtype)
        np.testing.assert_allclose(a.numpy(), b, rtol=1e-5, atol=1e-5)
