"""What programs that compile nothing import: the converter and what traces are half of all modules."""

import subprocess
import sys

import pytest

import vitrify as paddle

BEFORE = "import sys\nimport vitrify as paddle\n"
AFTER = """
print(*{"convert", "transformers"}.intersection(n.split(".")[1] for n in sys.modules if n.startswith("vitrify.")))
print(paddle.jit.to_static(lambda x: x * 2)(paddle.ones([])).item(), "vitrify.convert" in sys.modules)
"""
TRAINING = """
net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.ReLU(), paddle.nn.LSTM(4, 5))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
scaler = paddle.amp.GradScaler()
for _ in range(2):
    scaler.scale(net(paddle.randn([2, 3, 3]))[0].mean()).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.clear_grad()
"""
LOADED = """
net = paddle.jit.load(sys.argv[1])
with paddle.no_grad():
    net(paddle.randn([2, 3]))
"""
TUNED = """
net = paddle.jit.load(sys.argv[1])
net.train()
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for _ in range(2):
    net(paddle.randn([2, 3])).mean().backward()
    optimizer.step()
paddle.jit.save(net, sys.argv[1] + "_tuned")
"""
MODEL = """
model = paddle.Model(paddle.nn.Linear(3, 1))
model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.MSELoss())
model.fit([(paddle.ones([3]), paddle.ones([1]))], verbose=0)
"""
STATIC = """
paddle.enable_static()
x = paddle.static.data("x", [2, 3])
loss = paddle.static.nn.fc(x, 1).mean()
paddle.optimizer.SGD().minimize(loss)
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
exe.run(feed={"x": [[1.0] * 3] * 2}, fetch_list=[loss])
paddle.disable_static()
"""
COMMANDS = """
from contextlib import redirect_stdout
from io import StringIO
from vitrify.tools.command import main

with redirect_stdout(StringIO()):
    for command in ("show", "run", "bench --repeat 1"):
        main([*command.split(), sys.argv[1]])
    for target in ("_2.vtmodel", ".json", ".pdmodel"):
        main(["convert", sys.argv[1], sys.argv[1] + target])
    main(["diff", sys.argv[1], sys.argv[1] + "_2"])
"""


@pytest.mark.parametrize(
    "code",
    [TRAINING, LOADED, TUNED, MODEL, STATIC, COMMANDS],
    ids=["training", "loaded", "tuned", "model", "static", "commands"],
)
def test_what_compiles_nothing_imports_no_converter(code, tmp_path):
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.BatchNorm1D(4), paddle.nn.Dropout())
    paddle.jit.save(net, tmp_path / "net", input_spec=[paddle.static.InputSpec([None, 3])])
    command = [sys.executable, "-c", BEFORE + code + AFTER, str(tmp_path / "net")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["", "2.0 True"], done.stderr


def test_help_of_the_command_line_imports_no_numpy():
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "vitrify", "--help"], capture_output=True, text=True, check=False
    )
    assert "usage: vitrify" in done.stdout
    assert "numpy" not in done.stderr


def test_submodules_take_no_function_s_place():
    """`paddle.jit.load` is the function, whoever imported the module that defines it before."""
    code = (
        "import vitrify.jit.loading, vitrify.jit.saving, vitrify.jit.explaining, vitrify.jit.profiling\n"
        "print(*[callable(getattr(vitrify.jit, name)) for name in vitrify.jit.__all__])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert set(done.stdout.split()) == {"True"}, done.stderr
