"""From our Program to an ONNX model: every operator by the form of its op, nothing here knows one by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.dtype import from_np
from ..core.errors import UnsupportedError, VitrifyError
from ..core.little_endian import little_endian
from ..core.meta import ListMeta, Meta, Ref
from ..ir.dead_code import live_operators
from ..ir.program import Block, Literal, Operator, Variable
from . import blocks, boxes, indexing, layers, patches, pooling, python_numbers, reductions, tensors
from .graph import Value, element_type, onnx_package
from .reasons import reason_without_form
from .scalars import write_expression
from .table import FORMS, Context

# The rooms whose import enters their forms in the table.
ROOMS = (tensors, boxes, indexing, reductions, layers, pooling, patches, python_numbers, blocks)
_DIRECT_SINCE = {"HardSwish": 14, "Mish": 18}


def has_form(op: Any) -> bool:
    """Whether the op has an ONNX form, its own or by its scalar expression."""
    return FORMS.get(op) is not None or (op.scalar is not None and reason_without_form(op) is None)


def write_block(g: Context, block: Block, values: Sequence[Value]) -> list[Any]:
    """The nodes of a block, given a value for each input; gives a value for each output (None for those left out)."""
    around = (g.metas, g.input_metas, g.wanted, g.op_name)  # of the operator whose block this is
    env = {var: blocks.inner_value(g, value) for var, value in zip(block.inputs, values)}
    operators = live_operators(block, block.outputs)
    read = {id(v) for op in operators for v in op.inputs} | {id(v) for v in block.outputs}
    for operator in operators:
        wanted = frozenset(i for i, v in enumerate(operator.outputs) if id(v) in read)
        for var, value in zip(operator.outputs, _operator(g, operator, env, wanted)):
            if value is not None:
                env[var] = _settled(g, value, var.meta)
    g.metas, g.input_metas, g.wanted, g.op_name = around
    return [None if v is None else env[v] for v in block.outputs]


def _settled(g: Context, value: Value, meta: Any) -> Value:
    """A form's value as the one of a variable: of its dtype, and with what is known of its shape."""
    if isinstance(meta, ListMeta):
        return value
    return Value(g, value.cast(meta.dtype).name, meta.dtype, meta.shape)


def _operator(g: Context, operator: Operator, env: Mapping[Variable, Value], wanted: frozenset[int]) -> list[Any]:
    try:
        g.metas = tuple(v.meta for v in operator.outputs)
        g.input_metas = tuple(None if v is None else v.meta for v in operator.inputs)
        g.wanted, g.op_name = wanted, operator.op.name
        given = [_input(g, v, env) for v in operator.inputs]
        attrs = {name: _attribute(g, attr, given) for name, attr in operator.attrs.items()}
        found = _written(g, operator, given[: len(given) - operator.ref_count], attrs)
    except VitrifyError as err:
        loc = err.loc or (operator.locs[0] if operator.locs else None)
        prefix = "" if err.message.startswith("onnx") else f"onnx: {operator.op.name}: "
        raise UnsupportedError(f"{prefix}{err.message}", loc=loc, hint=err.hint) from err
    return [found] if isinstance(found, Value) else list(found)


def _written(g: Context, operator: Operator, inputs: list[Any], attrs: dict[str, Any]) -> Any:
    op = operator.op
    for meta in (*g.metas, *g.input_metas):
        if isinstance(meta, Meta):
            element_type(meta.dtype)
    form = FORMS.get(op)
    if form is not None:
        return form(g, *inputs, **attrs)
    reason = reason_without_form(op)
    if reason is not None or op.scalar is None:
        raise UnsupportedError(f"it has no ONNX form: {reason or 'nobody wrote one'}")
    name = op.maps.get("onnx", "")
    is_direct = bool(name) and len(inputs) == 1 and not op.attrs and g.opset >= _DIRECT_SINCE.get(name, 0)
    if is_direct and inputs[0].dtype.name in ("float32", "float16") and g.metas[0].dtype is inputs[0].dtype:
        return g.node(name, inputs[0])
    return write_expression(g, op.scalar, inputs, attrs)


def _input(g: Context, value: Any, env: Mapping[Variable, Value]) -> Any:
    if isinstance(value, Literal):
        return g.constant(value.value, value.dtype)
    return None if value is None else env[value]


def _attribute(g: Context, attr: Any, inputs: Sequence[Any]) -> Any:
    """An attribute with a Value for each Ref in it."""
    if isinstance(attr, Ref):
        found = inputs[attr.index]
        return found if attr.item is None else g.gather(found, attr.item, 0)
    if isinstance(attr, slice):
        return slice(*[_attribute(g, part, inputs) for part in (attr.start, attr.stop, attr.step)])
    if isinstance(attr, (list, tuple)):
        return tuple(_attribute(g, part, inputs) for part in attr)
    return attr


# -- models ------------------------------------------------------------------------------------------------------------


def model_of(
    block: Block, arrays: Mapping[str, np.ndarray[Any, Any]], names: Sequence[str], dims: Mapping[str, Any], *,
    opset: int, drop_checks: bool = False, graph_name: str = "forward",
) -> tuple[Any, dict[str, np.ndarray[Any, Any]]]:  # fmt: skip
    """A ModelProto without its tensors, and these by name.

    The first inputs of `block` get `names`, the others are `arrays`, in their order. dims: names of unknown sizes, for
    an input name a mapping from dimension to name.
    """
    g = Context(opset, drop_checks=drop_checks, inline=write_block)
    for name in (*names, *arrays):
        g.fresh(name)
    inputs = [blocks.value_of(g, name, var.meta) for name, var in zip(names, block.inputs)]
    infos = [_named(blocks.type_info(n, v.meta), n, dims.get(n, {})) for n, v in zip(names, block.inputs)]
    held = [g.initializer(name, array) for name, array in arrays.items()]
    helper = onnx_package().helper
    outs = write_block(g, block, [*inputs, *held])
    results = []
    for number, (value, var) in enumerate(zip(outs, block.outputs)):
        name = g.fresh(f"output_{number}")
        g.nodes.append(helper.make_node("Identity", [value.name], [name]))
        results.append(blocks.type_info(name, var.meta if var is not None else None))
    used = _names_used(g.nodes)
    graph = helper.make_graph(g.nodes, graph_name, infos, results)
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=opsets, producer_name="vitrify")
    model.ir_version = helper.find_min_ir_version_for(opsets)
    return model, {name: array for name, array in g.initializers.items() if name in used}


def _named(info: Any, name: str, dims: Mapping[int, str]) -> Any:
    """A tensor's info with a name for each unknown size."""
    if info.type.HasField("tensor_type"):
        for at, dim in enumerate(info.type.tensor_type.shape.dim):
            if not dim.HasField("dim_value"):
                dim.dim_param = dims.get(at, f"{name}_dim_{at}")
    return info


def _names_used(nodes: Sequence[Any]) -> set[str]:
    found: set[str] = set()
    for node in nodes:
        found.update(node.input)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                found |= _names_used(attribute.g.node) | {o.name for o in attribute.g.output}
    return found


def tensor_proto(name: str, array: np.ndarray[Any, Any]) -> Any:
    """An array as a TensorProto that holds its bytes."""
    dtype = element_type(from_np(array.dtype))
    data = bytes(little_endian(array))
    return onnx_package().TensorProto(name=name, dims=array.shape, data_type=dtype, raw_data=data)
