"""A Model in static mode computes what it computes in dynamic mode."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError

initializer = paddle.nn.initializer
BATCH = (np.sin(np.arange(48)).reshape(4, 3, 4).astype("float32"), np.array([[0], [1], [2], [0]]))


class Rows(paddle.io.Dataset):
    """Twelve rows of three classes."""

    def __getitem__(self, i):
        return np.cos(np.arange(12) * (i + 1)).reshape(3, 4).astype("float32"), np.array([i % 3])

    def __len__(self):
        return 12


def model(**settings):
    def assigned(*shape):
        return paddle.ParamAttr(
            initializer=initializer.Assign(np.sin(np.arange(np.prod(shape)) * 1.7).reshape(shape) / 2)
        )

    nn = paddle.nn
    net = nn.Sequential(
        nn.Flatten(1), nn.Linear(12, 8, assigned(12, 8)), nn.BatchNorm1D(8), nn.ReLU(), nn.Linear(8, 3, assigned(8, 3))
    )
    specs = paddle.static.InputSpec([None, 3, 4], name="x"), paddle.static.InputSpec([None, 1], "int64", "label")
    found = paddle.Model(net, *specs)
    rate = paddle.optimizer.lr.StepDecay(0.1, 2)
    optimizer = paddle.optimizer.Momentum(rate, parameters=net.parameters())
    found.prepare(optimizer, nn.CrossEntropyLoss(), paddle.metric.Accuracy(), **settings)
    return found


@pytest.fixture
def static_mode():
    static = paddle.static
    paddle.enable_static()
    with static.scope_guard(static.Scope()), static.program_guard(static.Program(), static.Program()):
        yield
    paddle.disable_static()


def numbers(tmp_path):
    """Whatever a Model says of batches, epochs, predictions, and after its files were read."""
    found = model()
    told = [found.train_batch(*BATCH) for _ in range(3)]
    told += [found.eval_batch(*BATCH), found.predict_batch(BATCH[0])]
    quiet = {"batch_size": 4, "verbose": 0}
    found.fit(Rows(), epochs=2, shuffle=False, **quiet)
    evaluated = found.evaluate(Rows(), **quiet)
    told += [evaluated["loss"], [evaluated["acc"]], found.predict(Rows(), stack_outputs=True, **quiet)]
    found.save(str(tmp_path / "model"))
    found.fit(Rows(), shuffle=False, **quiet)
    found.load(str(tmp_path / "model"))
    assert found.evaluate(Rows(), **quiet) == evaluated
    found.fit(Rows(), shuffle=False, **quiet)
    told.append(found.evaluate(Rows(), **quiet)["loss"])
    found.save(str(tmp_path / "inference"), training=False)
    return [float(x) for part in told for x in np.concatenate([np.ravel(v) for v in part])], found.predict_batch(
        BATCH[0]
    )


def test_the_numbers_are_those_of_dynamic_mode(static_mode, tmp_path):
    found, predicted = numbers(tmp_path)
    paddle.disable_static()
    wanted, _ = numbers(tmp_path / "dynamic")
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    loaded = paddle.jit.load(str(tmp_path / "inference"))
    np.testing.assert_allclose(loaded(paddle.to_tensor(BATCH[0])).numpy(), predicted[0], rtol=1e-5)
    paddle.enable_static()


def test_what_programs_of_a_model_cannot_do(static_mode):
    with pytest.raises(UnsupportedError, match="update=False adds up gradients"):
        model().train_batch(*BATCH, update=False)
    with pytest.raises(UnsupportedError, match="amp_configs are for dynamic mode"):
        model(amp_configs="O1").train_batch(*BATCH)
    with pytest.raises(ValueError, match="must say what a batch holds"):
        paddle.Model(paddle.nn.Linear(2, 2)).predict_batch(np.ones([1, 2], "float32"))


def test_metrics_of_an_epoch_are_those_of_all_its_batches():
    found = model()
    told = found.evaluate(Rows(), batch_size=4, verbose=0)
    rows = [Rows()[i] for i in range(12)]
    choices = found.predict_batch(np.stack([x for x, _ in rows]))[0].argmax(-1)
    assert told["acc"] == pytest.approx(np.mean(choices == np.concatenate([y for _, y in rows])))
