"""What model code asks of `utils.download` beside files."""

import tarfile
import zipfile

import pytest

from vitrify.core.errors import FileFormatError
from vitrify.utils import download


def test_the_first_endpoint_of_each_host():
    given = ["127.0.0.1:1", "127.0.0.1:2", "10.0.0.1:1"]
    assert download._get_unique_endpoints(given) == {"127.0.0.1:1", "10.0.0.1:1"}
    assert download._get_unique_endpoints([]) == set()


def test_addresses_of_the_web():
    assert download.is_url("https://example.org/a") and not download.is_url("ftp://a") and not download.is_url("a/b")


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "zip"])
def test_unpacking_beside_the_file(tmp_path, kind):
    (tmp_path / "top").mkdir()
    (tmp_path / "top" / "a").write_text("1")
    (tmp_path / "b").write_text("2")
    for name, members in {"one": ["top/a"], "many": ["top/a", "b"]}.items():
        place = tmp_path / name
        place.mkdir()
        path = place / f"data.{kind}"
        if kind == "zip":
            with zipfile.ZipFile(path, "w") as archive:
                for member in members:
                    archive.write(tmp_path / member, member)
        else:
            with tarfile.open(path, "w:gz" if kind.endswith("gz") else "w") as tar:
                for member in members:
                    tar.add(tmp_path / member, member)
        found = download._decompress(str(path))
        assert found == str(place / ("top" if name == "one" else "data"))
        root = place if name == "one" else place / "data"
        assert [(root / member).read_text() for member in members] == ["1", "2"][: len(members)]


def test_unpacking_nothing_else(tmp_path):
    path = tmp_path / "plain"
    path.write_text("x")
    with pytest.raises(TypeError, match="is neither a tar nor a zip file"):
        download._decompress(str(path))
    with zipfile.ZipFile(tmp_path / "out.zip", "w") as archive:
        archive.writestr("../b", "2")
    with pytest.raises(FileFormatError, match="has files that belong outside of its folder"):
        download._decompress(str(tmp_path / "out.zip"))
