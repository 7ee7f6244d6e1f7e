"""Functions of `static.nn` whose results are compared with PaddlePaddle 3.3.1's (nn_paddle.json).

Record again with a Python that has PaddlePaddle:
`FLAGS_enable_pir_api=0 python tests/static/nn_cases.py > tests/static/nn_paddle.json`.
"""

import importlib
import json
import sys

import numpy as np

INPUTS = {
    "image": ([2, 4, 5, 5], "float32"),
    "volume": ([1, 2, 3, 3, 3], "float32"),
    "rows": ([3, 4], "float32"),
    "others": ([3, 2], "float32"),
    "steps": ([2, 5, 3], "float32"),
    "ids": ([2, 3], "int64"),
    "offset": ([2, 8, 4, 4], "float32"),
    "mask": ([2, 4, 4, 4], "float32"),
}

# name -> function of (paddle, inputs by name)
CASES = {
    "fc": lambda p, x: p.static.nn.fc(x["image"], 3),
    "fc_flat2": lambda p, x: p.static.nn.fc(x["image"], 3, num_flatten_dims=2, activation="relu"),
    "fc_list": lambda p, x: p.static.nn.fc([x["rows"], x["others"]], 2, activation="tanh"),
    "fc_without_bias": lambda p, x: p.static.nn.fc(x["rows"], 2, bias_attr=False, activation="softmax"),
    "conv2d": lambda p, x: p.static.nn.conv2d(x["image"], 3, 3, stride=2, padding=1, act="relu"),
    "conv2d_groups": lambda p, x: p.static.nn.conv2d(x["image"], 4, [2, 3], groups=2, dilation=2, bias_attr=False),
    "conv2d_transpose": lambda p, x: p.static.nn.conv2d_transpose(x["image"], 3, filter_size=3, stride=2, padding=1),
    "conv2d_transpose_size": lambda p, x: p.static.nn.conv2d_transpose(x["image"], 2, output_size=[11, 11], stride=2),
    "conv3d": lambda p, x: p.static.nn.conv3d(x["volume"], 2, 2),
    "conv3d_transpose": lambda p, x: p.static.nn.conv3d_transpose(x["volume"], 2, filter_size=2),
    "batch_norm": lambda p, x: p.static.nn.batch_norm(x["image"], act="relu"),
    "batch_norm_rows": lambda p, x: p.static.nn.batch_norm(x["rows"], momentum=0.5, epsilon=1e-3),
    "batch_norm_test": lambda p, x: p.static.nn.batch_norm(x["image"], is_test=True),
    "layer_norm": lambda p, x: p.static.nn.layer_norm(x["image"], begin_norm_axis=2),
    "layer_norm_plain": lambda p, x: p.static.nn.layer_norm(x["rows"], scale=False, shift=False, act="sigmoid"),
    "group_norm": lambda p, x: p.static.nn.group_norm(x["image"], 2, param_attr=True, bias_attr=True),
    "instance_norm": lambda p, x: p.static.nn.instance_norm(x["image"]),
    "prelu_all": lambda p, x: p.static.nn.prelu(x["image"], "all"),
    "prelu_channel": lambda p, x: p.static.nn.prelu(x["image"], "channel"),
    "prelu_element": lambda p, x: p.static.nn.prelu(x["image"], "element"),
    "embedding": lambda p, x: p.static.nn.embedding(x["ids"], [5, 3]),
    "embedding_padding": lambda p, x: p.static.nn.embedding(x["ids"], [5, 3], padding_idx=-4),
    "bilinear": lambda p, x: p.static.nn.bilinear_tensor_product(x["rows"], x["others"], 3),
    "row_conv": lambda p, x: p.static.nn.row_conv(x["steps"], 2, act="relu"),
    "spectral_norm": lambda p, x: p.static.nn.spectral_norm(
        p.static.create_parameter([3, 4, 2], "float32"), dim=1, power_iters=2
    ),
    "deform_conv2d": lambda p, x: p.static.nn.deform_conv2d(x["image"], x["offset"], x["mask"], 3, 2),
}


def numbers(shape, dtype, start=0):
    """Fixed numbers, of both signs."""
    count = int(np.prod(shape))
    if dtype == "int64":
        return (np.arange(count) % 5).reshape(shape)
    return np.sin(np.arange(start, start + count) * 1.7).reshape(shape).astype(dtype)


def run(paddle, name):
    """Names and shapes of the parameters, and the outputs of two runs with fixed parameters."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    scope = paddle.static.Scope() if hasattr(paddle.static, "Scope") else paddle.static.global_scope().__class__()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        inputs = {key: paddle.static.data(key, *kind) for key, kind in INPUTS.items()}
        out = CASES[name](paddle, inputs)
    with paddle.static.scope_guard(scope):
        exe = paddle.static.Executor(paddle.CPUPlace())
        exe.run(startup)
        held = main.all_parameters()
        for i, parameter in enumerate(held):
            value = numbers(parameter.shape, "float32", 10 * i)
            scope.find_var(parameter.name).get_tensor().set(np.abs(value) + 0.1 if i > 1 else value, paddle.CPUPlace())
        feed = {key: numbers(*kind) for key, kind in INPUTS.items()}
        outs = [np.asarray(exe.run(main, feed=feed, fetch_list=[out])[0]) for _ in range(2)]
        after = [np.array(scope.find_var(parameter.name).get_tensor()) for parameter in held]
    return {
        "parameters": [[parameter.name, list(parameter.shape)] for parameter in held],
        "outputs": [[list(o.shape), [float(f"{v:.7g}") for v in o.ravel()]] for o in outs],
        "after": [[float(f"{v:.6g}") for v in a.ravel()] for a in after],
    }


def record(paddle):
    """What nn_paddle.json holds."""
    return {name: run(paddle, name) for name in CASES}


if __name__ == "__main__":
    found = importlib.import_module("paddle")
    found.enable_static()
    json.dump(record(found), sys.stdout)
