"""`paddle.vision.datasets`: local files in their published forms; nothing is downloaded."""

import gzip
import io
import pickle
import tarfile

import numpy as np
import pytest
import scipy.io
from PIL import Image

from vitrify.core.errors import ArgumentError, FileFormatError, UnsupportedError
from vitrify.io import DataLoader
from vitrify.vision import datasets as D
from vitrify.vision import image_load, set_image_backend
from vitrify.vision import transforms as T


def idx(array):
    head = np.array([2048 + array.ndim, *array.shape], ">i4").tobytes()
    return head + array.astype("uint8").tobytes()


@pytest.mark.parametrize("cls", [D.MNIST, D.FashionMNIST])
def test_mnist(cls, tmp_path):
    images, labels = np.random.default_rng(0).integers(0, 255, (5, 28, 28)), np.arange(5)
    (tmp_path / "images.gz").write_bytes(gzip.compress(idx(images)))
    (tmp_path / "labels").write_bytes(idx(labels))
    data = cls(str(tmp_path / "images.gz"), str(tmp_path / "labels"), transform=T.ToTensor())
    image, label = data[3]
    assert len(data) == 5 and label.tolist() == [3] and label.dtype == np.int64
    np.testing.assert_allclose(image.numpy()[0], images[3] / 255, rtol=1e-6)
    batch, targets = next(iter(DataLoader(data, batch_size=4)))
    assert batch.shape == [4, 1, 28, 28] and targets.shape == [4, 1]
    with pytest.raises(FileFormatError, match="IDX"):
        cls(str(tmp_path / "labels"), str(tmp_path / "labels"))


def archive(path, files):
    with tarfile.open(path, "w:gz") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def test_cifar(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 255, (4, 3072)).astype("uint8")
    batch = {"data": pixels, "labels": [3, 1, 2, 0], "fine_labels": [30, 10, 20, 0]}
    data = pickle.dumps(batch, protocol=2)
    names = ("c/data_batch_1", "c/data_batch_2", "c/test_batch")
    archive(tmp_path / "ten.tar.gz", dict.fromkeys(names, data))
    archive(tmp_path / "hundred.tar.gz", {"c/train": data, "c/test": data})
    ten = D.Cifar10(str(tmp_path / "ten.tar.gz"))
    assert len(ten) == 8 and len(D.Cifar10(str(tmp_path / "ten.tar.gz"), mode="test")) == 4
    image, label = ten[5]
    assert isinstance(image, Image.Image) and label == 1 and label.shape == ()
    np.testing.assert_array_equal(np.asarray(image), pixels[1].reshape(3, 32, 32).transpose(1, 2, 0))
    assert D.Cifar100(str(tmp_path / "hundred.tar.gz"), backend="cv2")[0][0].shape == (32, 32, 3)
    assert D.Cifar100(str(tmp_path / "hundred.tar.gz"))[2][1] == 20


def test_folders(tmp_path):
    for name, colour in (("b/1.png", 10), ("a/2.png", 20), ("a/x/1.png", 30), ("a/notes.txt", 0)):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("png"):
            Image.new("RGB", (4, 3), (colour, 0, 0)).save(path)
        else:
            path.write_text("")
    data = D.DatasetFolder(str(tmp_path), transform=np.asarray)
    assert data.classes == ["a", "b"] and data.targets == [0, 0, 1] and data[2][0][0, 0, 0] == 10
    flat = D.ImageFolder(str(tmp_path))
    assert len(flat) == 3 and flat[0][0].size == (4, 3)
    assert len(D.ImageFolder(str(tmp_path), is_valid_file=lambda path: "notes" in path, loader=len)) == 1
    with pytest.raises(ArgumentError, match="no file below"):
        D.ImageFolder(str(tmp_path), extensions=[".gif"])
    assert image_load(str(tmp_path / "b/1.png"), "cv2")[0, 0].tolist() == [0, 0, 10]
    set_image_backend("cv2")
    assert isinstance(image_load(str(tmp_path / "b/1.png")), np.ndarray)
    set_image_backend("pil")


def encoded(kind, mode="RGB"):
    buffer = io.BytesIO()
    Image.new(mode, (6, 5), 3 if mode == "L" else (9, 9, 9)).save(buffer, kind)
    return buffer.getvalue()


def test_flowers_and_voc(tmp_path):
    archive(tmp_path / "f.tgz", {f"jpg/image_{i:05}.jpg": encoded("jpeg") for i in (1, 2, 3)})
    scipy.io.savemat(tmp_path / "labels.mat", {"labels": [[7, 8, 9]]})
    scipy.io.savemat(tmp_path / "set.mat", {"tstid": [[3, 1]], "trnid": [[2]], "valid": [[2]]})
    data = D.Flowers(*(str(tmp_path / n) for n in ("f.tgz", "labels.mat", "set.mat")))
    assert len(data) == 2 and data[0][1].tolist() == [9] and data[0][0].size == (6, 5)
    root = "VOCdevkit/VOC2012/"
    files = {
        root + "ImageSets/Segmentation/val.txt": b"one\n",
        root + "JPEGImages/one.jpg": encoded("jpeg"),
        root + "SegmentationClass/one.png": encoded("png", "L"),
    }
    archive(tmp_path / "voc.tar", files)
    voc = D.VOC2012(str(tmp_path / "voc.tar"), mode="valid")
    assert len(voc) == 1 and voc[0][0].size == (6, 5) and np.unique(voc[0][1]).tolist() == [3]


@pytest.mark.parametrize("make", [D.MNIST, D.FashionMNIST, D.Cifar10, D.Cifar100, D.Flowers, D.VOC2012])
def test_nothing_is_downloaded(make):
    with pytest.raises(UnsupportedError, match="asks for a download"):
        make()
    with pytest.raises(ArgumentError, match="mode"):
        make(mode="other")
