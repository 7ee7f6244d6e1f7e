"""`VITRIFY_DUMP` writes out the stages of a compiled function, numbered in the order in which they are made."""

import vitrify as paddle
from vitrify.core.config import flags_guard


def test_stages_are_written_out(tmp_path):
    def half(x):
        return x * 0.5 if x.sum() > 0 else x

    with flags_guard({"dump": "converted,program", "dump_dir": str(tmp_path)}):
        assert paddle.jit.to_static(half, full_graph=True)(paddle.ones([2])).tolist() == [0.5, 0.5]
    converted, program = sorted(tmp_path.iterdir())
    assert converted.name.endswith(".converted.half.py")
    assert "vt.convert_ifexp" in converted.read_text()
    assert program.name.endswith(".program.txt")
    assert program.read_text().startswith("program\n") and "= if(" in program.read_text()
