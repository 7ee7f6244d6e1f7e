"""Models that a folder offers in its hubconf.py."""

import sys

import pytest

import vitrify as paddle

CONFIGURATION = '''
dependencies = ["numpy"]
from hub_test_helper import FACTOR

def net(size=3):
    """Makes a net."""
    return size * FACTOR

def _hidden():
    pass
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "hubconf.py").write_text(CONFIGURATION)
    (tmp_path / "hub_test_helper.py").write_text("FACTOR = 2\n")
    before = list(sys.path)
    yield str(tmp_path)
    assert sys.path == before
    sys.modules.pop("hub_test_helper", None)


def test_a_folder_tells_and_makes_what_it_offers(folder):
    assert paddle.hub.list(folder, source="local") == ["net"]
    assert paddle.hub.help(folder, "net", source="local") == "Makes a net."
    assert paddle.hub.load(folder, "net", source="local", size=5) == 10


def test_what_is_not_there(folder, tmp_path):
    with pytest.raises(RuntimeError, match="offers no model '_hidden'"):
        paddle.hub.load(folder, "_hidden", source="local")
    with pytest.raises(RuntimeError, match=r"has no hubconf\.py"):
        paddle.hub.list(str(tmp_path / "nothing"), source="local")
    (tmp_path / "hubconf.py").write_text("dependencies = ['no_such_package_anywhere']\n")
    with pytest.raises(RuntimeError, match="not installed: no_such_package_anywhere"):
        paddle.hub.list(folder, source="local")


def test_nothing_is_downloaded(folder):
    with pytest.raises(ValueError, match="unknown source"):
        paddle.hub.load(folder, "net", source="elsewhere")
    for ask in (lambda: paddle.hub.load("a/b", "net"), lambda: paddle.hub.load_state_dict_from_url("https://a/b", ".")):
        with pytest.raises(paddle.core.errors.UnsupportedError, match="not downloaded"):
            ask()
