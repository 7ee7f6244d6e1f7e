"""Settings of autotuning are checked."""

import json

import pytest

from vitrify.core.errors import ArgumentError, DTypeError
from vitrify.incubate.autotune import set_config

GOOD = {"kernel": {"enable": True, "tuning_range": [1, 5]}, "layout": {"enable": False}, "dataloader": {"enable": True}}


def test_good_settings_pass(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(GOOD))
    for config in (GOOD, str(path), None, {}):
        set_config(config)


@pytest.mark.parametrize(
    ("config", "error", "text"),
    [
        ({"kernels": {}}, ArgumentError, "there is no tuning of 'kernels'"),
        ({"layout": {"tuning_range": [1, 2]}}, ArgumentError, "layout takes enable"),
        ({"kernel": True}, ArgumentError, "kernel takes enable, tuning_range"),
        ({"kernel": {"enable": 1}}, DTypeError, "enable must be a bool"),
        ({"kernel": {"tuning_range": [5, 1]}}, ArgumentError, "tuning_range must be"),
        ({"kernel": {"tuning_range": 3}}, ArgumentError, "tuning_range must be"),
        (3, DTypeError, "config must be a dict"),
    ],
)
def test_others_do_not(config, error, text):
    with pytest.raises(error, match=text):
        set_config(config)


def test_no_such_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        set_config(str(tmp_path / "none.json"))
