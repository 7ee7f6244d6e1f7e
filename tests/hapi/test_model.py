"""`paddle.Model`: its loops, callbacks and files."""

import sys
import types

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import ArgumentError
from vitrify.hapi import callbacks as C
from vitrify.hapi.progress import Progress
from vitrify.static import InputSpec

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 8)).astype("float32")
Y = (X[:, :3].argmax(axis=1))[:, None]


def data():
    return paddle.io.TensorDataset([paddle.to_tensor(X), paddle.to_tensor(Y)])


def model(rate=0.05, metrics=True, **kwargs):
    paddle.seed(1)
    net = paddle.nn.Sequential(paddle.nn.Linear(8, 16), paddle.nn.ReLU(), paddle.nn.Linear(16, 3))
    found = paddle.Model(net, **kwargs)
    optimizer = paddle.optimizer.Adam(rate, parameters=net.parameters())
    found.prepare(optimizer, paddle.nn.CrossEntropyLoss(), paddle.metric.Accuracy() if metrics else None)
    return found


def test_training_learns_and_evaluation_says_so():
    m = model()
    before = m.evaluate(data(), batch_size=8, verbose=0)
    m.fit(data(), epochs=25, batch_size=5, verbose=0)
    after = m.evaluate(data(), batch_size=8, verbose=0)
    assert after["acc"] > max(before["acc"], 0.9) and after["loss"][0] < before["loss"][0]
    assert list(after) == ["loss", "acc"]


def test_one_batch_is_a_step_by_hand():
    m, other = model(), model()
    losses, metrics = m.train_batch([X[:4]], [Y[:4]])
    out = other.network(paddle.to_tensor(X[:4]))
    loss = paddle.nn.functional.cross_entropy(out, paddle.to_tensor(Y[:4]))
    loss.backward()
    other._optimizer.step()
    assert losses[0] == loss.numpy() and 0 <= metrics[0] <= 1
    for a, b in zip(m.parameters(), other.parameters()):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    wanted = other.network(paddle.to_tensor(X[:4])).numpy()
    np.testing.assert_array_equal(m.predict_batch([X[:4]])[0], wanted)
    assert model(metrics=False).eval_batch([X], [Y])[0].shape == ()


def test_gradients_of_several_batches_make_one_step():
    m = model()
    start = m.parameters()[0].numpy().copy()
    m.train_batch([X[:4]], [Y[:4]], update=False)
    np.testing.assert_array_equal(m.parameters()[0].numpy(), start)
    m.train_batch([X[4:8]], [Y[4:8]])
    assert not np.array_equal(m.parameters()[0].numpy(), start)
    steps = []
    m._optimizer.step = lambda: steps.append(1)
    m.fit(data(), batch_size=4, verbose=0, accumulate_grad_batches=2)
    assert len(steps) == 3


def test_predictions_are_lists_of_batches_or_arrays():
    m = model()
    parts = m.predict(data(), batch_size=8, verbose=0)
    assert len(parts) == 1 and [a.shape for a in parts[0]] == [(8, 3), (8, 3), (4, 3)]
    (whole,) = m.predict(data(), batch_size=8, stack_outputs=True, verbose=0)
    np.testing.assert_array_equal(whole, np.concatenate(parts[0]))


def test_lines_of_training(capsys):
    model().fit(data(), data(), batch_size=8, epochs=2, log_freq=1, verbose=2)
    lines = capsys.readouterr().out.splitlines()
    assert lines.pop(0).startswith("The loss value printed in the log is the current step")
    assert lines[0] == "Epoch 1/2" and lines[1].startswith("step 1/3 - loss: ")
    assert " - acc: " in lines[1] and lines[1].endswith("/step")
    assert lines.count("Eval samples: 20") == 2 and len([line for line in lines if line.startswith("step 3/3")]) == 4


class Terminal:
    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_a_bar_moves_on_a_terminal():
    stream = Terminal()
    progress = Progress(4, 1, stream)
    progress.show(1, {"loss": [0.5]})
    progress.show(4, {"loss": 0.00001}, last=True)
    first, last = stream.text.split("\r\x1b[2K")[1:]
    assert first.startswith("━━━━━━━╸─") and "step 1/4 - loss: 0.5000" in first and first.endswith("left")
    assert "1.0000e-05" in last and last.endswith("\n") and "─" not in last


def test_files(tmp_path):
    m = model()
    m.fit(data(), epochs=2, batch_size=10, save_dir=str(tmp_path), verbose=0)
    assert {p.name for p in tmp_path.iterdir()} == {
        f"{n}.{kind}" for n in ("0", "1", "final") for kind in ("pdparams", "pdopt")
    }
    again = model(rate=0.5)
    again.load(str(tmp_path / "final"))
    for a, b in zip(m.parameters(), again.parameters()):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    with pytest.raises(ArgumentError, match="inputs"):
        again.save(str(tmp_path / "program"), training=False)
    m.save(str(tmp_path / "program"), training=False)  # the batches that it has seen say what the inputs are
    found = paddle.jit.load(str(tmp_path / "program"))(paddle.to_tensor(X[:3]))
    np.testing.assert_allclose(found.numpy(), m.predict_batch([X[:3]])[0], rtol=1e-5, atol=1e-6)
    served = model(inputs=[InputSpec([None, 8], "float32", "x")])
    served.save(str(tmp_path / "program"), training=False)
    found = paddle.jit.load(str(tmp_path / "program"))(paddle.to_tensor(X))
    np.testing.assert_allclose(found.numpy(), served.predict_batch([X])[0], rtol=1e-5, atol=1e-6)


def test_training_stops_early(capsys):
    m = model(rate=0.0)
    stop = C.EarlyStopping("acc", patience=1, save_best_model=False)
    epochs = []

    class Count(C.Callback):
        def on_epoch_end(self, epoch, logs=None):
            epochs.append(epoch)

    m.fit(data(), data(), epochs=9, batch_size=20, verbose=0, callbacks=[stop, Count()])
    assert epochs == [0, 1] and capsys.readouterr().out == "Epoch 2: Early stopping.\n"
    assert stop.stopped_epoch == 2


def test_callbacks_say_what_they_did(capsys, tmp_path):
    """PaddlePaddle's lines, which programs that read logs look for; checkpoints are told of without verbose, too."""
    m = model(rate=0.0)
    stop = C.EarlyStopping("loss", patience=1)
    slower = C.ReduceLROnPlateau(factor=0.5, patience=1)
    m.fit(data(), data(), epochs=3, batch_size=20, verbose=0, save_dir=str(tmp_path), callbacks=[slower, stop])
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        f"save checkpoint at {tmp_path / '0'}",
        f"save checkpoint at {tmp_path / '1'}",
        "Epoch 2: Early stopping.",
        f"Best checkpoint has been saved at {tmp_path / 'best_model'}",
        f"save checkpoint at {tmp_path / 'final'}",
    ]
    m = model(rate=0.1)
    m.fit(data(), data(), epochs=2, batch_size=20, verbose=0, callbacks=[C.ReduceLROnPlateau(patience=1, min_delta=9)])
    assert capsys.readouterr().out == "\nEpoch 2: ReduceLROnPlateau reducing learning rate to 0.01.\n"


def test_a_step_begins_with_the_logs_of_the_step_before():
    seen = []

    class Watch(C.Callback):
        def on_train_batch_begin(self, step, logs=None):
            seen.append(dict(logs))

    model().fit(data(), batch_size=10, epochs=1, verbose=0, callbacks=[Watch()])
    assert seen[0] == {} and seen[1]["step"] == 0 and seen[1]["batch_size"] == 10 and "loss" in seen[1]


@pytest.mark.parametrize(("patience", "after"), [(0, 1), (1, 2), (2, 5)])
def test_early_stopping_counts_as_in_paddle(patience, after):
    stop = C.EarlyStopping("loss", patience=patience, min_delta=0.1, verbose=0)
    stop.set_model(types.SimpleNamespace(stop_training=False))
    stop.on_train_begin()
    for loss in [1.0, 0.95, 0.5, 0.6, 0.45]:
        assert not stop.model.stop_training
        stop.on_eval_end({"loss": [loss]})
        if stop.evaluations == after:
            break
    assert stop.model.stop_training


def test_the_rate_falls_on_a_plateau_and_by_schedule():
    m = model(rate=1e-12)
    m.fit(data(), data(), epochs=3, batch_size=20, verbose=0, callbacks=[C.ReduceLROnPlateau(patience=1, verbose=0)])
    assert m._optimizer.get_lr() == pytest.approx(1e-14)
    schedule = paddle.optimizer.lr.StepDecay(0.1, 2)
    m = model(rate=schedule)
    m.fit(data(), batch_size=10, epochs=2, verbose=0)
    assert schedule.last_epoch == 4
    m.fit(data(), batch_size=10, epochs=2, verbose=0, callbacks=[C.LRScheduler(by_step=False, by_epoch=True)])
    assert schedule.last_epoch == 6


def test_event_files_are_written_by_a_package(monkeypatch, tmp_path):
    written = []

    class SummaryWriter:
        def __init__(self, folder):
            self.folder = folder

        def add_scalar(self, tag, value, step):
            written.append((tag, step))

        def close(self):
            written.append("closed")

    module = types.ModuleType("tensorboardX")
    module.SummaryWriter = SummaryWriter
    module.__spec__ = types.SimpleNamespace()
    monkeypatch.setitem(sys.modules, "tensorboardX", module)
    model().fit(data(), data(), batch_size=10, verbose=0, callbacks=[C.VisualDL(str(tmp_path))])
    steps = [("train/loss", 1), ("train/acc", 1), ("train/loss", 2), ("train/acc", 2)]
    assert written == [*steps, ("eval/loss", 1), ("eval/acc", 1), "closed"]


def test_mixed_precision():
    m = model()
    m.prepare(m._optimizer, paddle.nn.CrossEntropyLoss(), amp_configs="O1")
    first = m.train_batch([X], [Y])[0]
    for _ in range(20):
        last = m.train_batch([X], [Y])[0]
    assert last < first


def test_mixed_precision_takes_the_settings_of_its_parts():
    m = model()
    told = {"level": "O1", "custom_black_list": ["matmul"], "init_loss_scaling": 128.0, "incr_every_n_steps": 1}
    m.prepare(m._optimizer, paddle.nn.CrossEntropyLoss(), amp_configs=told)
    m.train_batch([X], [Y])
    assert m._scaler.state_dict()["scale"] == 256.0  # it grew behind the one step


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"amp_configs": "O7"}, "O0, O1 or O2"),
        ({"amp_configs": 3}, "a level such as"),
        ({"amp_configs": {"level": "O1", "use_pure_fp16": True}}, "use_pure_fp16"),
        ({"metrics": [3]}, "objects of Metric"),
        ({"loss": 3}, "loss must be"),
    ],
)
def test_what_prepare_does_not_take(given, match):
    with pytest.raises(ArgumentError, match=match):
        paddle.Model(paddle.nn.Linear(2, 2)).prepare(**given)


def test_files_that_do_not_fit(tmp_path):
    path = str(tmp_path / "net")
    paddle.save({"weight": paddle.ones([2, 3]), "other": paddle.ones([1])}, path + ".pdparams")
    m = paddle.Model(paddle.nn.Linear(2, 2))
    with pytest.raises(ArgumentError, match=r"weight has the shape \[2, 3\] in the file, not \[2, 2\]; bias is not in"):
        m.load(path)
    with pytest.warns(UserWarning, match="Skip loading"):
        m.load(path, skip_mismatch=True)
    assert m.network.weight.shape == [2, 2]


class Watching(paddle.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.seen = {}

    def on_train_begin(self, logs=None):
        self.seen["fit"] = [self.params["epochs"], self.params["steps"]]

    def on_train_batch_end(self, step, logs=None):
        self.seen["iterations"] = self.seen.get("iterations", 0) + 1

    def on_eval_begin(self, logs=None):
        self.seen["evaluate"] = [self.params["epochs"], self.params["steps"], logs["steps"]]

    def on_predict_begin(self, logs=None):
        self.seen["predict"] = [self.params["epochs"], self.params["steps"], logs["steps"]]


def test_iterations_count_instead_of_epochs():
    watching = Watching()
    data = paddle.io.TensorDataset([paddle.to_tensor(X), paddle.to_tensor(Y)])
    m, size = model(), -(-len(X) // 3)
    m.fit(data, batch_size=size, num_iters=5, verbose=0, callbacks=watching)
    m.evaluate(data, batch_size=size, num_iters=2, verbose=0, callbacks=watching)
    m.predict(data, batch_size=size, verbose=0, callbacks=watching)
    assert watching.seen == {
        "fit": [2, 3], "iterations": 5, "evaluate": [None, None, 2], "predict": [None, None, 3],
    }  # fmt: skip


def test_what_is_missing_is_named():
    net = paddle.nn.Linear(2, 2)
    with pytest.raises(ArgumentError, match="optimizer and a loss"):
        paddle.Model(net).train_batch([X])
    with pytest.raises(ArgumentError, match="num_iters must be greater than 0, got 0"):
        paddle.Model(net).fit([], num_iters=0)
    with pytest.raises(ArgumentError, match="num_iters must be greater than 0, got -1"):
        paddle.Model(net).evaluate([], num_iters=-1)
    with pytest.raises(ArgumentError, match="train_data"):
        paddle.Model(net).fit()
