"""run_check, batch, version, callbacks: small names at the top of Paddle."""

import hashlib
import importlib
import sys
from types import SimpleNamespace

import pytest

import vitrify as paddle


def test_run_check_says_that_it_works(capsys):
    paddle.utils.run_check()
    assert capsys.readouterr().out.endswith("vitrify works well on cpu.\n")


def test_batch():
    def reader():
        return iter(range(5))

    assert list(paddle.batch(reader, 2)()) == [[0, 1], [2, 3], [4]]
    assert list(paddle.batch(reader, 2, drop_last=True)()) == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="must be positive"):
        paddle.batch(reader, 0)


def test_sums_of_files(tmp_path):
    from vitrify.dataset.common import md5file

    path = tmp_path / "large.bin"
    path.write_bytes(bytes(range(256)) * 9000)
    assert md5file(path) == hashlib.md5(path.read_bytes()).hexdigest()
    with pytest.raises(FileNotFoundError):
        md5file(tmp_path / "none.bin")


def test_version_is_new_enough_for_code_that_asks():
    assert [int(part) for part in paddle.version.full_version.split(".")] >= [3, 0, 0]
    assert (paddle.version.cuda(), paddle.version.nccl(), paddle.version.cuda_archs()) == ("False", "0", [])


def test_callbacks_are_a_module():
    module = importlib.import_module("vitrify.callbacks")
    assert module is paddle.callbacks
    assert module.EarlyStopping is paddle.hapi.callbacks.EarlyStopping


def test_values_go_to_wandb(monkeypatch):
    sent = []
    run = SimpleNamespace(log=sent.append, finish=lambda: sent.append("finished"))
    package = SimpleNamespace(run=None, __spec__=None)
    package.init = lambda **options: (sent.append(options), setattr(package, "run", run))
    monkeypatch.setitem(sys.modules, "wandb", package)
    monkeypatch.setattr("vitrify.core.lazy.is_available", lambda module: True)
    callback = paddle.callbacks.WandbCallback(project="p", tags=["x"])
    callback.set_params({"metrics": ["loss", "acc"]})
    callback.on_train_batch_end(0, {"loss": [0.5], "acc": 1})
    callback.on_eval_end({"loss": [0.25]})
    callback.on_train_end()
    assert sent[0]["project"] == "p" and sent[0]["tags"] == ["x"]
    assert sent[1:] == [
        {"train/loss": 0.5, "train/acc": 1.0, "train/step": 1}, {"eval/loss": 0.25, "eval/step": 1}, "finished"
    ]  # fmt: skip


@pytest.mark.parametrize("bounds", [("2.0",), ("3.3.1",), ("3.0", "3.4"), ("3.3.1.0", "3.3.1")])
def test_versions_within_bounds(bounds):
    assert paddle.utils.require_version(*bounds) is None


@pytest.mark.parametrize(
    ("bounds", "kind", "message"),
    [
        (("99.0",), Exception, "99.0 or higher is required"),
        (("2.0", "2.5"), Exception, r"in \[2.0, 2.5\] is required"),
        (("x",), ValueError, "like '1.5.2.0'"),
        (("1.2.3.4.5",), ValueError, "like '1.5.2.0'"),
        ((3,), TypeError, "must be a str"),
    ],
)
def test_versions_outside_of_bounds(bounds, kind, message):
    with pytest.raises(kind, match=message):
        paddle.utils.require_version(*bounds)


def test_launch_says_that_there_is_one_process():
    with pytest.raises(paddle.core.errors.UnsupportedError, match="run the script itself"):
        paddle.distributed.launch()
