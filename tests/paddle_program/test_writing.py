"""Programs written for PaddlePaddle: they are read back, and what has no form is named."""

import json

import numpy as np
import pytest

import vitrify as paddle
from tests.paddle_program.corpus import C, inputs
from tests.paddle_program.models import models
from vitrify import nn
from vitrify.core.errors import ArgumentError, FileFormatError, UnsupportedError
from vitrify.ops.registry import get_op
from vitrify.paddle_program.emitter import FORMS
from vitrify.paddle_program.exporting import ROOMS
from vitrify.paddle_program.program_desc_pb2 import ProgramDesc

SPEC = paddle.static.InputSpec
F = nn.functional
LAST = {"data_format": "NHWC"}
FORMATS = {"paddle": ".pdmodel", "paddle3": ".json"}


def as_list(found):
    return list(found) if isinstance(found, (list, tuple)) else [found]


def desc_of(path):
    return ProgramDesc.FromString(path.read_bytes())


def round_trip(function, specs, given, folder, kind, rtol=2e-5):
    wanted = as_list(function(*given))
    paddle.jit.save(function, folder / "model", input_spec=specs, format=kind)
    back = paddle.jit.load(str(folder / "model") + FORMATS[kind])
    found = as_list(back(*given))
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=rtol, atol=1e-5)
    return back


@pytest.mark.parametrize("part", range(6))
@pytest.mark.parametrize("kind", FORMATS)
def test_operators(kind, part, tmp_path):
    for name, (function, shapes) in list(C.items())[part::6]:
        specs = [
            SPEC([None if s == -1 else s for s in shape], dtype, f"a{i}") for i, (shape, dtype) in enumerate(shapes)
        ]
        given = [paddle.to_tensor(x) for x in inputs(name)]
        round_trip(lambda *a, f=function: f(paddle, *a), specs, given, tmp_path, kind)


X = [[-1.5, 0.0, -0.0, 2.25], [0.3, float("nan"), float("inf"), -float("inf")]]
Y = [[2.0, -3.0, 0.5, -0.0], [1.5, 1.0, 2.0, 3.0]]
SHARES = [[0.1, 0.5, 0.9, 0.25], [0.2, 0.75, 0.4, 0.6]]
WHOLE, BITS = [[5, -7, 8, 0]], [[2, 3, 1, 2]]
# Ops that Paddle's programs have no operator for; the outputs of these agree in PaddlePaddle 3.3.1's paddle.inference.
COMPOSED = {
    "angle": (paddle.angle, X), "deg2rad": (paddle.deg2rad, X), "of whole numbers": (paddle.rad2deg, WHOLE),
    "frac": (paddle.frac, SHARES), "copysign": (paddle.copysign, X, Y), "heaviside": (paddle.heaviside, X, Y),
    "hypot": (paddle.hypot, X, Y), "isclose": (lambda a, b: paddle.isclose(a, b, equal_nan=True), X, X),
    "isneginf": (paddle.isneginf, X), "isposinf": (paddle.isposinf, X), "isreal": (paddle.isreal, X),
    "lerp": (lambda a, b: paddle.lerp(a, b, 0.3), SHARES, Y), "logaddexp": (paddle.logaddexp, SHARES, Y),
    "logit": (lambda a: paddle.logit(a, 1e-3), SHARES), "nan_to_num": (paddle.nan_to_num, X), "sgn": (paddle.sgn, X),
    "signbit": (paddle.signbit, X), "sinc": (paddle.sinc, SHARES), "stanh": (paddle.stanh, X),
    "round": (lambda a: paddle.round(a, 1), SHARES), "left": (paddle.bitwise_left_shift, WHOLE, BITS),
    "right": (paddle.bitwise_right_shift, WHOLE, BITS), "real": (paddle.real, X), "conj": (paddle.conj, X),
    "unfold": (lambda a: a.unfold(1, 3, 1), SHARES), "linspace": (lambda a: a * paddle.linspace(0, 1, 4), SHARES),
    "triangle": (lambda a: a.sum() + paddle.tril_indices(3, 3).sum(), SHARES),
    "rms_norm": (lambda a: F.rms_norm(a, [4], paddle.to_tensor([1.0, 2.0, 3.0, 4.0]))[0], SHARES),
    "patches": (lambda a: F.unfold(a.unsqueeze(0).unsqueeze(0), [1, 3], [1, 2], [1, 0, 2, 3]), SHARES),
    "rank": (lambda a: a + paddle.rank(a), SHARES), "is_empty": (paddle.is_empty, SHARES),
    "equal_all": (lambda a: paddle.equal_all(a.sum(0) * 2, (a * 2).sum(0)), SHARES),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPOSED)
@pytest.mark.parametrize("kind", FORMATS)
def test_compositions(kind, name, tmp_path):
    function, *values = COMPOSED[name]
    given = [paddle.to_tensor(v) for v in values]
    specs = [SPEC([None, *t.shape[1:]], t.dtype, f"x{i}") for i, t in enumerate(given)]
    round_trip(function, specs, given, tmp_path, kind)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", ["tiny_conv", "tiny_transformer"])
def test_models(name, kind, tmp_path):
    make, specs, given = models()[name]
    net = make()
    net.eval()
    back = round_trip(net, specs, [paddle.to_tensor(x) for x in given], tmp_path, kind, rtol=1e-4)
    assert len(back.parameters()) == len([p for p in net.parameters() if not p.stop_gradient])
    assert {t.name for t in back.state_dict().values()} >= {p.name for p in net.parameters()}


def with_branch(x):
    total = x.sum()
    if total > 1:
        x = x + 1
        if total > 3:
            total = total * 2
    return x, total


def with_loop(x):
    i = paddle.zeros([], "int64")
    while i < 4:
        if x.sum() > 2:
            x = x - paddle.to_tensor([1.0, 0.5])
        else:
            x = x * 3
        i = i + 1
    return x, i


def with_nested_loops(x):
    total = x.sum()
    while total < 100:
        j = paddle.zeros([], "int64")
        while j < 2:
            total = total + x.max() * 3
            j = j + 1
    return total


@pytest.mark.parametrize("kind", FORMATS)
def test_control_flow(kind, tmp_path):
    make, specs, given = models()["branches"]
    round_trip(make(), specs, [paddle.to_tensor(x) for x in given], tmp_path, kind)
    for function in (with_branch, with_loop, with_nested_loops):
        for start in ([0.1, 0.2], [5.0, 4.0], [1.0, 0.5]):
            round_trip(function, [SPEC([2])], [paddle.to_tensor(start)], tmp_path, kind)


def test_blocks_of_pdmodel_programs_are_those_of_paddle(tmp_path):
    paddle.jit.save(with_loop, tmp_path / "f", input_spec=[SPEC([2], name="x")], format="paddle")
    blocks = desc_of(tmp_path / "f.pdmodel").blocks
    assert [b.parent_idx for b in blocks] == [-1, 0, 1, 1]
    inner = [op.type for op in blocks[1].ops]
    assert [inner.count(kind) for kind in ("conditional_block", "logical_not", "select_input")] == [2, 1, 1]
    (loop,) = [op for op in blocks[0].ops if op.type == "while"]
    names = {slot.parameter: list(slot.arguments) for slot in (*loop.inputs, *loop.outputs)}
    assert names["Out"][0] == names["Condition"][0] and set(names["Out"][1:]) <= set(names["X"])


def test_a_block_that_two_operators_run_is_refused(tmp_path):
    """Of such blocks in each other, thirty in a file of some kilobytes would take years to read."""
    paddle.jit.save(with_nested_loops, tmp_path / "f", input_spec=[SPEC([2], name="x")], format="paddle")
    found = desc_of(tmp_path / "f.pdmodel")
    inner = next(op for op in found.blocks[1].ops if op.type == "while")
    found.blocks[1].ops.add().CopyFrom(inner)
    (tmp_path / "f.pdmodel").write_bytes(found.SerializeToString())
    with pytest.raises(FileFormatError, match="block 2 is run by two operators"):
        paddle.jit.load(tmp_path / "f.pdmodel")


@pytest.mark.parametrize("kind", FORMATS)
def test_methods_structures_and_inputs_handed_through(kind, tmp_path):
    class Net(nn.Layer):
        def forward(self, pair):
            return {"sum": pair[0] + pair[1], "same": pair[0]}

        @paddle.jit.to_static(input_spec=[SPEC([2], name="x")])
        def double(self, x):
            return x * 2

    paddle.jit.save(Net(), tmp_path / "net", input_spec=[[SPEC([2], name="a"), SPEC([2], name="a")]], format=kind)
    total, same = paddle.jit.load(str(tmp_path / "net") + FORMATS[kind])(paddle.ones([2]), paddle.full([2], 2.0))
    assert total.tolist() == [3.0, 3.0] and same.tolist() == [1.0, 1.0]
    assert paddle.jit.load(str(tmp_path / "net.double") + FORMATS[kind])(paddle.ones([2])).tolist() == [2.0, 2.0]


def test_the_files_are_in_paddles_form(tmp_path):
    net = nn.Linear(2, 3)
    paddle.jit.save(net, tmp_path / "net", input_spec=[SPEC([None, 2], name="x")], format="paddle3")
    data = json.loads((tmp_path / "net.json").read_text())
    ops = data["program"]["regions"][0]["blocks"][0]["ops"]
    assert data["base_code"]["magic"] == "pir"
    assert [op["#"] for op in ops][:3] == ["p", "p", "1.data"] and ops[-1]["#"] == "1.fetch"
    params = (tmp_path / "net.pdiparams").read_bytes()
    paddle.jit.save(net, tmp_path / "net", input_spec=[SPEC([None, 2], name="x")], format="paddle")
    assert (tmp_path / "net.pdiparams").read_bytes() == params
    proto = ProgramDesc.FromString((tmp_path / "net.pdmodel").read_bytes())
    kinds = [op.type for op in proto.blocks[0].ops]
    assert kinds[0] == "feed" and kinds[-1] == "fetch" and "matmul_v2" in kinds
    # bias before weight: by name; elements begin at multiples of 64
    assert params[64 : 64 + 12] == net.bias.numpy().tobytes() and params[128:] == net.weight.numpy().tobytes()


@pytest.mark.parametrize("kind", FORMATS)
def test_all_ops_without_a_form_are_named_at_once(kind, tmp_path):
    def function(x):
        return paddle.linalg.matrix_exp(x.astype("complex64")).real(), x.view("int32")

    with pytest.raises(UnsupportedError, match=r"the ops matrix_exp, view_dtype have no form in Paddle's programs"):
        paddle.jit.save(function, tmp_path / "f", input_spec=[SPEC([2, 2])], format=kind)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ArgumentError, match="no setting of this format"):
        paddle.jit.save(nn.Linear(1, 1), tmp_path / "f", input_spec=[SPEC([1, 1])], format=kind, opset_version=3)


@pytest.mark.parametrize("kind", FORMATS)
def test_indices(kind, tmp_path):
    def function(x):
        return x[::-1, None, 1], x[:, 3:0:-2], x[None, ..., ::-1, 0], x[1:1], x[-1, ::2], x[:, -2:]

    x = paddle.arange(24, dtype="float32").reshape([2, 4, 3])
    round_trip(function, [SPEC([None, 4, 3])], [x], tmp_path, kind)
    round_trip(lambda x: x[:-1], [SPEC([None, 3])], [x[0]], tmp_path, kind)


AT, COLUMN = paddle.to_tensor([1, -2, 0]), paddle.to_tensor([[0], [-1]])
ARRAYS_AS_INDICES = {
    "behind another dimension": lambda x, i, j: x[:, i, i],
    "that broadcast": lambda x, i, j: x[j, i],
    "that broadcast, behind another": lambda x, i, j: x[:, j, i],
    "around another dimension": lambda x, i, j: x[j, :, i],
    "of two dimensions": lambda x, i, j: x[:, j],
    "a mask behind another": lambda x, i, j: x[:, i > 0],
}


@pytest.mark.parametrize("name", ARRAYS_AS_INDICES)
@pytest.mark.parametrize("kind", FORMATS)
def test_arrays_as_indices(kind, name, tmp_path):
    function = ARRAYS_AS_INDICES[name]
    x = paddle.arange(27, dtype="float32").reshape([3, 3, 3])
    for known in (True, False):
        specs = [SPEC(v.shape if known else [None] * v.ndim, v.dtype, f"a{i}") for i, v in enumerate((x, AT, COLUMN))]
        if known or "broadcast" not in name:  # a size of 1 that only the run knows
            round_trip(function, specs, [x, AT, COLUMN], tmp_path, kind)


def test_forms_are_of_ops():
    assert ROOMS
    assert all(get_op(name).name == name for name in FORMS.names())


def test_what_nothing_uses_is_not_written(tmp_path):
    """PaddlePaddle's own passes end at operators whose results nothing takes, and count parameters by the program."""

    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x):
            self.second(x)
            return self.first(x) * 0.5

    for kind in FORMATS:
        net = Net()
        back = round_trip(net, [SPEC([None, 3], name="x")], [paddle.ones([2, 3])], tmp_path, kind)
        assert len(back.parameters()) == 2
    kinds = [op.type for op in desc_of(tmp_path / "model.pdmodel").blocks[0].ops]
    assert kinds == ["feed", "matmul_v2", "elementwise_add", "scale", "assign", "fetch"]


def test_parameters_that_no_operator_uses_are_skipped(tmp_path):
    """Other writers keep them."""
    paddle.jit.save(nn.Linear(3, 2), tmp_path / "net", input_spec=[SPEC([None, 3], name="x")], format="paddle")
    proto = desc_of(tmp_path / "net.pdmodel")
    (bias,) = [v for v in proto.blocks[0].vars if v.name.endswith("b_0")]
    unused = proto.blocks[0].vars.add()
    unused.CopyFrom(bias)
    unused.name = "a_unused"
    del proto.blocks[0].ops[-1].attrs[1]  # other writers name no checksum
    data = (tmp_path / "net.pdiparams").read_bytes()
    (tmp_path / "net.pdiparams").write_bytes(data[: 64 + 8] + data)
    (tmp_path / "net.pdmodel").write_bytes(proto.SerializeToString())
    assert len(paddle.jit.load(tmp_path / "net.pdmodel").parameters()) == 3


def test_inputs_are_fed_in_the_order_of_paddles_files(tmp_path):
    specs = [SPEC([2], name="x"), SPEC([2], name="y")]
    paddle.jit.save(lambda x, y: x - y, tmp_path / "f", input_spec=specs, format="paddle")
    fed = [op.attrs[0].i for op in desc_of(tmp_path / "f.pdmodel").blocks[0].ops if op.type == "feed"]
    assert fed == [1, 0]
    assert paddle.jit.load(tmp_path / "f.pdmodel")(paddle.ones([2]), paddle.zeros([2])).tolist() == [1.0, 1.0]


def test_no_operand_of_pdmodel_programs_lacks_dimensions(tmp_path):
    """oneDNN takes none."""
    spec = [SPEC([2, 3], name="x")]
    x = paddle.ones([2, 3])
    round_trip(lambda x: (x * 2.5 + 1 - 0.25) / 3.0 * x.sum(), spec, [x], tmp_path, "paddle")
    block = desc_of(tmp_path / "model.pdmodel").blocks[0]
    shapes = {v.name: list(v.type.lod_tensor.tensor.dims) for v in block.vars}
    kinds = [op.type for op in block.ops if op.type not in ("feed", "fetch")]
    divided = ["fill_constant", "elementwise_div"]
    assert kinds == ["scale", "scale", "scale", *divided, "reduce_sum", "reshape2", "elementwise_mul", "assign"]
    assert all(shapes[name] for op in block.ops if "elementwise" in op.type for i in op.inputs for name in i.arguments)


@pytest.mark.parametrize("kind", FORMATS)
def test_where_broadcasts_over_sizes_that_only_the_run_knows(kind, tmp_path):
    given = [paddle.to_tensor([[True], [False]]), paddle.ones([2, 3]), paddle.zeros([3])]
    specs = [SPEC([None, 1], "bool"), SPEC([None, None]), SPEC([None])]
    round_trip(lambda m, x, y: paddle.where(m, x, y), specs, given, tmp_path, kind)


@pytest.mark.parametrize("kind", FORMATS)
def test_sizes_are_added(kind, tmp_path):
    """One size alone, without dimensions, is still a size."""

    def numbered(x):
        return x * paddle.arange(x.shape[1] + 1, dtype="float32")[1:]

    round_trip(numbered, [SPEC([2, None])], [paddle.ones([2, 3])], tmp_path, kind)


def changed(change):
    """The function that changes a copy of its first argument."""

    def function(x, *rest):
        y = x * 1.0
        change(y, *rest)
        return y

    return function


def write(index, value=None):
    def change(y, *rest):
        given = [r for r in rest if r.dtype == paddle.float32]
        place = index(*[r for r in rest if r.dtype != paddle.float32])
        y[place] = given[0] if value is None else value

    return changed(change)


X = paddle.arange(24, dtype="float32").reshape([2, 3, 4])
ROWS = X[0]
ALL = slice(None)
WRITES = {
    "a number": (write(lambda: (ALL, 1), 0.5), [X]),
    "with steps": (write(lambda: (ALL, slice(0, 3, 2)), 0.5), [X]),
    "everything": (write(lambda: (ALL,), 7.0), [X]),
    "a tensor": (write(lambda: (0, slice(1, 3))), [X, paddle.ones([2, 4])]),
    "at a place that only the run knows": (write(lambda k: (ALL, k), 0.5), [X, paddle.to_tensor(1)]),
    "from a place that only the run knows": (write(lambda k: (slice(k, None),), 0.5), [ROWS, paddle.to_tensor(1)]),
    "at an index": (write(lambda k: k), [ROWS, paddle.to_tensor([2, 0]), paddle.ones([2, 4])]),
    "at an index from the end": (write(lambda k: k, 0.0), [ROWS, paddle.to_tensor([-1, 0])]),
    "behind a dimension": (write(lambda k: (ALL, k), 0.0), [ROWS, paddle.to_tensor([2, 0])]),
    "in a row": (write(lambda k: (1, k), 0.0), [ROWS, paddle.to_tensor([2, 0])]),
    "where a mask holds": (changed(lambda y: y.__setitem__(y > 5, 0.0)), [ROWS]),
    "scatter": (lambda x, k, u: paddle.scatter(x, k, u), [ROWS, paddle.to_tensor([2, 0]), paddle.ones([2, 4])]),
    "scatter_nd_add": (
        lambda x, k, u: paddle.scatter_nd_add(x, k, u), [ROWS, paddle.to_tensor([[2], [2]]), paddle.ones([2, 4])],
    ),
    "index_add": (lambda x, k, u: paddle.index_add(x, k, 1, u), [ROWS, paddle.to_tensor([2, 2]), paddle.ones([3, 2])]),
    "index_put": (
        lambda x, k, u: paddle.index_put(x, (k,), u, True), [ROWS, paddle.to_tensor([2, 2]), paddle.ones([2, 4])],
    ),
    "put_along_axis": (lambda x, k: paddle.put_along_axis(x, k, 1.0, 1), [ROWS, paddle.to_tensor([[3], [0], [1]])]),
    "take_along_axis": (lambda x, k: paddle.take_along_axis(x, k, 1), [ROWS, paddle.to_tensor([[3, 1]])]),
    "a mask": (lambda x: x[x > 5], [ROWS]),
    "indices": (lambda x, a, b: x[a, b], [ROWS, paddle.to_tensor([2, -1]), paddle.to_tensor([0, 3])]),
}  # fmt: skip


@pytest.mark.parametrize("kind", FORMATS)
def test_writing_and_reading_at_indices(kind, tmp_path):
    for function, given in WRITES.values():
        for known in (True, False):
            specs = [SPEC(x.shape if known else [None] * x.ndim, x.dtype, f"a{i}") for i, x in enumerate(given)]
            if function is WRITES["scatter_nd_add"][0] and not known:
                specs[1] = SPEC([None, 1], "int64", "a1")
            round_trip(function, specs, given, tmp_path, kind)


@pytest.mark.parametrize("kind", FORMATS)
def test_what_is_written_into_is_a_copy(kind, tmp_path):
    """Paddle's set_value works in place, and others may read what was there before."""

    def both(x):
        y = x * 2.0
        z = y + 0.0
        z[0] = 7.0
        return y, z, x

    round_trip(both, [SPEC([3], name="x")], [paddle.ones([3])], tmp_path, kind)
    if kind == "paddle":
        ops = desc_of(tmp_path / "model.pdmodel").blocks[0].ops
        (written,) = [op for op in ops if op.type == "set_value"]
        (target,) = [i.arguments[0] for i in written.inputs if i.parameter == "Input"]
        makers = [op.type for op in ops for o in op.outputs if target in o.arguments and op.type != "set_value"]
        readers = [op.type for op in ops for i in op.inputs if target in i.arguments]
        assert makers == ["assign"] and readers == ["set_value"]


@pytest.mark.parametrize(("ending", "kind"), [(".json", "paddle3"), (".pdmodel", "paddle")])
def test_operators_that_paddle_3_would_merge_wrongly_do_not_meet(ending, kind, tmp_path):
    """A product of matrices and a scale by 1 behind it; a reshaped transposition and the list that it is put in."""
    weight = paddle.create_parameter([3, 3], "float32")

    def function(x):
        product = x @ weight
        return product, product.sum(), paddle.concat([product.t().reshape([1, -1]), product.reshape([1, -1])])

    paddle.jit.save(function, str(tmp_path / "net"), input_spec=[SPEC([4, 3], "float32", "x")], format=kind)
    content = (tmp_path / f"net{ending}").read_bytes()
    assert b'"1.scale"' not in content and b"\x05scale" not in content
    # three outputs, and the item of the list
    assert content.count(b'"1.assign"') == (4 if kind == "paddle3" else 0)


def test_slots_that_nothing_is_in_stand_in_pdmodel_programs(tmp_path):
    """Paddle's own files have them, and its gradients ask for them: jit.load stopped at a `tile` without."""
    spec = [SPEC([2, 3], name="x")]
    paddle.jit.save(lambda x: paddle.tile(x, [2, 1]), tmp_path / "m", input_spec=spec, format="paddle")
    (tile,) = [op for op in desc_of(tmp_path / "m.pdmodel").blocks[0].ops if op.type == "tile"]
    assert {slot.parameter for slot in tile.inputs} == {"X", "RepeatTimes", "repeat_times_tensor"}


def operators_of(function, folder):
    """The operators of the `.json` program of a function of x: float32[2, 3], in order."""
    paddle.jit.save(function, folder / "m", input_spec=[SPEC([2, 3], name="x")], format="paddle3")
    (block,) = json.loads((folder / "m.json").read_text())["program"]["regions"][0]["blocks"]
    return [op["#"].removeprefix("1.") for op in block["ops"] if op["#"].startswith("1.")]


@pytest.mark.parametrize("move", [lambda x: x.t(), lambda x: x * x])
def test_new_dimensions_are_not_merged_with_what_is_moved_in_json_programs(move, tmp_path):
    """oneDNN makes one operator of both, whose type the next one refuses: `paddle.inference` stopped at YOLOv3."""
    found = operators_of(lambda x: paddle.unsqueeze(move(x), 1) + 1.0, tmp_path)
    assert found[found.index("unsqueeze") - 2] == "assign"  # its axes stand between


def test_json_programs_square_by_products(tmp_path):
    """Beside oneDNN `square` writes over what is read again: `paddle.inference` gave T5 other numbers."""
    assert "square" not in operators_of(lambda x: x + paddle.square(x), tmp_path)


def read_again(op):
    def function(x):
        y = x * 3.0
        return op(y), y

    return function


def written(y):
    y = y.clone()
    y[0] = 0.0
    return y


def divided_in_a_loop(x):
    y, n = paddle.exp(x), x.sum() * 0
    while n < 3:
        n = n + 1
        x = y / (x + n)
    return x


def place_and_next(x):
    i = (x.max() * 0).astype("int64")
    return x[i]


def whole(x):
    y = paddle.floor(x * 3.0).astype("int64")
    return y + 1, y * y


@pytest.mark.parametrize(
    ("function", "copies"),
    [
        (read_again(paddle.square), 0),  # it is a product
        (read_again(written), 1),
        (read_again(lambda y: paddle.sin(y) + paddle.cos(y)), 2),
        (read_again(lambda y: y / (y + 1.0)), 1),
        (divided_in_a_loop, 1),
        (place_and_next, 1),
        (whole, 2),
        (read_again(paddle.tanh), 0),
        (lambda x: paddle.sin(x * 3.0), 0),
        (lambda x: paddle.sin(x) + x, 0),
    ],
)
def test_json_programs_copy_what_paddle_would_write_over(function, copies, tmp_path):
    """Beside oneDNN operators write over what is read again: `paddle.inference` gave CenterNet other numbers."""
    operators_of(function, tmp_path)
    assert (tmp_path / "m.json").read_text().count('"1.tile"') == copies  # in blocks, too


def test_json_programs_give_what_is_given_again_as_a_copy_of_the_copy(tmp_path):
    """`paddle.inference` makes one of equal copies, and does not find the outputs that the others were."""

    def again(x):
        y = x + 1.0
        return y, [y, x], y

    operators_of(again, tmp_path)
    (block,) = json.loads((tmp_path / "m.json").read_text())["program"]["regions"][0]["blocks"]
    given = [op["I"][0]["%"] for op in block["ops"] if op["#"] == "1.assign"]
    assert len(given) == len(set(given)) == 4


@pytest.mark.parametrize("kind", FORMATS)
def test_channels_stand_in_the_second_dimension(kind, tmp_path):
    """Behind operators that have them last, oneDNN takes others' dimensions for turned: PointPillars stopped."""
    conv, up, norm = (nn.Conv2D(4, 4, 3, **LAST), nn.Conv2DTranspose(4, 2, 2, **LAST), nn.BatchNorm2D(4, **LAST))
    groups, rows = nn.GroupNorm(2, 4, **LAST), nn.Conv1D(2, 3, 2, data_format="NLC")
    norm.eval()

    def function(x):
        y = up(groups(norm(conv(x))))
        return F.max_pool2d(y, 2, data_format="NHWC"), rows(y.flatten(1, 2))

    specs = [SPEC([None, 6, 6, 4])]
    round_trip(function, specs, [paddle.randn([2, 6, 6, 4])], tmp_path, kind)
    assert b"NHWC" not in (tmp_path / ("model" + FORMATS[kind])).read_bytes()


def test_numbers_of_pdmodel_programs_are_not_made_by_onednn(tmp_path):
    """Its numbers have a layout at which its sums and products stop: 1 - x.sum() had no result."""
    paddle.jit.save(lambda x: 1.5 - x.sum(), tmp_path / "m", input_spec=[SPEC([2, 3])], format="paddle")
    types = [op.type for op in desc_of(tmp_path / "m.pdmodel").blocks[0].ops]
    assert types[types.index("fill_constant") + 1] == "cast"


@pytest.mark.parametrize("place", [(0, 1), (paddle.to_tensor(1), 0)])
def test_json_programs_slice_single_elements_as_rows(place, tmp_path):
    """Slices of oneDNN's keep a dimension or stop the process."""
    found = operators_of(lambda x: x[place] * 2.0, tmp_path)
    assert found.index("slice") < found.index("reshape")


class Normalized(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(3, 2, 3)
        self.norm = nn.BatchNorm2D(2, use_global_stats=False)

    def forward(self, x):
        return self.norm(self.conv(x)) + 1.0


@pytest.mark.parametrize("kind", FORMATS)
def test_batch_norm_with_the_statistics_of_the_batch(kind, tmp_path):
    net, x = Normalized(), paddle.randn([4, 3, 5, 5])
    net.eval()
    paddle.jit.save(net, tmp_path / "model", input_spec=[SPEC([None, 3, 5, 5], name="x")], format=kind)
    back = paddle.jit.load(str(tmp_path / "model") + FORMATS[kind])
    for _ in range(2):
        np.testing.assert_allclose(back(x).numpy(), net(x).numpy(), rtol=1e-5, atol=1e-5)
    held = {name: value.numpy() for name, value in back.state_dict().items()}
    for running in (net.norm._mean, net.norm._variance):
        np.testing.assert_allclose(held[running.name], running.numpy(), rtol=1e-5)


@pytest.mark.parametrize("kind", FORMATS)
def test_other_changes_in_place_are_refused(kind, tmp_path):
    class Counting(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", paddle.zeros([1]))

        def forward(self, x):
            self.count.add_(paddle.ones([1]))
            return x + self.count

    with pytest.raises(UnsupportedError, match="forward changes its arguments or buffers in place"):
        paddle.jit.save(Counting(), tmp_path / "model", input_spec=[SPEC([1])], format=kind)


@pytest.mark.parametrize("form", ["paddle", "paddle3"])
def test_a_norm_over_what_a_reshape_leaves_open(form, tmp_path):
    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.norm = paddle.nn.LayerNorm(6)

        def forward(self, x):
            return self.norm(x.reshape([x.shape[0], -1]))

    net, x = Net(), paddle.rand([4, 2, 3])
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[paddle.static.InputSpec([None, 2, 3])], format=form)
    assert paddle.jit.load(str(tmp_path / "net"))(x).tolist() == net(x).tolist()
