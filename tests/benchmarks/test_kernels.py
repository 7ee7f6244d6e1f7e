"""The benchmark of single kernels runs and prints a ratio for each."""

from benchmarks.kernels import main


def test_every_kernel_gets_a_ratio(capsys):
    assert main(["--small", "--rounds", "1"]) in (0, 1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 * 3 + 4
    assert all(float(line.split()[0]) > 0 for line in lines)
