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
"""


@pytest.mark.parametrize("code", [TRAINING, LOADED, TUNED], ids=["training", "loaded", "tuned"])
def test_what_compiles_nothing_imports_no_converter(code, tmp_path):
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.BatchNorm1D(4), paddle.nn.Dropout())
    paddle.jit.save(net, tmp_path / "net", input_spec=[paddle.static.InputSpec([None, 3])])
    command = [sys.executable, "-c", BEFORE + code + AFTER, str(tmp_path / "net")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["", "2.0 True"], done.stderr


def test_submodules_take_no_function_s_place():
    """`paddle.jit.load` is the function, whoever imported the module that defines it before."""
    code = (
        "import vitrify.jit.loading, vitrify.jit.saving, vitrify.jit.explaining, vitrify.jit.profiling\n"
        "print(*[callable(getattr(vitrify.jit, name)) for name in vitrify.jit.__all__])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert set(done.stdout.split()) == {"True"}, done.stderr
