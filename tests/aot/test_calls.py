"""Calls of native programs: what is refused and in which words, threads, files."""

import ctypes
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import vitrify as paddle
from vitrify.aot import load, loading
from vitrify.aot.loading import CArray
from vitrify.core.errors import ArgumentError, DTypeError, FileFormatError, ShapeError, UnsupportedError
from vitrify.static import InputSpec

ARGUMENT, DTYPE, SHAPE, ROOM, MEMORY, VALUE = 1, 2, 3, 4, 5, 6
FLOAT32 = loading.DTYPES.index("float32")


def array(of, **changes):
    """A vitrify_array of a NumPy array."""
    found = loading._seen(of)
    for name, value in changes.items():
        setattr(found, name, value)
    return found


@pytest.fixture
def called(mlp):
    """A function that calls the MLP's run as C would: it gives the code and the error's text."""
    library = ctypes.CDLL(mlp[1] + ".so")
    library.mlp_last_error.restype = ctypes.c_char_p

    def call(inputs, outputs, n_inputs=1, n_outputs=1, name="run"):
        given = [None if a is None else ctypes.byref(a) for a in (inputs, outputs)]
        function = getattr(library, f"mlp_{name}")
        code = function(given[0], ctypes.c_int64(n_inputs), given[1], ctypes.c_int64(n_outputs))
        return code, library.mlp_last_error().decode()

    return call


def test_the_program_says_what_it_takes_and_gives(mlp):
    function = load(mlp[1]).functions["forward"]
    assert function.input_names == ["x"]
    assert [tuple(m.shape) for m in (*function.input_metas, *function.output_metas)] == [(-1, 20), (-1, 10)]
    assert function.input_metas[0].dtype is paddle.float32


def test_there_is_nothing_behind_the_last_input(mlp):
    library = ctypes.CDLL(mlp[1] + ".so")
    library.mlp_input_name.restype = ctypes.c_void_p
    for i in (1, -1, 1 << 40):
        assert library.mlp_input_name(ctypes.c_int64(i)) is None
        assert library.mlp_input_dtype(ctypes.c_int64(i)) == -1


def test_the_outputs_are_filled_in(mlp, called, rows):
    x, y = rows(3), np.zeros((3, 10), "float32")
    room = array(y, dtype=0, ndim=0)
    assert called(array(x), room) == (0, "")
    assert (room.dtype, list(room.shape[: room.ndim])) == (FLOAT32, [3, 10])
    np.testing.assert_allclose(y, mlp[0](paddle.to_tensor(x)).numpy(), 1e-5, 1e-5)


@pytest.mark.parametrize("changes, code, text", [
    ({"data": None}, ARGUMENT, "input x: data is NULL"),
    ({"dtype": 4}, DTYPE, "input x: dtype must be float32, got int64"),
    ({"dtype": 77}, DTYPE, "input x: dtype must be float32, got an unknown dtype"),
    ({"dtype": -1}, DTYPE, "input x: dtype must be float32, got an unknown dtype"),
    ({"ndim": 1}, SHAPE, "input x: must have 2 dimensions, got 1"),
    ({"shape": (3, 21)}, SHAPE, "input x: dimension 1 must be 20, got 21"),
    ({"shape": (0, 20)}, SHAPE, "input x: dimension 0 must be at least 1, got 0"),
    ({"shape": (-5, 20)}, SHAPE, "input x: dimension 0 must be at least 1, got -5"),
    ({"bytes": 239}, ROOM, "input x: its elements take 240 bytes, has 239"),
    ({"shape": (4, 20)}, ROOM, "input x: its elements take 320 bytes, has 240"),
    ({"shape": (1 << 62, 20)}, ROOM, "input x: its elements take 368934881474191032320 bytes, has 240"),
    ({"shape": (1 << 62, 20), "bytes": 2**63 - 1}, ROOM, "input x: its elements take 368934881474191032320 bytes"),
    ({"shape": (1 << 45, 20), "bytes": 2**62}, MEMORY, "sizes are too large"),
])  # fmt: skip
def test_wrong_inputs_are_refused(called, rows, changes, code, text):
    if "shape" in changes:
        changes["shape"] = (ctypes.c_int64 * 8)(*changes["shape"])
    x, y = rows(3), np.full((3, 10), 7, "float32")
    found, words = called(array(x, **changes), array(y))
    assert found == code
    assert words.startswith(text)
    assert (y == 7).all()
    assert called(array(x), array(y)) == (0, "")  # the next call is a new one


def test_wrong_outputs_and_counts_are_refused(called, rows):
    x, y = rows(3), np.zeros((3, 10), "float32")
    assert called(None, array(y)) == (ARGUMENT, "inputs is NULL")
    assert called(array(x), None) == (ARGUMENT, "outputs is NULL")
    assert called(array(x), array(y), n_inputs=2) == (ARGUMENT, "takes 1 inputs, got 2")
    assert called(array(x), array(y), n_outputs=0) == (ARGUMENT, "gives 1 outputs, got room for 0")
    assert called(array(x), array(y, data=None)) == (
        ARGUMENT,
        "output linear_1: data is NULL",
    )
    assert called(array(x), array(y, bytes=119))[0] == ROOM


def test_shapes_need_no_data(called, rows):
    x = array(rows(3), data=None, bytes=0)
    room = CArray()
    assert called(x, room, name="shapes") == (0, "")
    assert list(room.shape[: room.ndim]) == [3, 10]


def test_errors_in_python(mlp, rows):
    program = load(mlp[1])
    with pytest.raises(ShapeError, match="dimension 1 must be 20, got 19"):
        program(rows(2)[:, 1:])
    with pytest.raises(DTypeError, match="dtype must be float32, got float64"):
        program(rows(2).astype("float64"))
    with pytest.raises(ArgumentError, match="takes 1 inputs, got 2"):
        program(rows(2), rows(2))
    with pytest.raises(DTypeError, match="complex64"):
        program(rows(2).astype("complex64"))


def test_values_that_are_refused(tmp_path):
    paddle.jit.save(
        paddle.nn.Embedding(5, 3), str(tmp_path / "e"), input_spec=[InputSpec([None], "int64")], format="native"
    )
    program = load(str(tmp_path / "e"))
    assert program(np.array([4, 0]))[0].shape == (2, 3)
    for bad in (5, -1):
        with pytest.raises(ArgumentError, match="an index or label lies outside"):
            program(np.array([0, bad]))


def test_threads_share_a_program(mlp, rows):
    program, wrong = load(mlp[1]), []
    wanted = {n: mlp[0](paddle.to_tensor(rows(n))).numpy() for n in (1, 2, 17, 40)}

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(200):
            n = int(rng.choice([1, 2, 17, 40]))
            if not np.allclose(program(rows(n))[0], wanted[n], 1e-5, 1e-5):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_errors_belong_to_threads(mlp, called, rows):
    x, y = rows(3), np.zeros((3, 10), "float32")
    called(array(x, ndim=1), array(y))
    found = []
    library = ctypes.CDLL(mlp[1] + ".so")
    library.mlp_last_error.restype = ctypes.c_char_p
    thread = threading.Thread(target=lambda: found.append(library.mlp_last_error()))
    thread.start()
    thread.join()
    assert found == [b""]
    assert library.mlp_last_error() == b"input x: must have 2 dimensions, got 1"


def test_memory_is_given_back_and_taken_again(mlp, called, rows):
    library = ctypes.CDLL(mlp[1] + ".so")
    for n in (3, 500, 3):
        x, y = rows(n), np.zeros((n, 10), "float32")
        library.mlp_release()
        library.mlp_release()
        assert called(array(x), array(y)) == (0, "")


def walled(shape, guard):
    """An array with a page that nobody may touch right before or behind it."""
    mmap = pytest.importorskip("mmap")
    page, libc, size = mmap.PAGESIZE, ctypes.CDLL(None), int(np.prod(shape)) * 4
    room = -(-size // page) * page
    memory = mmap.mmap(-1, room + 2 * page)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for wall in (base, base + page + room):
        assert libc.mprotect(ctypes.c_void_p(wall), ctypes.c_size_t(page), 0) == 0
    start = page if guard == "left" else page + room - size
    return np.frombuffer(memory, "float32", size // 4, start).reshape(shape)


@pytest.fixture(scope="module")
def convolved(tmp_path_factory):
    """(a Layer, the path of its program) of convolutions and pooling that read the input where it lies."""
    net = paddle.nn.Sequential(paddle.nn.Conv2D(3, 5, 3, 2), paddle.nn.ReLU(), paddle.nn.Conv2D(5, 4, 2))
    both = paddle.nn.LayerList([net, paddle.nn.MaxPool2D(3, 2)])

    def run(x):
        return both[0](x), both[1](x), x[:, :, 1:-1] * 2

    path = str(tmp_path_factory.mktemp("conv") / "conv")
    paddle.jit.save(run, path, input_spec=[InputSpec([None, 3, 11, 13])], format="native")
    return run, path


@pytest.mark.parametrize("guard", ["left", "right"])
@pytest.mark.parametrize("model", ["mlp", "convolved"])
def test_nothing_is_read_or_written_outside(request, model, guard):
    net, path = request.getfixturevalue(model)
    function = load(path).functions["forward"]
    for n in (1, 3, 13, 37):
        x = walled((n, *function.input_metas[0].shape[1:]), guard)
        x[...] = np.random.default_rng(n).standard_normal(x.shape)
        wanted = net(paddle.to_tensor(x.copy()))
        wanted = [t.numpy() for t in (wanted if isinstance(wanted, tuple) else (wanted,))]
        outputs = [walled(a.shape, guard) for a in wanted]
        rooms = (CArray * len(wanted))(*map(array, outputs))
        given = (CArray * 1)(array(x))
        code = function._function("run", ctypes.c_int32)(given, ctypes.c_int64(1), rooms, ctypes.c_int64(len(wanted)))
        assert code == 0
        for found, expected in zip(outputs, wanted):
            np.testing.assert_allclose(found, expected, 1e-5, 1e-5)


# -- saving ------------------------------------------------------------------------------------------------------------


def test_without_a_linker_there_is_an_object_file(tmp_path, monkeypatch):
    nowhere = tmp_path / "bin"
    nowhere.mkdir()
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", str(nowhere))
    net = paddle.nn.Linear(3, 2)
    with pytest.warns(
        UserWarning, match=r"no linker is found .* link it with: cc -shared -o .*net.so .*net.o -lmvec -lm"
    ):
        paddle.jit.save(net, str(tmp_path / "net"), input_spec=[InputSpec([None, 3])], format="native")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bin", "net.h", "net.o"]
    monkeypatch.setenv("PATH", path)
    command = ["cc", "-shared", "-o", tmp_path / "net.so", tmp_path / "net.o", "-lmvec", "-lm"]
    subprocess.run(command, check=True)
    x = np.ones((2, 3), "float32")
    np.testing.assert_allclose(load(str(tmp_path / "net"))(x)[0], net(paddle.to_tensor(x)).numpy(), 1e-6, 1e-6)


def test_a_linker_without_a_compiler_will_do(tmp_path, monkeypatch):
    only = tmp_path / "bin"
    only.mkdir()
    found = [p for p in ("/usr/bin/ld", "/bin/ld") if os.path.exists(p)]
    if not found:
        pytest.skip("there is no ld")
    (only / "ld").symlink_to(found[0])
    monkeypatch.setenv("PATH", str(only))
    paddle.jit.save(paddle.tanh, str(tmp_path / "f"), input_spec=[InputSpec([3])], format="native")
    x = np.ones(3, "float32")
    np.testing.assert_allclose(load(str(tmp_path / "f"))(x)[0], np.tanh(x), 1e-6)


def test_a_program_that_was_saved_again_is_loaded_again(tmp_path):
    for factor in (2, 3):
        paddle.jit.save(lambda x, f=factor: x * f, str(tmp_path / "m"), input_spec=[InputSpec([1])], format="native")
        assert load(str(tmp_path / "m"))(np.ones(1, "float32"))[0] == factor


def test_several_functions_are_in_one_library(tmp_path):
    class Two(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.fc = paddle.nn.Linear(3, 3)

        def forward(self, x):
            return self.encode(x) + 1

        @paddle.jit.to_static(input_spec=[InputSpec([None, 3])])
        def encode(self, x):
            return self.fc(x)

    net = Two()
    paddle.jit.save(net, str(tmp_path / "two"), input_spec=[InputSpec([None, 3])], format="native")
    functions = load(str(tmp_path / "two")).functions
    x = np.ones((2, 3), "float32")
    assert sorted(functions) == ["encode", "forward"]
    np.testing.assert_allclose(functions["forward"](x)[0], functions["encode"](x)[0] + 1, 1e-6)


def refused(function, *specs, **configs):
    with pytest.raises((UnsupportedError, ArgumentError)) as caught:
        paddle.jit.save(function, "never/made", input_spec=list(specs), format="native", **configs)
    assert not os.path.exists("never")
    return str(caught.value)


def test_what_has_no_form_is_named_with_its_line():
    def ranked(x):
        return paddle.linalg.inv(x * 2)

    text = refused(ranked, InputSpec([4, 4]))
    assert "cannot be compiled ahead of time: it has no native form" in text
    assert "return paddle.linalg.inv(x * 2)" in text
    assert "hint: leave it to Python before or after the call" in text


def test_sizes_that_are_no_polynomials_are_refused():
    text = refused(lambda x: x[: x.shape[0] % 7 + 1] * 2, InputSpec([None, 3]))
    assert "with open sizes (axis 0): its sizes depend on those left open otherwise than by products and sums" in text
    assert "hint: give all sizes in input_spec" in text


def test_filters_that_smooth_images_of_any_size_are_refused():
    def smaller(x):
        return paddle.nn.functional.interpolate(x, scale_factor=0.5, mode="bilinear", antialias=True)

    text = refused(smaller, InputSpec([None, 3, None, None]))
    assert "resize cannot be compiled ahead of time: filters that smooth have no native form where sizes are" in text


def test_settings_are_checked(tmp_path):
    spec = InputSpec([None, 3], name="x")
    assert "no setting ['opset']" in refused(paddle.tanh, spec, opset=3)
    assert "no cpu is called 'pentium'" in refused(paddle.tanh, spec, cpu="pentium")
    assert "dynamic_axes names ['z']; the inputs are ['x']" in refused(paddle.tanh, spec, dynamic_axes={"z": {0: "n"}})


def test_random_numbers_are_refused():
    def noisy(x):
        return x + paddle.rand([3])

    text = refused(noisy, InputSpec([3]))
    assert "uniform cannot be compiled ahead of time: native programs draw no random numbers" in text
    assert "return x + paddle.rand([3])" in text
    assert "hint: take what is random as an input" in text


def test_what_acts_on_python_is_refused():
    def shown(x):
        print(x)
        return x + 1

    text = refused(shown, InputSpec([3]))
    assert "print cannot be compiled ahead of time: it acts on the Python process" in text
    assert "      print(x)\n" in text
    assert "hint: return the value and do this behind the call" in text


def test_lists_of_any_length_are_refused():
    def rows(x):
        return [row * 2 for row in x if row.sum() > 0]

    text = refused(rows, InputSpec([None, 3]))
    assert "gives a list whose length only the run knows" in text
    assert "hint: give paddle.stack of it" in text


def factorial(n):
    if n <= 1:
        return n * 1
    return n * factorial(n - 1)


def test_recursion_is_refused_where_it_is():
    text = refused(factorial, InputSpec([], "float32"))
    assert "factorial cannot be compiled ahead of time: it calls itself" in text
    assert "    return n * factorial(n - 1)\n" in text
    assert "hint: write it as a loop" in text


@pytest.mark.parametrize("cpu", ["x86-64-v2", "x86-64-v3"])
def test_other_cpus(cpu, tmp_path, rows):
    from vitrify.codegen.llvm import host

    if not host().is_x86:
        pytest.skip("levels are of x86-64")
    net = paddle.nn.Sequential(
        paddle.nn.Linear(20, 24), paddle.nn.GELU(), paddle.nn.Unflatten(1, [2, 3, 4]), paddle.nn.Conv2D(2, 7, 2)
    )
    paddle.jit.save(net, str(tmp_path / "m"), input_spec=[InputSpec([None, 20])], format="native", cpu=cpu)
    x = rows(9)
    np.testing.assert_allclose(load(str(tmp_path / "m"))(x)[0], net(paddle.to_tensor(x)).numpy(), 1e-5, 1e-5)


def test_what_is_no_program(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no native program"):
        load(str(tmp_path / "nothing"))
    (tmp_path / "bad.so").write_bytes(b"\x7fELF nonsense")
    with pytest.raises(FileFormatError, match="no native program"):
        load(str(tmp_path / "bad"))


def test_nothing_of_python_is_in_the_library(mlp):
    symbols = subprocess.run(
        ["nm", "-D", "--undefined-only", mlp[1] + ".so"], capture_output=True, text=True, check=True
    )
    assert "Py" not in symbols.stdout
    assert "gemm" not in symbols.stdout


def test_ctypes_in_a_process_of_its_own(mlp):
    code = (
        "import ctypes, sys; m = ctypes.CDLL(sys.argv[1]); m.mlp_input_name.restype = ctypes.c_char_p;"
        "print(m.mlp_input_count(), m.mlp_output_count(), m.mlp_input_name(0).decode())"
    )
    found = subprocess.run(
        [sys.executable, "-S", "-c", code, mlp[1] + ".so"], capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["1", "1", "x"]
