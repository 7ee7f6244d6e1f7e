"""The benchmark of first steps: fresh processes, the second with what the first compiled."""

from pathlib import Path

import pytest

from benchmarks import first_step
from benchmarks.contenders import OURS_EAGER, Contender


def test_every_framework_keeps_its_code_in_the_folder(tmp_path):
    folders = [value for name, value in first_step.cache_folders(tmp_path).items() if name.endswith("_DIR")]
    assert {Path(f).parent for f in folders} == {tmp_path} and len(set(folders)) == 3


def test_the_table_has_medians_and_failures():
    nobody = Contender("nobody", "no_such_framework", "eager")
    found = {OURS_EAGER: [(0.3, 0.2, 0.1), (0.5, 0.2, 0.1), (0.4, 0.3, 0.1)], nobody: []}
    lines = first_step.table("mlp_small", found, {nobody: "NameError: x"}).splitlines()
    assert lines[2].split() == ["vitrify", "eager", "400.0", "200.0", "100.0"]
    assert lines[3] == "nobody           failed: NameError: x"


@pytest.mark.slow
def test_a_whole_run(capsys):
    assert first_step.main(["--only", "mlp_small", "--rounds", "1"]) == 0
    assert capsys.readouterr().out.count("vitrify") == 2
