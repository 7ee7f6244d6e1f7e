"""Ops that are algorithms (linear algebra, counting, detection, windows, random numbers) are written and read back."""

import numpy as np
import pytest

import vitrify as paddle
from tests.paddle_program.test_writing import FORMATS, ROWS, SPEC, F, round_trip
from vitrify.core.errors import UnsupportedError

V = paddle.vision.ops

SQUARE = paddle.to_tensor([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
BOXES = paddle.to_tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9], [3.0, 3.0, 4.0, 4.0]])
IMAGE = paddle.arange(32, dtype="float32").reshape([1, 2, 4, 4])
ALGORITHMS = {
    "inverse": (paddle.linalg.inv, [SQUARE]),
    "det": (paddle.linalg.det, [SQUARE]),
    "cholesky": (paddle.linalg.cholesky, [SQUARE]),
    "qr": (lambda x: [v.abs() for v in paddle.linalg.qr(x)], [SQUARE]),
    "svd": (lambda x: paddle.linalg.svd(x)[1], [SQUARE]),
    "eigh": (lambda x: paddle.linalg.eigh(x)[0], [SQUARE]),
    "solve": (lambda x, y: paddle.linalg.solve(x, y), [SQUARE, ROWS]),
    "triangular_solve": (lambda x, y: paddle.linalg.triangular_solve(x, y), [SQUARE, ROWS]),
    "kthvalue": (lambda x: paddle.kthvalue(x, 2, 1), [ROWS]),
    "mode": (lambda x: paddle.mode(x, 1)[0], [ROWS]),
    "searchsorted": (lambda x, y: paddle.searchsorted(x, y), [ROWS[0], SQUARE[0]]),
    "diag_embed": (lambda x: paddle.diag_embed(x), [ROWS]),
    "diagonal": (lambda x: paddle.diagonal(x, 1), [SQUARE]),
    "logcumsumexp": (lambda x: paddle.logcumsumexp(x, 1), [SQUARE]),
    "bincount": (lambda x: paddle.bincount(x, minlength=7), [paddle.to_tensor([1, 4, 1])]),
    "broadcast_tensors": (lambda x, y: paddle.broadcast_tensors([x, y]), [ROWS, ROWS[0]]),
    "nms": (lambda x, s: paddle.vision.ops.nms(x, 0.3, s), [BOXES, paddle.to_tensor([0.1, 0.7, 0.4])]),
    "nms by category": (
        lambda x, s, c: paddle.vision.ops.nms(x, 0.3, s, c, [0, 2]),
        [BOXES, paddle.to_tensor([0.1, 0.7, 0.4]), paddle.to_tensor([0, 2, 1])],
    ),
    "cross_entropy": (
        lambda x, y: paddle.nn.functional.cross_entropy(x, y, reduction="none", ignore_index=1),
        [SQUARE, paddle.to_tensor([0, 1, 2])],
    ),
    "interpolate": (
        lambda x: paddle.nn.functional.interpolate(x, size=[x.shape[2] * 2, x.shape[3] + 1], mode="bilinear"),
        [paddle.arange(32, dtype="float32").reshape([1, 2, 4, 4])],
    ),
    "interpolate a line": (
        lambda x: paddle.nn.functional.interpolate(x, size=[7], mode="linear", data_format="NWC", align_corners=True),
        [paddle.arange(24, dtype="float32").reshape([2, 4, 3])],
    ),
    "interpolate a body": (
        lambda x: [paddle.nn.functional.interpolate(x, scale_factor=1.5, mode=m) for m in ("trilinear", "nearest")],
        [paddle.arange(64, dtype="float32").reshape([1, 2, 2, 4, 4])],
    ),
    "transposed convolutions": (
        lambda x, w: [
            F.conv1d_transpose(x, w, stride=2, output_padding=1, padding=1),
            F.conv1d_transpose(x, w, stride=2, output_size=[10]),
            F.conv1d_transpose(x.transpose([0, 2, 1]), w, data_format="NLC", dilation=2, groups=2),
        ],
        [IMAGE[0], paddle.arange(12, dtype="float32").reshape([4, 1, 3]) - 5],
    ),
    "a transposed convolution of bodies": (
        lambda x, w: F.conv3d_transpose(x, w, paddle.ones([2]), stride=2, output_padding=1, groups=2),
        [paddle.arange(16, dtype="float32").reshape([1, 2, 2, 2, 2]), paddle.ones([2, 1, 2, 1, 2])],
    ),
    "grid_sample": (
        lambda x, at: [
            F.grid_sample(x, at, padding_mode=pad, mode=mode, align_corners=corners)
            for pad in ("zeros", "border", "reflection")
            for mode in ("bilinear", "nearest")
            for corners in (True, False)
        ],
        [IMAGE, paddle.to_tensor([[[[-0.6, 0.1], [0.3, 1.4], [0.72, -1.3]]]])],
    ),
    "affine_grid": (lambda t: F.affine_grid(t, [1, 1, 2, 3]), [paddle.arange(6, dtype="float32").reshape([1, 2, 3])]),
    "deform_conv2d": (
        lambda x, at: paddle.vision.ops.deform_conv2d(x, at, paddle.ones([1, 1, 2, 2]), padding=1),
        [IMAGE[:, :1], paddle.arange(200, dtype="float32").reshape([1, 8, 5, 5]) * 0.01],
    ),
    "take": (lambda x, i: [paddle.take(x, i), paddle.take(x, i[:1, 0])], [ROWS, paddle.to_tensor([[0, 5], [2, 1]])]),
    "logsumexp": (lambda x: [paddle.logsumexp(x, 1), paddle.logsumexp(x)], [ROWS]),
    "spectra": (
        lambda x: [
            paddle.fft.irfft2(paddle.fft.rfft2(x)), paddle.as_real(paddle.fft.fft(paddle.as_complex(x), norm="ortho")),
            paddle.fft.hfft(paddle.fft.ihfft(x, norm="ortho")),
            paddle.abs(paddle.fft.ifft(x) * paddle.fft.rfft(x)[:, :1]),
            paddle.as_real(paddle.conj(paddle.as_complex(x))), paddle.angle(paddle.fft.rfft(x)[:, 1]),
        ],
        [paddle.to_tensor([[0.5, -1.0], [2.0, 0.25], [1.0, 3.0]])],
    ),
    "interpolate by cubes": (
        lambda x: paddle.nn.functional.interpolate(x, size=[6, 3], mode="bicubic"),
        [paddle.arange(32, dtype="float32").reshape([1, 2, 4, 4])],
    ),
    "regions": (
        lambda x, b, n: [V.roi_align(x, b, n, 3), V.roi_align(x, b, n, (2, 3), 0.5, 2, False), V.roi_pool(x, b, n, 2)],
        [IMAGE, BOXES, paddle.to_tensor([3], dtype="int32")],
    ),
    "regions by position": (
        lambda x, b, n: V.psroi_pool(x, b, n, 1), [IMAGE, BOXES, paddle.to_tensor([3], dtype="int32")],
    ),
    "boxes by anchors": (
        lambda p, t: [
            V.box_coder(p, p + 0.1, t), V.box_coder(p, [0.1, 0.1, 0.2, 0.2], t, box_normalized=False),
            V.box_coder(p, [0.1, 0.1, 0.2, 0.2], t.unsqueeze(0).expand([2, 3, 4]) * 0.1, "decode_center_size"),
        ],
        [BOXES, BOXES],
    ),
    "anchors": (
        lambda x, y: V.prior_box(x, y, [2.0], [4.0], [1.0, 2.0], flip=True, clip=True), [IMAGE, F.pad(IMAGE, [4] * 4)],
    ),
    "matrix_nms": (
        lambda b, s: [*V.matrix_nms(b, s, 0.05, 0.01, 10, 10, background_label=-1, return_index=True)],
        [BOXES.unsqueeze(0), paddle.to_tensor([[[0.2, 0.9, 0.5], [0.4, 0.1, 0.8]]])],
    ),
    "proposals": (
        lambda s, d: V.generate_proposals(
            s, d, paddle.to_tensor([[8.0, 8.0]]), BOXES.reshape([1, 1, 3, 4]) + 1.0, paddle.ones([1, 1, 3, 4]),
            return_rois_num=True,
        ),
        [paddle.to_tensor([0.3, 0.9, 0.6]).reshape([1, 3, 1, 1]), paddle.full([1, 12, 1, 1], 0.1)],
    ),
    "levels": (lambda b: [*V.distribute_fpn_proposals(b * 60, 2, 5, 4, 224)[0]], [BOXES]),
    "levels of images": (
        lambda b, n: [v for part in V.distribute_fpn_proposals(b * 60, 2, 3, 2, 100, rois_num=n) for v in (
            part if isinstance(part, list) else [part]
        )],
        [BOXES, paddle.to_tensor([1, 2], dtype="int32")],
    ),
    "maxima and their places": (
        lambda x, y: [
            *F.max_pool2d(x, 2, return_mask=True), *F.max_pool2d(x, 3, 2, 1, return_mask=True, ceil_mode=True),
            *F.max_pool1d(x[0], 2, return_mask=True), *F.max_pool3d(y, 2, 1, return_mask=True),
        ],
        [IMAGE, paddle.arange(54, dtype="float32").reshape([1, 2, 3, 3, 3])],
    ),
    "maxima put back": (
        lambda x, y: [
            F.max_unpool2d(*F.max_pool2d(x, 2, return_mask=True), 2),
            F.max_unpool1d(*F.max_pool1d(x[0], 2, return_mask=True), 2, output_size=[5]),
            F.max_unpool3d(*F.max_pool3d(y, 2, 2, return_mask=True), 2),
        ],
        [IMAGE, paddle.arange(64, dtype="float32").reshape([1, 1, 4, 4, 4])],
    ),
    "maxima of parts": (lambda x: [*F.fractional_max_pool2d(x, 3, random_u=0.3, return_mask=True)], [IMAGE]),
    "gather_tree": (
        F.gather_tree,
        [paddle.to_tensor([[[2, 5]], [[6, 1]], [[7, 9]]]), paddle.to_tensor([[[0, 1]], [[1, 0]], [[0, 1]]])],
    ),
    "histogram": (lambda x: [paddle.histogram(x, 4, 0, 4), paddle.histogram(x, 3, 0, 4, x, True)], [SQUARE]),
    "repetitions": (
        lambda x, n: [paddle.repeat_interleave(x, 2, 1), paddle.repeat_interleave(x, n, 0)],
        [SQUARE, paddle.to_tensor([1, 0, 2])],
    ),
    "unique": (
        lambda x, y: [
            *paddle.unique(x, True, True, True), paddle.unique(x), *paddle.unique_consecutive(x, True, True),
            *paddle.unique(y, return_counts=True, axis=0), paddle.unique_consecutive(y, axis=1),
        ],
        [paddle.to_tensor([3, 1, 1, 3, 3]), paddle.to_tensor([[1, 1, 2], [0, 0, 4], [1, 1, 2]])],
    ),
    "running extremes": (lambda x: [*paddle.cummax(x, 1), *paddle.cummin(x, 0, "int32")], [SQUARE]),
    "diagonals set": (lambda x, y: paddle.diagonal_scatter(x, y, 1), [SQUARE, paddle.to_tensor([7.0, 8.0])]),
    "masked_scatter": (
        lambda x, m, y: [paddle.masked_scatter(x, m, y), paddle.masked_scatter(x, x > 0.5, y)],
        [SQUARE, paddle.to_tensor([[True, False, True]]), paddle.arange(9, dtype="float32")],
    ),
    "ctc": (
        lambda x, y: F.ctc_loss(x, y, paddle.to_tensor([4, 3]), paddle.to_tensor([2, 1]), reduction="none"),
        [paddle.arange(24, dtype="float32").reshape([4, 2, 3]).cos(),
         paddle.to_tensor([[1, 2], [2, 2]], dtype="int32")],
    ),
    "lu and slogdet": (lambda x: [*paddle.linalg.lu(x), *paddle.linalg.slogdet(x)], [SQUARE]),
    "special functions": (
        lambda x: [
            paddle.i0(x), paddle.i0e(x), paddle.i1(x), paddle.i1e(x), paddle.gammainc(x, x + 1),
            paddle.gammaincc(x, x + 1), paddle.polygamma(x, 2), paddle.nextafter(x, x + 1),
        ],
        [SQUARE],
    ),
    "fold": (lambda x: F.fold(x, [3, 4], 2, 1, [1, 0, 0, 0]), [paddle.arange(72, dtype="float32").reshape([1, 8, 9])]),
    "frames": (
        lambda x: [
            paddle.signal.istft(paddle.signal.stft(x, 4, 2), 4, 2), paddle.signal.stft(x, 4, 2).abs(),
            paddle.signal.overlap_add(x.reshape([2, 4, 2]), 2),
        ],
        [paddle.arange(16, dtype="float32").reshape([2, 8]).cos()],
    ),
    "reflections": (
        lambda x, y: [
            F.pad(x[0], [1, 2], "reflect", data_format="NCL"),
            F.pad(y, [1, 0, 0, 1, 1, 1], "replicate", data_format="NCDHW"),
            F.pad(y[0], [1, 1, 0, 2], "circular"), F.pad(x[0], [1, 1], "replicate", data_format="NLC"),
        ],
        [IMAGE, paddle.arange(36, dtype="float32").reshape([1, 2, 3, 3, 2])],
    ),
    "random numbers": (
        lambda x: [
            paddle.rand([x.shape[0], 3]) * 0.0, paddle.uniform([2], min=3.0, max=3.0), paddle.randn([2]) * 0.0,
            paddle.normal(0.0, 1.0, [x.shape[0]]) * 0.0, paddle.randint(4, 5, [x.shape[0]]),
            paddle.randperm(5).sort(), paddle.multinomial(paddle.to_tensor([0.0, 1.0, 0.0]), 1),
            paddle.bernoulli(x * 0.0), paddle.poisson(x * 0.0), paddle.standard_gamma(x) * 0.0,
            paddle.binomial(paddle.full([2], 4.0), paddle.to_tensor([1.0, 0.0])),
            F.dropout(x, 0.5) * 0.0, F.dropout(x, 0.5, 0, mode="downscale_in_infer") * 0.0,
            F.gumbel_softmax(x).sum(-1),
        ],
        [SQUARE],
    ),
}  # fmt: skip


# Sizes that are needed, where not all can be left open.
NEEDED = {
    "spectra": [[3, 2]], "transposed convolutions": [[2, 4, 4], [4, 1, 3]],
    "a transposed convolution of bodies": [[1, 2, 2, 2, 2], [2, 1, 2, 1, 2]],
    "grid_sample": [[None, 2, None, None], [None, None, None, 2]],
    "regions by position": [[None, 2, None, None], [None, 4], [None]], "anchors": [[1, 2, 4, 4], [1, 2, 12, 12]],
    "boxes by anchors": [[3, 4], [3, 4]],
    "maxima of parts": [[None, None, 4, 4]], "fold": [[None, 8, 9]], "frames": [[2, 8]],
    "proposals": [[1, 3, 1, 1], [1, 12, 1, 1]], "reflections": [[None, 2, None, 4], [None, None, 3, 3, 2]],
}  # fmt: skip


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("kind", FORMATS)
def test_algorithms(kind, name, tmp_path):
    function, given = ALGORITHMS[name]
    for shapes in ([x.shape for x in given], NEEDED.get(name, [[None] * x.ndim for x in given])):
        specs = [SPEC(shape, x.dtype, f"a{i}") for i, (x, shape) in enumerate(zip(given, shapes))]
        round_trip(function, specs, given, tmp_path, kind, rtol=1e-4)


@pytest.mark.parametrize("kind", FORMATS)
def test_random_numbers_are_drawn_anew(kind, tmp_path):
    back = round_trip(lambda x: F.dropout(x, 0.5) * 0.0, [SPEC([None, 64])], [paddle.ones([1, 64])], tmp_path, kind)
    assert back is not None
    paddle.jit.save(lambda x: F.dropout(x, 0.5), tmp_path / "drawn", input_spec=[SPEC([None, 64])], format=kind)
    net = paddle.jit.load(str(tmp_path / "drawn") + FORMATS[kind])
    first, second = (net(paddle.ones([1, 64])).numpy() for _ in range(2))
    assert set(np.unique(first)) == {0.0, 2.0} and (first != second).any()


@pytest.mark.parametrize("kind", FORMATS)
def test_losses_without_infinite_ones_are_refused(kind, tmp_path):
    def loss(x, y):
        return F.ctc_loss(x, y, paddle.to_tensor([2]), paddle.to_tensor([1]), zero_infinity=True)

    with pytest.raises(UnsupportedError, match="losses without what is infinite"):
        paddle.jit.save(loss, tmp_path / "m", input_spec=[SPEC([2, 1, 3]), SPEC([1, 1], "int32")], format=kind)
