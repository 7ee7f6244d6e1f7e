"""What stands between operators that passes and kernels of PaddlePaddle 3.3.1 take the wrong way beside each other."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import nn
from vitrify.paddle_program.program_desc_pb2 import ProgramDesc
from vitrify.static import InputSpec

SUFFIX = {"paddle": ".pdmodel", "paddle3": ".json"}


def test_a_scale_of_a_product_that_others_read_is_one_of_a_copy_in_pdmodel_programs(tmp_path):
    """A pass of `paddle.inference` merges the two, and leaves the others without a product: the process ended."""
    spec = [InputSpec([None, 4, 4], name="x")]
    for function, between in ((lambda x: (x @ x, (x @ x) * 2.0), 0), (lambda x: [y := x @ x, y * 2.0], 1)):
        paddle.jit.save(function, tmp_path / "m", input_spec=spec, format="paddle")
        desc = ProgramDesc.FromString((tmp_path / "m.pdmodel").read_bytes())
        types = [op.type for op in desc.blocks[0].ops]
        assert types[types.index("scale") - 1] == ("assign" if between else "matmul_v2")


@pytest.mark.parametrize("kind", ["paddle", "paddle3"])
def test_products_of_images_are_of_copies(kind, tmp_path):
    """oneDNN's products mistake the layout of its convolutions: PaddlePaddle's own programs give other numbers, too."""
    conv = nn.Conv2D(2, 2, 3, padding=1)

    def function(x):
        y = nn.functional.softmax(conv(x))
        return paddle.matmul(y, y, transpose_y=True)

    path, x = str(tmp_path / "m"), paddle.randn([3, 2, 4, 4])
    paddle.jit.save(function, path, input_spec=[InputSpec([None, 2, 4, 4], name="x")], format=kind)
    found = paddle.jit.load(path + SUFFIX[kind])(x)
    np.testing.assert_allclose(found.numpy(), function(x).numpy(), rtol=2e-5)
    content = (tmp_path / f"m{SUFFIX[kind]}").read_bytes()
    assert content.count(b'"1.assign"' if kind == "paddle3" else b"\x06assign") == 3  # of both, and of the output
