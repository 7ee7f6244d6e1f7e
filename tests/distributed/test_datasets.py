"""Datasets of text files, and Executors that go through them."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import static
from vitrify.core.errors import ArgumentError, DTypeError, FileFormatError, ShapeError, UnsupportedError
from vitrify.distributed import InMemoryDataset, QueueDataset


@pytest.fixture
def files(tmp_path):
    for name, numbers in (("a", range(7)), ("b", range(10, 13))):
        lines = [f"3 {i} {i + 1} {i + 2} 1 {i}\n" for i in numbers]
        (tmp_path / f"{name}.txt").write_text("".join(lines))
    return [str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]


@pytest.fixture
def main():
    program = static.Program()
    with static.program_guard(program):
        static.data("x", [None, 3], "float32")
        static.data("y", [None, 1], "int64")
    return program


def slots(program):
    return [var for var in program.list_vars() if var.name in ("x", "y", "words")]


def made(kind, program, files, **settings):
    dataset = kind()
    dataset.init(**{"batch_size": 2, "use_var": slots(program), **settings})
    dataset.set_filelist(files)
    return dataset


def test_batches_go_across_files(main, files):
    feeds = list(made(QueueDataset, main, files).feeds())
    assert [feed["y"].ravel().tolist() for feed in feeds] == [[0, 1], [2, 3], [4, 5], [6, 10], [11, 12]]
    assert feeds[3]["x"].tolist() == [[6, 7, 8], [10, 11, 12]]
    assert feeds[0]["x"].dtype == np.float32 and feeds[0]["y"].dtype == np.int64


def test_a_program_learns_from_one_and_shows_it(tmp_path, capsys):
    (tmp_path / "line.txt").write_text("".join(f"2 {i / 8} 1 1 {i / 4 + 1}\n" for i in range(8)) * 40)
    main, startup, scope = static.Program(), static.Program(), static.Scope()
    with static.program_guard(main, startup):
        x, y = static.data("x", [None, 2]), static.data("y", [None, 1])
        loss = ((static.nn.fc(x, 1, bias_attr=False) - y) ** 2).mean()
        paddle.optimizer.SGD(0.5).minimize(loss)
    dataset = made(QueueDataset, main, [str(tmp_path / "line.txt")], batch_size=8)
    exe = static.Executor()
    exe.run(startup, scope=scope)
    exe.train_from_dataset(main, dataset, scope, fetch_list=[loss], fetch_info=["loss"], print_period=1)
    exe.infer_from_dataset(main, dataset, scope=scope, fetch_list=[loss], print_period=40, debug=True)
    first, *_, last, batches = capsys.readouterr().out.splitlines()
    assert "batch: [1], loss[1]:[" in first and f"batch: [40], {loss.name}[1]:[" in last
    assert batches.startswith("40 batches in")
    assert float(last.split("[")[-1][:-1]) < 0.01 * float(first.split("[")[-1][:-1])


def test_it_prints_as_paddle_does(main, files, capsys):
    """Expected: the lines of PaddlePaddle 3.3.1 for the same files."""
    dataset = made(QueueDataset, main, files)
    static.Executor().train_from_dataset(main, dataset, fetch_list=["y"], fetch_info=["why"], print_period=2)
    shown = [line.split("], ", 1)[1] for line in capsys.readouterr().out.splitlines()]
    assert shown == ["batch: [2], why[2]:[2 3]", "batch: [4], why[2]:[6 10]"]


def test_handlers_are_called_when_it_is_time(main, files):
    class Handler:
        period_secs = 0
        seen = []

        def __init__(self, var_dict):
            self.var_dict = var_dict

        def handler(self, values):
            self.seen.append(values["wanted"].ravel().tolist())

    handler = Handler({"wanted": "y"})
    static.Executor().infer_from_dataset(main, made(QueueDataset, main, files), fetch_handler=handler)
    assert handler.seen[-1] == [11, 12] and len(handler.seen) == 5


def test_files_go_through_a_command(main, files):
    dataset = made(QueueDataset, main, files, pipe_command="head -n 1 | sed s/^3/3/", batch_size=8)
    assert [feed["y"].ravel().tolist() for feed in dataset.feeds()] == [[0, 10]]
    with pytest.raises(ArgumentError, match="exit code 3"):
        list(made(QueueDataset, main, files, pipe_command="exit 3").feeds())


def test_samples_in_memory_are_shuffled(main, files):
    dataset = made(InMemoryDataset, main, files, batch_size=10, queue_num=1)
    with pytest.raises(ArgumentError, match="holds nothing"):
        dataset.wait_preload_done()
    dataset.preload_into_memory(2)
    dataset.wait_preload_done()
    assert (dataset.get_memory_data_size(), dataset.get_shuffle_data_size()) == (10, 0)
    np.random.seed(0)
    dataset.global_shuffle()
    (feed,) = dataset.feeds()
    assert sorted(feed["y"].ravel()) != feed["y"].ravel().tolist() and dataset.get_shuffle_data_size() == 10
    np.testing.assert_array_equal(feed["x"][:, :1], feed["y"])  # samples stay whole
    dataset.slots_shuffle(["y"])
    (exchanged,) = dataset.feeds()
    np.testing.assert_array_equal(exchanged["x"], feed["x"])
    assert exchanged["y"].tolist() != feed["y"].tolist() and set(exchanged["y"].ravel()) == set(feed["y"].ravel())
    dataset.release_memory()
    dataset.update_settings(batch_size=4)
    dataset.load_into_memory(is_shuffle=True)
    assert [len(feed["y"]) for feed in dataset.feeds()] == [4, 4, 2]


def test_slots_of_any_length_lie_behind_each_other(tmp_path):
    main = static.Program()
    with static.program_guard(main):
        static.data("words", [None, 1], "int64", lod_level=1)
    (tmp_path / "words.txt").write_text("2 1 2\n\n3 4 5 6\n")
    (feed,) = made(QueueDataset, main, [tmp_path / "words.txt"]).feeds()
    assert feed["words"].tolist() == [[1], [2], [4], [5], [6]]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("3 1 2", "slot 'x' says 3 values, and 2 follow"),
        ("3 1 2 3", "ends before slot 'y'"),
        ("0 1 2 3", "slot 'x' says 0 values"),
        ("3 1 2 3 1 a", "slot 'y' of int64"),
        ("3 1 2 3 1 99999999999999999999", "slot 'y' of int64"),
        ("3 1 2 3 1 5 6", "1 words follow"),
        ("x", "slot 'x' of float32"),
    ],
)
def test_what_is_no_sample_is_told_with_its_line(main, tmp_path, line, text):
    (tmp_path / "bad.txt").write_text(f"3 1 2 3 1 5\n{line}\n")
    with pytest.raises(FileFormatError, match=rf"bad\.txt, line 2: .*{text}"):
        list(made(QueueDataset, main, [tmp_path / "bad.txt"]).feeds())


def test_wrong_settings_are_refused(main, files, tmp_path):
    dataset = InMemoryDataset()
    for settings, error in (
        ({"batchsize": 1}, ArgumentError),
        ({"batch_size": 0}, ArgumentError),
        ({"fs_name": "hdfs://there"}, UnsupportedError),
        ({"data_feed_type": "SlotRecordInMemoryDataFeed"}, UnsupportedError),
        ({"use_var": ["x"]}, DTypeError),
    ):
        with pytest.raises(error):
            dataset.init(**settings)
    for shape, dtype, error in (([None, None], "float32", ShapeError), ([None, 1], "bool", DTypeError)):
        with static.program_guard(static.Program()), pytest.raises(error):
            dataset.init(use_var=[static.data("x", shape, dtype)])
    with pytest.raises(ArgumentError, match="use_var"):
        dataset.load_into_memory()
    with pytest.raises(UnsupportedError):
        dataset.set_date("20201231")
    with pytest.raises(UnsupportedError):
        dataset.tdm_sample("tree", "path", [1], 1, True, 0, 0)
    dataset = made(InMemoryDataset, main, files)
    dataset.load_into_memory()
    with pytest.raises(ArgumentError, match="no slot 'z'"):
        dataset.slots_shuffle(["z"])
    (tmp_path / "odd.txt").write_text("4 1 2 3 4 1 0\n")
    with pytest.raises(ShapeError, match="4 values"):
        list(made(QueueDataset, main, [tmp_path / "odd.txt"]).feeds())


def test_wrong_runs_are_refused(main, files):
    exe, dataset = static.Executor(), made(QueueDataset, main, files)
    with pytest.raises(DTypeError, match="QueueDataset or InMemoryDataset"):
        exe.train_from_dataset(main)
    with pytest.raises(ArgumentError, match="fetch_info"):
        exe.train_from_dataset(main, dataset, fetch_list=["x"], fetch_info=["a", "b"])
    with pytest.raises(ArgumentError, match="print_period"):
        exe.train_from_dataset(main, dataset, print_period=0)
