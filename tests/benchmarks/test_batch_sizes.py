"""The benchmark of changing batch sizes: no size may cost a program of its own."""

from benchmarks import batch_sizes


def test_no_size_has_a_program_of_its_own(capsys):
    timing = batch_sizes.main(["--largest", "6", "--rounds", "1"])
    assert timing.programs <= 2  # the first size's, and the one for any
    assert timing.changing > 0 and timing.fixed > 0
    assert "ratio" in capsys.readouterr().out
