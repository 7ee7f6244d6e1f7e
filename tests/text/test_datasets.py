"""`paddle.text.datasets`: local files in their published forms; expected numbers are PaddlePaddle 3.3.1's."""

import io
import tarfile
import zipfile

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import ArgumentError, FileFormatError, UnsupportedError
from vitrify.io import DataLoader

NAMES = ("UCIHousing", "Imdb", "Imikolov", "Movielens", "WMT14", "WMT16")


def archive(path, files):
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return str(path)


def rows(data):
    return [[part.tolist() for part in data[i]] for i in range(len(data))]


def test_housing(tmp_path):
    numbers = np.random.RandomState(0).rand(10, 14) * 9
    (tmp_path / "housing.data").write_text("\n".join(" ".join(f"{v:.4f}" for v in row) for row in numbers))
    data, held_out = (paddle.text.UCIHousing(str(tmp_path / "housing.data"), mode) for mode in ("train", "test"))
    assert (len(data), len(held_out)) == (8, 2)
    features, price = data[0]
    assert features.shape == (13,) and features.dtype == price.dtype == np.float32
    np.testing.assert_allclose(features[:4], [-0.0099, 0.6029, 0.0371, 0.0984], atol=1e-4)
    np.testing.assert_allclose(price, [8.3304], rtol=1e-6)
    np.testing.assert_allclose(held_out[1][0][:2], [-0.5632, 0.0208], atol=1e-4)
    assert next(iter(DataLoader(data, batch_size=4)))[0].shape == [4, 13]
    (tmp_path / "short").write_text("1 2 3")
    with pytest.raises(FileFormatError, match="rows of 14 numbers"):
        paddle.text.UCIHousing(str(tmp_path / "short"))


def test_reviews(tmp_path):
    path = archive(
        tmp_path / "imdb.tgz",
        {
            "aclImdb/train/pos/0_9.txt": "A good, good Movie! it is\n",
            "aclImdb/train/neg/1_1.txt": "a bad movie... is bad bad",
            "aclImdb/train/unsup/1_1.txt": "unseen words",
            "aclImdb/test/pos/0_9.txt": "the movie is good it",
            "aclImdb/test/neg/0_2.txt": "nope bad",
            "aclImdb/train/pos/3_9.txt": "movie movie unknown\r\n",
        },
    )
    data = paddle.text.Imdb(path, cutoff=1)
    assert data.word_idx == {b"movie": 0, b"bad": 1, b"good": 2, b"is": 3, b"a": 4, b"it": 5, "<unk>": 6}
    assert rows(data) == [[[4, 2, 2, 0, 5, 3], [0]], [[0, 0, 6], [0]], [[4, 1, 0, 3, 1, 1], [1]]]
    assert rows(paddle.text.Imdb(path, "test", 1)) == [[[6, 0, 3, 2, 5], [0]], [[6, 1], [1]]]
    with pytest.raises(FileFormatError, match="has no reviews"):
        paddle.text.Imdb(archive(tmp_path / "none.tgz", {"a.txt": "a"}))


def test_language(tmp_path):
    path = archive(
        tmp_path / "ptb.tgz",
        {
            "./simple-examples/data/ptb.train.txt": f" a b c a{' <unk>' * 6}\n b a d a a a b b\n c\n",
            "./simple-examples/data/ptb.valid.txt": " a b e b \n",
            "./simple-examples/data/ptb.test.txt": " c a e\n a\n",
        },
    )
    known = {b"a": 0, b"<unk>": 1, b"b": 2, "<e>": 3, "<s>": 4, b"c": 5, "<unk>": 6}
    windows = paddle.text.Imikolov(path, "NGRAM", 3, "test", 1)
    assert windows.word_idx == known and rows(windows) == [[4, 5, 0], [5, 0, 6], [0, 6, 3], [4, 0, 3]]
    assert len(paddle.text.Imikolov(path, "ngram", 2, min_word_freq=1)) == 22
    assert rows(paddle.text.Imikolov(path, "SEQ", -1, "test", 1)) == [[[4, 5, 0, 6], [5, 0, 6, 3]], [[4, 0], [0, 3]]]
    assert rows(paddle.text.Imikolov(path, "SEQ", 4, min_word_freq=1)) == [[[4, 5], [5, 3]]]
    with pytest.raises(ArgumentError, match="NGRAM or SEQ"):
        paddle.text.Imikolov(path, "WORDS")
    with pytest.raises(ArgumentError, match="window_size must be positive"):
        paddle.text.Imikolov(path)


def test_films(tmp_path):
    path = tmp_path / "ml.zip"
    films = "1::Toy Story (1995)::Animation|Comedy\n2::Jumanji Story, the (1996)::Comedy\n7::Été (1999)::Drama\n"
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("ml-1m/movies.dat", films.encode("latin-1"))
        z.writestr("ml-1m/users.dat", "1::F::1::10::48067\n2::M::56::16::70072\n")
        z.writestr(
            "ml-1m/ratings.dat", "".join(f"{1 + i % 2}::{(1, 2, 7)[i % 3]}::{1 + i % 5}::0\n" for i in range(20))
        )
    train, test = (paddle.text.Movielens(str(path), mode, test_ratio=0.3) for mode in ("train", "test"))
    assert len(train) == 17
    assert rows(test) == [
        [[1], [1], [0], [10], [7], [2], [5], [5.0]],
        [[2], [0], [6], [16], [1], [0, 1], [0, 1], [-3.0]],
        [[1], [1], [0], [10], [2], [1], [2, 3, 4], [-1.0]],
    ]
    assert train.movie_info[2].title == "Jumanji Story, the " and train.user_info[2].is_male
    with pytest.raises(FileFormatError, match="not a zip archive"):
        paddle.text.Movielens(archive(tmp_path / "a.tgz", {"a": "a"}))


def test_translation_with_word_lists(tmp_path):
    words = {
        f"wmt14/train/{side}.dict": f"<s>\n<e>\n<unk>\n{pair}\n" for side, pair in (("src", "a\nb"), ("trg", "x\ny"))
    }
    lengths = "".join("a " * n + "\tx\n" for n in (78, 79)) + "".join("a\t" + "x " * n + "\n" for n in (80, 81))
    pairs = {"wmt14/train/train": f"a b z\tx y\nb\ty q\nno pair\n{lengths}", "wmt14/test/test": "a\tx\n"}
    path = archive(tmp_path / "wmt14.tgz", {**pairs, "wmt14/gen/gen": "b a\ty\n", **words})
    data = paddle.text.WMT14(path, dict_size=4)
    assert rows(data)[:2] == [[[0, 3, 2, 2, 1], [0, 3, 2], [3, 2, 1]], [[0, 2, 1], [0, 2, 2], [2, 2, 1]]]
    assert [len(row[0]) for row in rows(data)[2:]] == [80, 3]
    assert data.get_dict()[1] == {"<s>": 0, "<e>": 1, "<unk>": 2, "x": 3} and data.get_dict(True)[0][3] == "a"
    assert rows(paddle.text.WMT14(path, "gen", 30)) == [[[0, 4, 3, 1], [0, 4], [4, 1]]]
    with pytest.raises(ArgumentError, match="dict_size must be positive"):
        paddle.text.WMT14(path)


def test_translation_both_ways(tmp_path):
    pairs = {"wmt16/train": "a b a c\tx y x\nb a\ty z z z\nlonely\n", "wmt16/val": "a q\tx\n", "wmt16/test": "c\tz y\n"}
    path = archive(tmp_path / "wmt16.tgz", pairs)
    data = paddle.text.WMT16(path, "train", 4, 5)
    assert data.get_dict("en") == {"<s>": 0, "<e>": 1, "<unk>": 2, "a": 3} and data.get_dict("de", True)[4] == "x"
    # the target's numbers are those of its own language, where PaddlePaddle has `<unk>` for all of them
    assert rows(data)[0] == [[0, 3, 2, 3, 2, 1], [0, 4, 2, 4], [4, 2, 4, 1]]
    assert rows(paddle.text.WMT16(path, "test", 30, 30, "de")) == [[[0, 3, 5, 1], [0, 5], [5, 1]]]
    with pytest.raises(ArgumentError, match="trg_dict_size must be positive"):
        paddle.text.WMT16(path, src_dict_size=3)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_downloaded(name, tmp_path):
    cls = getattr(paddle.text, name)
    sizes = {
        "WMT14": {"dict_size": 5},
        "WMT16": {"src_dict_size": 5, "trg_dict_size": 5},
        "Imikolov": {"window_size": 2},
    }
    settings = sizes.get(name, {})
    assert getattr(paddle.text.datasets, name) is cls
    with pytest.raises(UnsupportedError, match="local files only"):
        cls(**settings)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        cls(str(tmp_path / "missing"), **settings)
    with pytest.raises(ArgumentError, match="mode must be one of"):
        cls(str(tmp_path), mode="other", **settings)
    (tmp_path / "broken").write_bytes(b"no archive")
    with pytest.raises(FileFormatError):
        cls(str(tmp_path / "broken"), **settings)
