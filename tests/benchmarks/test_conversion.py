"""The benchmark of conversion: its file is what it says, and 1,000 lines of it convert within a second or so."""

from benchmarks import conversion


def test_the_file_has_the_length_asked_for(tmp_path):
    source = conversion.model_source(300)
    assert 300 <= source.count("\n") <= 360
    module = conversion.load(source, tmp_path)
    assert {f.__name__ for f in conversion.functions_of(module)} >= {"default", "forward", "__init__", "loss_4"}


def test_a_thousand_lines_convert_in_time():
    seconds = conversion.main(["--rounds", "3"])
    assert seconds < 15  # an idle machine takes half a second, a busy one with coverage more than ten times that
