"""Threads of native programs: equal results for any number of them, one team a library, forks, and unloading."""

import ctypes
import os
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

import vitrify as paddle
from vitrify import inference, nn
from vitrify.aot import load
from vitrify.core.errors import ArgumentError
from vitrify.static import InputSpec

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="native programs have threads on Linux alone")


def stacked(x):
    return paddle.matmul(x, paddle.transpose(x, [0, 2, 1]))


def tall(x):
    return paddle.matmul(x, paddle.ones([300, 40]) / 3)


# Each is cut in another way: columns, windows of images without and with groups, stacks, columns of each, rows.
MODELS = {
    "linear": (lambda: nn.Sequential(nn.Linear(200, 333), nn.ReLU(), nn.Linear(333, 70)), (67, 200)),
    "images": (lambda: nn.Sequential(nn.Conv2D(8, 24, 3, padding=1), nn.Conv2D(24, 16, 3, groups=2)), (3, 8, 33, 31)),
    "stacks": (lambda: stacked, (9, 70, 200)),
    "few stacks": (lambda: stacked, (2, 150, 200)),
    "rows": (lambda: tall, (403, 300)),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request, tmp_path_factory):
    """(a function of one array, its native program's path, an array)."""
    make, shape = MODELS[request.param]
    net = make()
    path = str(tmp_path_factory.mktemp("threads") / "net")
    paddle.jit.save(net, path, input_spec=[InputSpec([None, *shape[1:]], name="x")], format="native")
    return net, path, np.random.default_rng(0).standard_normal(shape).astype("float32")


def members():
    return len(os.listdir("/proc/self/task"))


def test_results_do_not_depend_on_threads(model):
    net, path, x = model
    program = load(path)
    forward = program.functions["forward"]
    wanted = program(x)[0]
    np.testing.assert_allclose(wanted, net(paddle.to_tensor(x)).numpy(), 1e-4, 1e-3)
    before = members()
    for threads in (2, 3, 7, 2, 1):
        forward.set_threads(threads)
        for _ in range(5):
            np.testing.assert_array_equal(program(x)[0], wanted)
    assert members() == before + 6


def test_callers_at_once_are_right(model):
    _, path, x = model
    program, wrong = load(path), []
    program.functions["forward"].set_threads(3)
    wanted = {n: program(x[:n])[0] for n in (1, len(x) // 2, len(x))}

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(40):
            n = int(rng.choice([*wanted]))
            if not np.array_equal(program(x[:n])[0], wanted[n]):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_fewer_than_one_are_refused(mlp):
    forward = load(mlp[1]).functions["forward"]
    for threads in (0, -3):
        with pytest.raises(ArgumentError, match=f"threads must be at least 1, got {threads}"):
            forward.set_threads(threads)


def test_small_programs_start_no_threads(mlp, rows):
    program = load(mlp[1])
    program.functions["forward"].set_threads(8)
    before = members()
    program(rows(3))
    assert members() == before
    program.functions["forward"].set_threads(1)


def test_a_predictor_says_how_many(tmp_path):
    paddle.jit.save(
        nn.Linear(200, 300), str(tmp_path / "net"), input_spec=[InputSpec([None, 200], name="x")], format="native"
    )
    predictors = []
    for threads in (3, 1):
        config = inference.Config(str(tmp_path / "net.so"))
        config.set_cpu_math_library_num_threads(threads)
        predictors.append(inference.create_predictor(config))
        predictors[-1].get_input_handle("x").copy_from_cpu(np.ones((200, 200), "float32"))
    before = members()
    predictors[1].run()  # of the same library: its number is its own
    assert members() == before
    predictors[0].run()
    predictors[0].clone()
    assert members() == before + 2


# Run in a process of its own: what a fork does, and what is left of threads of an unloaded library.
LIFE = """
import _ctypes, ctypes, os, sys, time
class Array(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("bytes", ctypes.c_int64), ("dtype", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("shape", ctypes.c_int64 * 8))
def tasks():
    return len(os.listdir("/proc/self/task"))
def opened():
    net = ctypes.CDLL(sys.argv[1])
    net.net_run.argtypes = ctypes.POINTER(Array), ctypes.c_int64, ctypes.POINTER(Array), ctypes.c_int64
    return net
x = (ctypes.c_float * 40000)(*[i % 7 for i in range(40000)])
def run(net):
    y = (ctypes.c_float * 60000)()
    given = Array(ctypes.addressof(x), ctypes.sizeof(x), 11, 2, (200, 200))
    room = Array(ctypes.addressof(y), ctypes.sizeof(y))
    assert net.net_run(given, 1, room, 1) == 0
    return bytes(y)
net = opened()
alone = run(net)
assert net.net_set_threads(0) == 1 and net.net_set_threads(4) == 0
assert tasks() == 1 and run(net) == alone and tasks() == 4
child = os.fork()
if not child:
    assert tasks() == 1 and run(net) == alone and tasks() == 4
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert run(net) == alone
for wait in (0, 0.05, 0):
    time.sleep(wait)
    _ctypes.dlclose(net._handle)
    assert tasks() == 1
    assert "net.so" not in open("/proc/self/maps").read()
    net = opened()
    assert run(net) == alone and tasks() == 1  # one thread again
    net.net_set_threads(4)
    assert run(net) == alone and tasks() == 4
print("well")
"""


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """The path of a program whose runs are shared."""
    path = str(tmp_path_factory.mktemp("wide") / "net")
    paddle.jit.save(nn.Linear(200, 300), path, input_spec=[InputSpec([None, 200], name="x")], format="native")
    return path


def test_forks_and_unloading(wide):
    done = subprocess.run(
        [sys.executable, "-S", "-c", LIFE, wide + ".so"], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.stdout, done.returncode) == ("well\n", 0), done.stderr


def test_functions_of_a_library_have_one_team(tmp_path):
    class Two(nn.Layer):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(200, 200)

        def forward(self, x):
            return self.fc(x) + 1

        @paddle.jit.to_static(input_spec=[InputSpec([None, 200])])
        def encode(self, x):
            return self.fc(x)

    paddle.jit.save(Two(), str(tmp_path / "two"), input_spec=[InputSpec([None, 200])], format="native")
    functions, before = load(str(tmp_path / "two")).functions, members()
    functions["encode"].set_threads(3)
    for name in ("forward", "encode", "forward"):
        functions[name](np.ones((200, 200), "float32"))
    assert members() == before + 2


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_a_process_in_c_ends_with_its_threads(wide, tmp_path):
    (tmp_path / "uses.c").write_text(
        f'#include <stdio.h>\n#include "{wide}.h"\n'
        "static float x[200 * 200], y[200 * 300];\n"
        "int main(void) {\n"
        "  vitrify_array a = {x, sizeof x, VITRIFY_FLOAT32, 2, {200, 200}}, b = {y, sizeof y, 0, 0, {0}};\n"
        "  if (net_set_threads(0) != VITRIFY_ARGUMENT) return 1;\n"
        "  puts(net_last_error());\n"
        "  return net_set_threads(3) || net_run(&a, 1, &b, 1);\n}\n"
    )
    folder = os.path.dirname(wide)
    command = ["cc", "-std=c99", "-Wall", "-Werror", "uses.c", wide + ".so", f"-Wl,-rpath,{folder}", "-o", "uses"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(["./uses"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "threads must be at least 1, got 0\n"


def test_c_may_ask_for_any_number(mlp, rows):
    library = ctypes.CDLL(mlp[1] + ".so")
    assert library.mlp_set_threads(ctypes.c_int32(2**31 - 1)) == 0
    assert load(mlp[1])(rows(4))[0].shape == (4, 10)
    assert library.mlp_set_threads(ctypes.c_int32(1)) == 0
