"""Operators called by their names in Paddle's programs: LayerHelper, _legacy_C_ops, _C_ops."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import _C_ops, _legacy_C_ops, static
from vitrify.common_ops_import import LayerHelper
from vitrify.core.errors import ArgumentError, UnsupportedError
from vitrify.vision import ops as V

BOXES = np.array([[[0, 0, 10, 10], [1, 1, 10, 10], [20, 20, 30, 30], [0, 0, 9, 10]]], "float32")
SCORES = np.array([[[0.9, 0.8, 0.3, 0.85], [0.1, 0.7, 0.6, 0.05]]], "float32")
# What PaddlePaddle 3.3.1 gives: label and score, place.
KEPT = [[0.0, 0.9, 0], [0.0, 0.3, 2], [1.0, 0.7, 1], [1.0, 0.6, 2]]


def kept(out, index, counts):
    return [[row[0], round(row[1], 4), place] for row, (place,) in zip(out.tolist(), index.tolist())], counts.tolist()


def appended(bboxes, scores):
    """As detectors do that append the operator by its name."""
    helper = LayerHelper("multiclass_nms3", **locals())
    out = helper.create_variable_for_type_inference(dtype=bboxes.dtype)
    index, counts = (helper.create_variable_for_type_inference(dtype="int32") for _ in range(2))
    helper.append_op(
        type="multiclass_nms3",
        inputs={"BBoxes": bboxes, "Scores": scores},
        attrs={
            "background_label": -1, "score_threshold": 0.2, "nms_top_k": 10, "nms_threshold": 0.5, "keep_top_k": 10,
            "nms_eta": 1.0, "normalized": True,
        },
        outputs={"Out": out, "Index": index, "NmsRoisNum": counts},
    )  # fmt: skip
    out.stop_gradient = True
    return out, index, counts


def legacy(bboxes, scores):
    attrs = ("background_label", -1, "score_threshold", 0.2, "nms_top_k", 10, "nms_threshold", 0.5, "keep_top_k", 10)
    return _legacy_C_ops.multiclass_nms3(bboxes, scores, None, *attrs, "nms_eta", 1.0, "normalized", True)


def in_order(bboxes, scores):
    return _C_ops.multiclass_nms3(bboxes, scores, None, 0.2, 10, 10, 0.5, True, 1.0, -1)


@pytest.mark.parametrize("form", [appended, legacy, in_order])
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "static"])
def test_three_ways_to_the_same_operator(form, compiled):
    fn = paddle.jit.to_static(form, full_graph=True) if compiled else form
    for _ in range(2):
        assert kept(*fn(paddle.to_tensor(BOXES), paddle.to_tensor(SCORES))) == (KEPT, [4])


def test_an_appended_operator_in_a_program_by_hand():
    paddle.enable_static()
    try:
        main = static.Program()
        with static.program_guard(main, static.Program()):
            outs = appended(static.data("b", [None, 4, 4]), static.data("s", [None, 2, 4]))
        out, index, counts = static.Executor().run(main, {"b": BOXES, "s": SCORES}, list(outs))
    finally:
        paddle.disable_static()
    assert kept(out, index, counts) == (KEPT, [4])


def test_gradients_pass_through_an_appended_operator():
    def scaled(x):
        helper = LayerHelper("scale", x=x)
        out = helper.create_variable_for_type_inference(helper.input_dtype("x"))
        helper.append_op(inputs={"X": [helper.input("x")]}, outputs={"Out": [out]}, attrs={"scale": 3.0, "bias": 1.0})
        return out

    for fn in (scaled, paddle.jit.to_static(scaled, full_graph=True)):
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        out = fn(x)
        out.sum().backward()
        assert out.tolist() == [4, 7] and x.grad.tolist() == [3, 3]


def test_parameters_of_a_helper():
    helper = LayerHelper("fc", name="f", param_attr=paddle.ParamAttr(name="helper_w"), bias_attr=False)
    w = helper.create_parameter(helper.param_attr, [2, 3], "float32")
    assert w.name == "helper_w" and w.shape == [2, 3] and helper.name == "f"
    assert helper.create_parameter(helper.bias_attr, [3], "float32", is_bias=True) is None
    assert [attr.name for attr in paddle.ParamAttr._to_attr(["a", "b"])] == ["a", "b"]
    assert paddle.ParamAttr._to_attr(False) is False


def test_outputs_that_are_lists_come_in_the_order_of_each_form():
    rois = paddle.to_tensor([[0.0, 0.0, 300.0, 300.0], [0.0, 0.0, 20.0, 20.0]])
    count = paddle.to_tensor([2], dtype="int32")
    levels, places, counts = V.distribute_fpn_proposals(rois, 2, 5, 4, 224, False, count)
    attrs = ("min_level", 2, "max_level", 5, "refer_level", 4, "refer_scale", 224, "pixel_offset", False)
    old = _legacy_C_ops.distribute_fpn_proposals(rois, count, 4, 4, *attrs)
    new = _C_ops.distribute_fpn_proposals(rois, count, 2, 5, 4, 224, False)
    for found in (old, (new[0], new[2], new[1])):
        assert [v.tolist() for v in found[0]] == [v.tolist() for v in levels]
        assert found[1].tolist() == places.tolist() and [v.tolist() for v in found[2]] == [v.tolist() for v in counts]


def region_calls():
    """For each operator: the public function, and the call of both forms with the same arguments."""
    x = paddle.to_tensor(np.random.default_rng(0).normal(size=(1, 2, 8, 8)).astype("float32"))
    rois, one = paddle.to_tensor([[1.0, 1.0, 6.0, 5.0]]), paddle.to_tensor([1], dtype="int32")
    size = ("pooled_height", 2, "pooled_width", 3, "spatial_scale", 0.5)
    boxes, scores = paddle.to_tensor(BOXES), paddle.to_tensor(SCORES)
    prior, by = paddle.to_tensor(BOXES[0]), paddle.to_tensor([[0.1, 0.1, 0.2, 0.2]] * 4)
    image = paddle.zeros([1, 3, 32, 32])
    anchors = paddle.to_tensor(np.tile(np.array([0, 0, 8, 8], "float32"), (8, 8, 2, 1)))
    moved = paddle.to_tensor(np.random.default_rng(1).normal(size=(1, 8, 8, 8)).astype("float32") / 8)
    hw = paddle.to_tensor([[32.0, 32.0]])
    old, new = _legacy_C_ops, _C_ops
    wide = ("min_sizes", [4.0], "max_sizes", [8.0], "aspect_ratios", [2.0], "variances", [0.1, 0.1, 0.2, 0.2])
    proposed = ("pre_nms_topN", 9, "post_nms_topN", 5, "nms_thresh", 0.5, "min_size", 0.1, "eta", 1.0)
    coded = ("code_type", "decode_center_size", "box_normalized", True, "axis", 0)
    faint = ("score_threshold", 0.1, "post_threshold", 0.05, "nms_top_k", -1, "keep_top_k", 8)
    return {
        "roi_align": (
            lambda: V.roi_align(x, rois, one, (2, 3), 0.5, 2, False),
            lambda: old.roi_align(x, rois, one, *size, "sampling_ratio", 2, "aligned", False),
            lambda: new.roi_align(x, rois, one, 2, 3, 0.5, 2, False),
        ),
        "roi_pool": (
            lambda: V.roi_pool(x, rois, one, (2, 3), 0.5),
            lambda: old.roi_pool(x, rois, one, *size)[0],
            lambda: new.roi_pool(x, rois, one, 2, 3, 0.5)[0],
        ),
        "prior_box": (
            lambda: V.prior_box(x, image, [4.0], [8.0], [2.0], flip=True),
            lambda: old.prior_box(x, image, *wide, "flip", True, "clip", False),
            lambda: new.prior_box(x, image, [4.0], [8.0], [2.0], [0.1, 0.1, 0.2, 0.2], True, False, 0.0, 0.0, 0.5),
        ),
        "box_coder": (
            lambda: V.box_coder(prior, by, boxes, "decode_center_size"),
            lambda: old.box_coder(prior, by, boxes, *coded),
            lambda: old.box_coder(prior, None, boxes, *coded, "variance", [0.1, 0.1, 0.2, 0.2]),
            lambda: new.box_coder(prior, by, boxes, "decode_center_size", True, 0, []),
        ),
        "generate_proposals": (
            lambda: V.generate_proposals(
                x.abs(), moved, hw, anchors, paddle.ones_like(anchors), 9, 5, 0.5, return_rois_num=True
            ),
            lambda: old.generate_proposals_v2(
                x.abs(), moved, hw, anchors, paddle.ones_like(anchors), *proposed, "pixel_offset", False
            ),
            lambda: new.generate_proposals(
                x.abs(), moved, hw, anchors, paddle.ones_like(anchors), 9, 5, 0.5, 0.1, 1.0, False
            ),
        ),
        "matrix_nms": (
            lambda: V.matrix_nms(boxes, scores, 0.1, 0.05, -1, 8, background_label=-1, return_index=True)[::2],
            lambda: old.matrix_nms(boxes, scores, *faint, "background_label", -1)[:2],
            lambda: new.matrix_nms(boxes, scores, 0.1, -1, 8, 0.05, False, 2.0, -1, True)[:2],
        ),
        "argsort": (
            lambda: (x.sort(1), x.argsort(1)),
            lambda: old.argsort(x, "axis", 1),
            lambda: new.argsort(x, 1, False),
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", region_calls())
def test_operators_by_name_are_the_public_functions(name):
    public, *others = (call() for call in region_calls()[name])
    for found in others:
        for a, b in zip(paddle.utils.flatten(found), paddle.utils.flatten(public), strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_what_is_not_there_says_so():
    with pytest.raises(AttributeError, match="there is no operator 'melt'"):
        _legacy_C_ops.melt
    with pytest.raises(AttributeError, match=r"no operator 'relu' in paddle\._C_ops here; call its public function"):
        _C_ops.relu
    helper = LayerHelper("melt")
    with pytest.raises(ArgumentError, match="there is no operator 'melt' of PaddlePaddle's programs here"):
        helper.append_op(inputs={}, outputs={})
    with pytest.raises(UnsupportedError, match="relu with heat=3 cannot be read"):
        helper.append_op(type="relu", inputs={"X": paddle.ones([1])}, attrs={"heat": 3})
    with pytest.raises(ArgumentError, match="melt: xs must be one tensor, got 2"):
        LayerHelper("melt", xs=[paddle.ones([1]), paddle.ones([2])]).input("xs")
