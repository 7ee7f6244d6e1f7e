"""The command line: what it prints, writes and returns."""

import io
import subprocess
import sys

import numpy as np
import pytest

import vitrify as paddle
from vitrify import nn
from vitrify.tools.command import main, parser

SPEC = paddle.static.InputSpec


@pytest.fixture
def net(tmp_path):
    """The path of a small model, and the model."""
    paddle.seed(0)
    made = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    paddle.jit.save(made, tmp_path / "net", input_spec=[SPEC([None, 4], name="x")])
    return str(tmp_path / "net"), made


def test_show(net, capsys):
    path, _ = net
    assert main(["show", path]) == 0
    text = capsys.readouterr().out
    assert "takes  x: float32[?, 4]" in text and "2 linear, relu" in text
    assert "4 tensors, 23 elements, 23 of them trained, 92 B" in text
    # 2 * 4 * 3 + 3 for the first product and its bias, 3 for relu, 2 * 3 * 2 + 2 for the last one.
    assert "44 FLOPs for inputs of [1, 4]" in text and "41  linear  93.2%" in text and "3  relu" in text
    assert main(["info", path + ".vtmodel"]) == 0
    assert capsys.readouterr().out == text
    assert main(["print", path]) == main(["show", path, "--program"]) == 0
    assert "= linear(" in capsys.readouterr().out


def test_run(net, tmp_path, capsys):
    path, made = net
    x = np.random.default_rng(1).standard_normal((2, 4)).astype("float32")
    np.save(tmp_path / "x.npy", x)
    target = tmp_path / "out.npz"
    assert main(["run", path, "--input", str(tmp_path / "x.npy"), "--output", str(target)]) == 0
    assert "float32[2, 2]" in capsys.readouterr().out
    (found,) = np.load(target).values()
    np.testing.assert_allclose(found, made(paddle.to_tensor(x)).numpy(), rtol=1e-5)
    assert main(["run", path, "--input", f"x={tmp_path / 'x.npy'}"]) == 0
    assert "float32[2, 2]\n[[" in capsys.readouterr().out
    assert main(["run", path, "--size", "3"]) == 0
    assert "float32[3, 2]" in capsys.readouterr().out


def test_run_makes_the_folder_of_its_output(net, tmp_path, capsys):
    path, _ = net
    assert main(["run", path, "--output", str(tmp_path / "new" / "out.npz")]) == 0
    assert (tmp_path / "new" / "out.npz").is_file()


def test_flops_count_what_runs(tmp_path, capsys):
    weight = paddle.ones([4, 4])

    def steps(x, n):
        i = paddle.zeros([1], "int64")
        while i < n:
            x = paddle.matmul(x, weight)
            i += 1
        return x

    specs = [SPEC([None, 4], name="x"), SPEC([1], "int64", "n")]
    paddle.jit.save(steps, tmp_path / "steps", input_spec=specs)
    main(["show", str(tmp_path / "steps"), "--size", "2"])
    assert "0 FLOPs for inputs of [2, 4], [1]" in capsys.readouterr().out
    np.save(tmp_path / "n.npy", np.array([3]))
    main(["show", str(tmp_path / "steps"), "--size", "2", "--input", f"n={tmp_path / 'n.npy'}"])
    assert "192 FLOPs for inputs of [2, 4], [1]" in capsys.readouterr().out  # 3 * 2 * 2 * 4 * 4


def test_bench(net, capsys):
    assert main(["bench", net[0], "--repeat", "2"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "load", "first", "median", "fastest", "slowest",
    ]  # fmt: skip


@pytest.mark.parametrize("ending", [".json", ".pdmodel", ".onnx", ".vtmodel"])
def test_convert_and_diff(net, tmp_path, ending, capsys):
    path, _ = net
    target = str(tmp_path / "other") + ending
    assert main(["convert", path, target]) == 0
    assert "bytes" in capsys.readouterr().out
    assert main(["diff", path, target, "--size", "2"]) == 0
    assert "outputs: agree" in capsys.readouterr().out
    assert main(["convert", path, target]) == 1
    assert "--force" in capsys.readouterr().err
    assert main(["convert", target, target, "--force"]) == 0
    back = str(tmp_path / "back.vtmodel")
    assert main(["convert", target, back]) == 0
    assert main(["diff", path, back]) == 0


def test_diff_of_different_models(net, tmp_path, capsys):
    path, made = net
    made[0].bias.set_value(made[0].bias + 1.0)
    paddle.jit.save(made, tmp_path / "changed", input_spec=[SPEC([None, 4], name="x")])
    assert main(["diff", path, str(tmp_path / "changed")]) == 1
    text = capsys.readouterr().out
    assert "programs: the same" in text and "differs: 0.bias" in text and "differs by up to" in text
    paddle.jit.save(nn.Linear(4, 5), tmp_path / "wider", input_spec=[SPEC([None, 4], name="x")])
    assert main(["diff", path, str(tmp_path / "wider")]) == 1
    assert "programs: differ" in capsys.readouterr().out


def test_diff_of_models_that_differ_by_names_alone(net, tmp_path, capsys):
    path = net[0]
    target = str(tmp_path / "other.pdmodel")
    assert main(["convert", path, target]) == 0
    assert main(["diff", path, target]) == 0  # what they compute is the same
    text = capsys.readouterr().out
    assert "renamed: 0.bias is " in text and "only in" not in text
    assert main(["diff", path, target, "--exact"]) == 1
    assert main(["diff", path, path, "--exact"]) == 0
    with pytest.raises(SystemExit):
        main(["diff", "--help"])
    assert "0 outputs agree; 1 they differ, with --exact anything does" in " ".join(capsys.readouterr().out.split())


def test_what_is_wrong_is_said_without_a_traceback(net, tmp_path, capsys):
    path, _ = net
    assert main(["show", str(tmp_path / "nope")]) == 1
    assert capsys.readouterr().err.startswith("vitrify show: there is no model")
    (tmp_path / "readme.txt").write_text("text")
    assert main(["show", str(tmp_path / "readme.txt")]) == 1
    assert "readme.txt' is no model: models' files end in .vtmodel, " in capsys.readouterr().err
    assert main(["run", path, "--input", "y=1.npy"]) == 1
    assert "no input 'y'; there are x" in capsys.readouterr().err
    np.save(tmp_path / "bad.npy", np.zeros((2, 5), "float32"))
    assert main(["run", path, "--input", str(tmp_path / "bad.npy")]) == 1
    assert "has shape [-1, 4], but received [2, 5]" in capsys.readouterr().err
    assert main(["convert", path, str(tmp_path / "x.tflite")]) == 1
    for content in (b"", b"junk", b"PK\x03\x04"):
        (tmp_path / "junk.npy").write_bytes(content)
        assert main(["run", path, "--input", str(tmp_path / "junk.npy")]) == 1
        assert "junk.npy holds no array" in capsys.readouterr().err
    np.savez(tmp_path / "x.npz", x=np.ones((5, 4), "float32"))
    assert main(["run", path, "--input", str(tmp_path / "x.npz")]) == 0
    assert "float32[5, 2]" in capsys.readouterr().out
    assert main(["run", path, "--input", f"x={tmp_path / 'x.npz'}"]) == 1
    assert "holds several arrays" in capsys.readouterr().err
    (tmp_path / "cut.vtmodel").write_bytes((tmp_path / "net.vtmodel").read_bytes()[:99])
    assert main(["show", str(tmp_path / "cut")]) == 1
    assert "was written with" in capsys.readouterr().err
    (tmp_path / "folder.onnx").mkdir()
    for given in (["run", path, "--output"], ["convert", path, "--force"]):
        assert main([*given, str(tmp_path / "folder.onnx")]) == 1
        assert capsys.readouterr().err.endswith("folder.onnx: Is a directory\n")
    distances = [["diff", path, path, "--tolerance", text] for text in ("-1", "nan", "far")]
    for wrong in ([], ["fly"], ["bench", path, "--repeat", "0"], *distances):
        with pytest.raises(SystemExit) as end:
            main(wrong)
        assert end.value.code == 2


@pytest.mark.parametrize("format", ["paddle", "paddle3"])
def test_operators_of_a_foreign_file_stand_in_no_line_of_whoever_reads_it(format, tmp_path, capsys):
    function = paddle.jit.to_static(lambda x: paddle.linalg.qr(x)[1])
    path = str(tmp_path / "function")
    paddle.jit.save(function, path, input_spec=[SPEC([2, 2], name="x")], format=format)
    assert main(["convert", path, path + ".onnx"]) == 1
    error = capsys.readouterr().err
    assert "qr: it has no ONNX form" in error and " at " not in error
    assert "qr" in str(paddle.jit.load(path).program()) and __file__ not in str(paddle.jit.load(path).program())


def test_names_in_a_file_say_nothing_to_the_terminal(tmp_path, capsys):
    path = str(tmp_path / "net")
    paddle.jit.save(paddle.nn.ReLU(), path, input_spec=[paddle.static.InputSpec([2], name="x\x1b[2J")])
    assert main(["show", path]) == 0
    assert main(["run", path, "--input", "y\x1b=y.npy"]) == 1
    told = capsys.readouterr()
    assert "\\x1b[2J" in told.out and "\\x1b" in told.err and "\x1b" not in told.out + told.err


def test_help_says_what_there_is(capsys):
    version = paddle.__version__
    for arguments, words in ((["--help"], "convert"), (["run", "--help"], "--input"), (["--version"], version)):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        text = capsys.readouterr().out
        assert end.value.code == 0 and words in text
        assert arguments == ["--version"] or ("exit codes: 0 done; 1" in text and "vitrify run net.onnx" in text)


class Terminal(io.StringIO):
    """What a person looks at."""

    def isatty(self):
        return True


def test_a_terminal_is_told_what_goes_on(net, monkeypatch):
    told = Terminal()
    monkeypatch.setattr(sys, "stderr", told)
    assert main(["bench", net[0], "--repeat", "2"]) == 0
    assert "reading" in told.getvalue() and "run 2/2" in told.getvalue()
    assert told.getvalue().endswith("\r\x1b[K")


def test_an_interrupt_is_no_traceback(net, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("vitrify.tools.run.run", interrupted)
    assert main(["run", net[0]]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_as_a_module(net):
    done = subprocess.run(
        [sys.executable, "-m", "vitrify", "show", net[0]], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "function forward" in done.stdout


def test_a_file_of_inputs_that_is_not_there(tmp_path, capsys):
    net = paddle.nn.Linear(2, 1)
    paddle.jit.save(net, str(tmp_path / "m"), input_spec=[paddle.static.InputSpec([1, 2], "float32", "x")])
    assert main(["run", str(tmp_path / "m"), "--input", f"x={tmp_path}/nope.npy"]) == 1
    assert capsys.readouterr().err == f"vitrify run: {tmp_path}/nope.npy: No such file or directory\n"


@pytest.mark.parametrize("command", ["show", "print", "run", "bench", "convert", "diff"])
def test_every_command_says_what_it_does_with_examples_that_parse(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = capsys.readouterr().out
    examples = [line.split("|")[0].split(">")[0].split() for line in text.splitlines() if line.startswith("  vitrify ")]
    assert len(examples) > 1 and "exit codes: 0" in text
    for words in examples:
        assert words[1] == command
        parser().parse_args(words[1:])


def test_a_model_of_images_says_which_flag_makes_random_ones_larger(tmp_path, capsys):
    spec = paddle.static.InputSpec([None, 3, None, None])
    path = str(tmp_path / "net")
    paddle.jit.save(paddle.nn.Conv2D(3, 2, 3), path, input_spec=[spec])
    assert main(["bench", path, "--repeat", "1"]) == 1
    said = capsys.readouterr().err
    assert "the window [3, 3] is larger" in said and "hint: --size N gives random inputs other sizes" in said
    assert main(["bench", path, "--repeat", "1", "--size", "3"]) == 0
