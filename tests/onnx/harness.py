"""Exported models, checked by ONNX's checker, run by ONNX Runtime and read back."""

import numpy as np
import onnx
import onnxruntime as ort

import vitrify as paddle
from vitrify.core.errors import UnsupportedError
from vitrify.ir.decompose import block_in_other_ops
from vitrify.onnx.write import has_form, model_of, tensor_proto
from vitrify.runtime.lowering import lower
from vitrify.testing.paths import Call, metas_of, record

ort.set_default_logger_severity(4)  # it warns of constants that it folds away


def narrow(array):
    """As float32: runtimes have few kernels for float64."""
    return array.astype(np.float32) if array.dtype == np.float64 else array


def session(model):
    return ort.InferenceSession(model, providers=["CPUExecutionProvider"])


def close(found, wanted, tol=2e-4):
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape and found.dtype == wanted.dtype, (found.shape, wanted.shape, found.dtype)
    np.testing.assert_allclose(found.astype(np.float64), wanted.astype(np.float64), rtol=tol, atol=tol)


def program_of(case, unknown=False):
    """The recorded call of a case in float32, with its arrays."""
    call = Call(case)
    with np.errstate(over="ignore"):
        arrays = [narrow(a) for a in call.arrays]
    recorded = record(call.on, metas_of(arrays, unknown))
    recorded.program.global_block().outputs = list(recorded.outputs)
    return recorded, arrays


def model_bytes(recorded, names, opset):
    block = block_in_other_ops(recorded.program.global_block(), has_form)
    model, tensors = model_of(block, {}, names, {}, opset=opset)
    model.graph.initializer.extend(tensor_proto(name, array) for name, array in tensors.items())
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString()


def check_program(recorded, arrays, opset=18):
    """The program's results in ONNX Runtime are those of our own runtime; False where an op refuses."""
    names = [f"x{i}" for i in range(len(arrays))]
    try:
        data = model_bytes(recorded, names, opset)
    except UnsupportedError:
        return False
    running = session(data)
    taken = {i.name for i in running.get_inputs()}
    found = running.run(None, {n: a for n, a in zip(names, arrays) if n in taken})
    block = recorded.program.global_block()
    for got, wanted in zip(found, lower(block, recorded.inputs, block.outputs)(*arrays), strict=True):
        close(got, wanted)
    return True


def flat(result):
    return [np.asarray(t.numpy() if hasattr(t, "numpy") else t) for t in
            (result if isinstance(result, (list, tuple)) else [result])]  # fmt: skip


def check_model(layer, path, specs, *calls, tol=2e-4, **configs):
    """Exported, checked, run by ONNX Runtime and read back, the layer gives what it gives eagerly; the read Layer."""
    paddle.onnx.export(layer, path, input_spec=specs, **configs)
    onnx.checker.check_model(f"{path}.onnx", full_check=True)
    back = paddle.onnx.load(path)
    running = session(f"{path}.onnx") if calls else None
    if isinstance(layer, paddle.nn.Layer):
        layer.eval()
    for arrays in calls:
        tensors = [paddle.to_tensor(a) for a in arrays]
        wanted = flat(layer(*tensors))
        found = running.run(None, {i.name: a for i, a in zip(running.get_inputs(), arrays)})
        for results in (found, flat(back(*tensors))):
            assert len(results) == len(wanted)
            for got, want in zip(results, wanted):
                close(got, want, tol)
    return back
