"""What PaddlePaddle 3.3.1 saved for tests/data/paddle_program/files_*.tar.xz: see make_files.py."""

import os

import numpy as np
import paddle
import paddle.nn.functional as F
import paddle.vision.ops as V
from paddle import nn

R = np.random.RandomState(0)


def f(*s):
    return R.randn(*s).astype("float32")


x34, x345, img, i34 = f(3, 4), f(3, 4, 5), f(2, 4, 6, 6), R.randint(0, 4, (3, 4))
pos = np.abs(x34) + 0.2
lab, sq = np.array([0, 3, 1]), f(3, 4, 4)
boxes = np.array([[0, 0, 4, 4], [1, 1, 5, 5], [2, 0, 6, 3]], "float32")

FUNCTIONS = {
    "maxout": (lambda x: F.maxout(x, 2), img),
    "rrelu": (lambda x: F.rrelu(x, training=False), x34),
    "huber": (lambda x, y: F.smooth_l1_loss(x, y), x34, pos),
    "kldiv": (lambda x, y: F.kl_div(F.log_softmax(x), F.softmax(y)), x34, pos),
    "kldiv_batch": (lambda x, y: F.kl_div(F.log_softmax(x), F.softmax(y), "batchmean"), x34, pos),
    "mean_all": (lambda x, y: F.mse_loss(x, y), x34, pos),
    "nll": (lambda x, y: F.nll_loss(F.log_softmax(x), y), x34, lab),
    "nll_w": (
        lambda x, y, w: F.nll_loss(F.log_softmax(x), y, w, 1, "sum"),
        x34,
        lab,
        np.arange(1, 5).astype("float32"),
    ),
    "nll4": (lambda x, y: F.nll_loss(F.log_softmax(x, 1), y), img, R.randint(0, 4, (2, 6, 6))),
    "bcelogits": (lambda x, y: F.binary_cross_entropy_with_logits(x, F.sigmoid(y)), x34, pos),
    "bcelogits_pw": (
        lambda x, y, w: F.binary_cross_entropy_with_logits(x, F.sigmoid(y), w, "none", w),
        x34,
        pos,
        pos[0],
    ),
    "bce": (lambda x, y: F.binary_cross_entropy(F.sigmoid(x), F.sigmoid(y)), x34, pos),
    "focal": (lambda x, y: F.sigmoid_focal_loss(x, F.sigmoid(y)), x34, pos),
    "ce_w": (lambda x, y, w: F.cross_entropy(x, y, w), x34, lab, np.arange(1, 5).astype("float32")),
    "ce_probs": (lambda x, y: F.cross_entropy(F.softmax(x), y, use_softmax=False), x34, lab),
    "ce_soft": (lambda x, y: F.cross_entropy(x, F.softmax(y), soft_label=True), x34, pos),
    "label_smooth": (lambda x: F.label_smooth(x), pos),
    "margin": (lambda x, y: F.margin_ranking_loss(x, y, paddle.sign(x)), x34, pos),
    "hinge": (lambda x: F.hinge_embedding_loss(x, paddle.sign(x)), x34),
    "cosemb": (lambda x, y: F.cosine_embedding_loss(x, y, paddle.ones([3], "int64")), x34, pos),
    "triplet": (lambda x, y: F.triplet_margin_loss(x, y, x * 2), x34, pos),
    "softmargin": (lambda x: F.soft_margin_loss(x, paddle.sign(x)), x34),
    "poisson": (lambda x, y: F.poisson_nll_loss(x, y), x34, pos),
    "gaussnll": (lambda x, y: F.gaussian_nll_loss(x, y, y), x34, pos),
    "dice": (lambda x, y: F.dice_loss(F.softmax(x), y.unsqueeze(-1)), x34, lab),
    "npair": (lambda x, y: F.npair_loss(x, x * 2, y), x34, lab),
    "square_err": (lambda x, y: F.square_error_cost(x, y), x34, pos),
    "multilabel": (lambda x: F.multi_label_soft_margin_loss(x, (x > 0).astype("float32")), x34),
    "ctc": (
        lambda x, y: F.ctc_loss(F.log_softmax(x), y, paddle.to_tensor([4, 4]), paddle.to_tensor([1, 2])),
        f(4, 2, 5),
        np.array([[1, 2, 3], [2, 2, 1]], "int32"),
    ),
    "fold": (lambda x: F.fold(x, [6, 6], 2, 2), f(2, 16, 9)),
    "lppool": (lambda x: F.lp_pool2d(x, 2, 2), img),
    "lppool1": (lambda x: F.lp_pool1d(x, 2, 2), f(2, 3, 6)),
    "unpool": (lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_mask=True), 2), img),
    "unpool1": (lambda x: F.max_unpool1d(*F.max_pool1d(x, 2, return_mask=True), 2), f(2, 3, 6)),
    "unpool3": (lambda x: F.max_unpool3d(*F.max_pool3d(x, 2, return_mask=True), 2), f(1, 2, 4, 4, 4)),
    "pool3dmask": (lambda x: F.max_pool3d(x, 2, return_mask=True), f(1, 2, 4, 4, 4)),
    "pool3d": (lambda x: F.max_pool3d(x, 2), f(1, 2, 4, 4, 4)),
    "apool3d": (lambda x: F.avg_pool3d(x, 2), f(1, 2, 4, 4, 4)),
    "aapool3d": (lambda x: F.adaptive_avg_pool3d(x, 2), f(1, 2, 4, 4, 4)),
    "ampool3d": (lambda x: F.adaptive_max_pool3d(x, 2), f(1, 2, 4, 4, 4)),
    "fracpool": (lambda x: F.fractional_max_pool2d(x, 3, random_u=0.3), img),
    "median": (lambda x: paddle.median(x, 1), x345),
    "nanmedian": (lambda x: paddle.nanmedian(x, 1), x345),
    "trace": (lambda x: paddle.trace(x), sq),
    "cummax": (lambda x: paddle.cummax(x, 1), x345),
    "cummin": (lambda x: paddle.cummin(x, 1), x345),
    "affine": (lambda x: F.affine_grid(x, [2, 3, 4, 4]), f(2, 2, 3)),
    "grid": (lambda x, g: F.grid_sample(x, g), img, f(2, 5, 5, 2)),
    "grid_n": (lambda x, g: F.grid_sample(x, g, "nearest", "border", False), img, f(2, 5, 5, 2)),
    "chshuffle": (lambda x: F.channel_shuffle(x, 2), img),
    "unshuffle": (lambda x: F.pixel_unshuffle(x, 2), img),
    "tshift": (lambda x: F.temporal_shift(x, 2, 0.25), img),
    "bilinear": (lambda x, y, w: F.bilinear(x, y, w), x34, pos, f(5, 4, 4)),
    "cross": (lambda x: paddle.cross(x, x * x, 1), f(3, 3)),
    "dist": (lambda x, y: paddle.dist(x, y), x34, pos),
    "dist1": (lambda x, y: paddle.dist(x, y, 1), x34, pos),
    "mpow": (lambda x: paddle.linalg.matrix_power(x, 3), sq),
    "slogdet": (lambda x: paddle.linalg.slogdet(x), sq),
    "mrank": (lambda x: paddle.linalg.matrix_rank(x), sq),
    "lstsq": (lambda x, y: paddle.linalg.lstsq(x, y)[0], f(5, 3), f(5, 2)),
    "pinv": (lambda x: paddle.linalg.pinv(x), sq),
    "eigvalsh": (lambda x: paddle.linalg.eigvalsh(x + x.transpose([0, 2, 1])), sq),
    "cholsolve": (
        lambda x: paddle.linalg.cholesky_solve(x[0], paddle.linalg.cholesky(x[0] @ x[0].T + 3 * paddle.eye(4))),
        sq,
    ),
    "mexp": (lambda x: paddle.linalg.matrix_exp(x), sq),
    "cov": (lambda x: paddle.linalg.cov(x), x34),
    "corr": (lambda x: paddle.linalg.corrcoef(x), x34),
    "cdist": (lambda x, y: paddle.cdist(x, y), x34, pos),
    "multidot": (lambda x, y: paddle.linalg.multi_dot([x, y.T, x]), x34, pos),
    "cond": (lambda x: paddle.linalg.cond(x), sq),
    "inverse": (lambda x: paddle.inverse(x), sq),
    "vecnorm": (lambda x: paddle.linalg.vector_norm(x, 3), x34),
    "matnorm": (lambda x: paddle.linalg.matrix_norm(x), x34),
    "norminf": (lambda x: paddle.norm(x, float("inf"), 1), x34),
    "shl": (lambda x: (x << paddle.to_tensor(1), x >> paddle.to_tensor(1)), i34),
    "equal_all": (lambda x: paddle.equal_all(x, x), i34),
    "angle": (lambda x: paddle.angle(x), x34),
    "heaviside": (lambda x, y: paddle.heaviside(x, y), x34, pos),
    "stanh": (lambda x: paddle.stanh(x), x34),
    "crop": (lambda x: paddle.crop(x, [2, 2, 2], [1, 1, 1]), x345),
    "diag": (lambda x: paddle.diag(x), x34[0]),
    "diag2": (lambda x: paddle.diag(x, 1), x34),
    "diagflat": (lambda x: paddle.diagflat(x), x34[0]),
    "histogram": (lambda x: paddle.histogram(x, 5, -2, 2), x34),
    "repeat": (lambda x: paddle.repeat_interleave(x, 2, 1), x34),
    "repeat_t": (lambda x, y: paddle.repeat_interleave(x, y, 0), x34, lab),
    "unique": (lambda x: paddle.unique(x), i34),
    "unique_all": (lambda x: paddle.unique(x, True, True, True), i34),
    "unique_ax": (lambda x: paddle.unique(x, axis=0), i34),
    "uniq_con": (lambda x: paddle.unique_consecutive(x), i34),
    "rfft": (lambda x: paddle.abs(paddle.fft.rfft(x)), x34),
    "fft": (lambda x: paddle.real(paddle.fft.ifft(paddle.fft.fft(x))), x34),
    "irfft": (lambda x: paddle.fft.irfft(paddle.fft.rfft(x)), x34),
    "stft": (lambda x: paddle.signal.stft(x, 4, 2).abs(), f(2, 16)),
    "frame": (lambda x: paddle.signal.frame(x, 4, 2), f(2, 16)),
    "overlap": (lambda x: paddle.signal.overlap_add(x, 2), f(4, 5)),
    "complex": (lambda x: paddle.as_real(paddle.complex(x, x) * 2), x34),
    "imag": (lambda x: paddle.imag(paddle.complex(x, x).conj()), x34),
    "gammainc": (lambda x: (paddle.gammainc(x, x), paddle.gammaincc(x, x), paddle.gammaln(x)), pos),
    "bessel": (lambda x: (paddle.i0(x), paddle.i0e(x), paddle.i1(x), paddle.i1e(x)), pos),
    "polygamma": (lambda x: paddle.polygamma(x, 2), pos),
    "nextafter": (lambda x, y: paddle.nextafter(x, y), x34, pos),
    "copysign": (lambda x, y: paddle.copysign(x, y), x34, -pos),
    "ldexp": (lambda x: paddle.ldexp(x, paddle.to_tensor([2])), x34),
    "logaddexp": (lambda x, y: paddle.logaddexp(x, y), x34, pos),
    "gcd": (lambda x: (paddle.gcd(x, x + 2), paddle.lcm(x + 1, x + 2)), i34),
    "sinc": (lambda x: paddle.sinc(x), x34),
    "rad": (lambda x: (paddle.deg2rad(x), paddle.rad2deg(x)), x34),
    "signbit": (lambda x: paddle.signbit(x), x34),
    "exp2": (lambda x: paddle.pow(paddle.full([1], 2.0), x), x34),
    "trapz": (lambda x: paddle.trapezoid(x), x34),
    "vander": (lambda x: paddle.vander(x), x34[0]),
    "logit": (lambda x: paddle.logit(x, 0.001), np.clip(pos, 0.1, 0.9)),
    "isreal": (lambda x: (paddle.isneginf(x), paddle.isposinf(x)), x34),
    "isclose": (lambda x, y: (paddle.isclose(x, y), paddle.allclose(x, y)), x34, pos),
    "multiplex": (lambda x, y, i: paddle.multiplex([x, y], i), x34, pos, np.array([[0], [1], [0]], "int32")),
    "renorm": (lambda x: paddle.renorm(x, 2.0, 0, 1.0), x34),
    "nan": (lambda x: (paddle.nansum(x, 1), paddle.nanmean(x, 1)), x34),
    "quantile": (lambda x: (paddle.quantile(x, [0.2, 0.7], 1), paddle.nanquantile(x, 0.4)), x34),
    "addn": (lambda x, y: paddle.add_n([x, y]), x34, pos),
    "fill_diag": (
        lambda x: paddle.diagonal_scatter(x, x[0, :3]),
        x34,
    ),
    "selscatter": (lambda x: paddle.select_scatter(x, x[0] * 2, 0, 1), x34),
    "slicescatter": (lambda x: paddle.slice_scatter(x, x[:, :2], [1], [1], [3], [1]), x34),
    "maskscatter": (lambda x, y: paddle.masked_scatter(x, x > 0, y), x34, pos),
    "index_fill": (lambda x: paddle.index_fill(x, paddle.to_tensor([0, 2]), 0, 5.0), x34),
    "index_sample": (lambda x, i: paddle.index_sample(x, i), x34, i34),
    "tril_idx": (lambda x: x[:3, :3] + paddle.tril_indices(3, 3, 0).astype("float32").sum(), x34),
    "seqmask": (lambda x: F.sequence_mask(x, 5), lab),
    "bucket": (lambda x: paddle.bucketize(x, paddle.to_tensor([0.0, 1.0])), x34),
    "unflat": (lambda x: paddle.unflatten(x, 1, [2, 2]), x34),
    "hsplit": (lambda x: paddle.hsplit(x, 2) + paddle.tensor_split(x, 3, 1), x34),
    "atleast": (lambda x: (paddle.atleast_3d(x), paddle.column_stack([x, x]), paddle.row_stack([x, x])), x34),
    "block_diag": (lambda x, y: paddle.block_diag([x, y]), x34, pos),
    "cartprod": (lambda x: paddle.cartesian_prod([x, x]), x34[0]),
    "combos": (lambda x: paddle.combinations(x), x34[0]),
    "reduce_as": (lambda x, y: paddle.reduce_as(x, y), x345, f(4, 5)),
    "take": (lambda x: paddle.take(x, paddle.to_tensor([0, 5])), x34),
    "gather_tree": (lambda x: F.gather_tree(x, x % 2), R.randint(0, 2, (3, 2, 2))),
    "viterbi": (lambda x, t: paddle.text.viterbi_decode(x, t, paddle.to_tensor([4, 4, 3])), x345, f(5, 5)),
    "edit": (lambda x: F.embedding(x, paddle.ones([4, 3])), i34),
    "softmax": (lambda x: F.softmax(x), x34),
    "lrn": (lambda x: F.local_response_norm(x, 3), img),
    "normalize": (lambda x: F.normalize(x), x34),
    "cossim": (lambda x, y: F.cosine_similarity(x, y), x34, pos),
    "pdist": (lambda x, y: F.pairwise_distance(x, y), x34, pos),
    "down": (lambda x: F.dropout(x, 0.3, training=False, mode="downscale_in_infer"), x34),
    "area": (lambda x: F.interpolate(x, [3, 3], mode="area"), img),
    "bicubic": (lambda x: F.interpolate(x, scale_factor=1.5, mode="bicubic"), img),
    "linear": (lambda x: F.interpolate(x, [9], mode="linear", data_format="NCW"), f(2, 3, 6)),
    "tri": (lambda x: F.interpolate(x, [3, 5, 6], mode="trilinear", data_format="NCDHW"), f(1, 2, 4, 4, 4)),
    "near3": (lambda x: F.interpolate(x, [3, 5, 6], mode="nearest", data_format="NCDHW"), f(1, 2, 4, 4, 4)),
    "nhwc": (lambda x: F.interpolate(x, [3, 5], mode="bilinear", data_format="NHWC"), img),
    "conv3dt": (lambda x, w: F.conv3d_transpose(x, w, stride=2), f(1, 2, 3, 3, 3), f(2, 3, 2, 2, 2)),
    "conv1dt": (lambda x, w: F.conv1d_transpose(x, w, stride=2), f(1, 2, 5), f(2, 3, 2)),
    "convnhwc": (lambda x, w: F.conv2d(x, w, data_format="NHWC", padding="SAME"), f(1, 6, 6, 4), f(3, 4, 3, 3)),
    "deform": (lambda x, o, w: V.deform_conv2d(x, o, w), img, f(2, 18, 4, 4) * 0.1, f(3, 4, 3, 3)),
    "gnnhwc": (lambda x: F.group_norm(x, 2, data_format="NHWC"), img[..., :4]),
    "bnstat": (lambda x, m, v: F.batch_norm(x, m, v), img, f(4), np.abs(f(4)) + 0.5),
    "roialign": (lambda x, b: V.roi_align(x, b, paddle.to_tensor([2, 1], "int32"), 3), img, boxes),
    "nms": (lambda b: V.nms(b, 0.3), boxes),
    "yolo": (
        lambda x, b, k: V.yolo_loss(x, b, k, [10, 13, 16, 30], [0, 1], 2, 0.7, 8),
        f(2, 14, 4, 4),
        np.abs(f(2, 3, 4)) % 1,
        R.randint(0, 2, (2, 3)).astype("int32"),
    ),
    "sdpa": (lambda x: F.scaled_dot_product_attention(x, x, x), f(2, 5, 2, 8)),
    "flash": (
        lambda x: F.flash_attention.flash_attention(x, x, x, causal=True)[0],
        f(2, 5, 2, 8),
    ),
    "rms": (lambda x: paddle.incubate.nn.functional.fused_rms_norm(x, paddle.ones([4]), None, 1e-06, 1)[0], x34),
    "swiglu": (lambda x: paddle.incubate.nn.functional.swiglu(x), x34),
    "fln": (
        lambda x: paddle.incubate.nn.functional.fused_layer_norm(
            x, paddle.ones([4]), paddle.zeros([4]), 1e-05, begin_norm_axis=1
        )[0],
        x34,
    ),
    "fdrop": (lambda x, y: paddle.incubate.nn.functional.fused_linear(x, y), x34, f(4, 3)),
    "segsum": (lambda x: paddle.geometric.segment_sum(x, paddle.to_tensor([0, 0, 1])), x34),
    "segmean": (lambda x: paddle.geometric.segment_mean(x, paddle.to_tensor([0, 0, 1])), x34),
    "sendu": (
        lambda x: paddle.geometric.send_u_recv(x, paddle.to_tensor([0, 1, 2]), paddle.to_tensor([1, 1, 0]), "mean"),
        x34,
    ),
    "sendue": (
        lambda x, y: paddle.geometric.send_ue_recv(x, y, paddle.to_tensor([0, 1, 2]), paddle.to_tensor([1, 1, 0])),
        x34,
        pos,
    ),
    "senduv": (
        lambda x, y: paddle.geometric.send_uv(x, y, paddle.to_tensor([0, 1, 2]), paddle.to_tensor([1, 1, 0])),
        x34,
        pos,
    ),
    "topp": (lambda x: paddle.topk(x, 2, 0, False), x34),
    "logspace": (lambda x: x + paddle.logspace(0, 1, 4), x34),
    "linspace": (lambda x: x + paddle.linspace(0, 1, 4), x34),
    "eye": (lambda x: x @ paddle.eye(4, 3), x34),
    "full": (lambda x: paddle.full(paddle.shape(x), 2.5), x34),
    "rank": (lambda x: (paddle.rank(x), paddle.is_empty(x)), x34),
    "clone": (lambda x: paddle.assign(x).detach(), x34),
    "einsum3": (lambda x, y: paddle.einsum("ij,kj->ik", x, y), x34, pos),
    "accuracy": (lambda x, y: paddle.metric.accuracy(F.softmax(x), y.unsqueeze(-1)), x34, lab),
    "hsig": (lambda x: F.hsigmoid_loss(x, paddle.to_tensor([0, 3, 1]), 5, paddle.ones([4, 4]), None), x34),
    "pnorm": (lambda x: F.normalize(x, 1, 0), x34),
    "zeropad": (lambda x: F.zeropad2d(x, [1, 2, 0, 1]), img),
    "pad1": (lambda x: F.pad(x, [1, 2], "replicate", data_format="NCL"), x345),
    "padc": (lambda x: F.pad(x, [1, 2, 1, 2], "circular"), img),
    "prodk": (lambda x: paddle.prod(x, [0, 1], True), x345),
    "ilog": (lambda x: paddle.logsumexp(x), x34),
}

OLD_EXECUTOR = os.environ.get("FLAGS_enable_pir_api") == "0"  # noqa: SIM112 - the name is PaddlePaddle's
if not OLD_EXECUTOR:  # which ends the process there
    FUNCTIONS["psroi"] = (
        lambda x, b: paddle.vision.ops.psroi_pool(x, b, paddle.full([1], 3, "int32"), 2),
        f(1, 8, 6, 6),
        boxes,
    )


LAYERS = {}


def case(specs, *arrays):
    def enter(layer):
        LAYERS[layer.__name__] = (layer, specs, arrays)
        return layer

    return enter


def f32(*shape):
    return paddle.static.InputSpec(list(shape), "float32")


def i64(*shape):
    return paddle.static.InputSpec(list(shape), "int64")


class L(nn.Layer):
    def __init__(self):
        super().__init__()
        self.build()

    def build(self):
        pass


@case([f32(None, 6)], f(3, 6))
class LSTMNet(L):
    def build(self):
        self.rnn = nn.LSTM(6, 8, num_layers=2)
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        y, (h, c) = self.rnn(x.unsqueeze(0))
        return self.fc(y), h, c


@case([f32(None, None, 6)], f(3, 5, 6))
class BiGRU(L):
    def build(self):
        self.rnn = nn.GRU(6, 8, direction="bidirect")

    def forward(self, x):
        y, h = self.rnn(x)
        return y, h


@case([f32(None, None, 6), i64(None)], f(3, 5, 6), np.array([5, 2, 3]))
class LSTMLen(L):
    def build(self):
        self.rnn = nn.LSTM(6, 8)

    def forward(self, x, n):
        y, (h, c) = self.rnn(x, sequence_length=n)
        return y, h, c


@case([f32(None, 5, 6)], f(3, 5, 6))
class SimpleRNN(L):
    def build(self):
        self.rnn = nn.SimpleRNN(6, 8, time_major=False)

    def forward(self, x):
        return self.rnn(x)


@case([f32(None, 5, 6)], f(3, 5, 6))
class CellRNN(L):
    def build(self):
        self.rnn = nn.RNN(nn.GRUCell(6, 8))

    def forward(self, x):
        return self.rnn(x)[0]


@case([f32(None, 8)], f(3, 8))
class NestedLoop(L):
    def forward(self, x):
        i = paddle.zeros([], "int64")
        t = paddle.zeros([])
        while i < 3:
            j = paddle.zeros([], "int64")
            while j < i + 1:
                if x.sum() > t:
                    t = t + x.max()
                else:
                    t = t - 0.5
                j += 1
            i += 1
        return t


@case([f32(None, 8)], f(3, 8))
class ListLoop(L):
    def forward(self, x):
        out = []
        for i in range(paddle.shape(x)[0]):
            out.append(x[i] * i)
        return paddle.stack(out)


@case([f32(None, 8)], f(3, 8))
class Normed(L):
    def build(self):
        self.norm = nn.BatchNorm1D(8)
        self.spectral = nn.SpectralNorm([8, 4], dim=0, power_iters=2)
        self.w = self.create_parameter([8, 4])

    def forward(self, x):
        return self.norm(x), F.dropout(x, 0.5, training=self.training), x @ self.spectral(self.w)


@case([f32(None, 8)], np.array([[1.0] * 8, [-1.0] * 8, [2.0] * 8], "float32"))
class ListOfFound(L):
    def forward(self, x):
        out = []
        for i in range(paddle.shape(x)[0]):
            if x[i].sum() > 0:
                out.append(x[i] * 2)
        return paddle.stack(out)


@case([f32(None, 2, None, None), f32(None, 2, None, None)], f(1, 2, 4, 5), f(1, 2, 7, 6))
class ResizeLike(L):
    def forward(self, x, y):
        return F.interpolate(x, size=y.shape[2:], mode="bilinear")


@case([f32(None, None)], f(3, 8))
class Shifted(L):
    def forward(self, x):
        return paddle.roll(x, paddle.shape(x)[1] // 2, 1), paddle.fft.fftshift(x)


@case([f32(None, 4)], x34)
class Drawn(L):
    """What random numbers are does not show in what this gives."""

    def forward(self, x):
        n = paddle.shape(x)[0]
        rows = paddle.randn([n, 4]) * 0 + x
        between = paddle.uniform([n, 4], min=2.0, max=2.0) + paddle.randint(0, 1, [n, 1]).astype("float32")
        order, none = paddle.randperm(5).sum(), paddle.poisson(x * 0)
        return rows, between, order, none, paddle.multinomial(paddle.to_tensor([0.0, 1.0, 0.0]), 1)


@case([f32(None, 4)], x34)
class DrawnFromDistributions(L):
    def forward(self, x):
        counts = paddle.binomial(paddle.to_tensor([5.0, 3.0]), paddle.to_tensor([1.0, 0.0]))
        return counts, paddle.standard_gamma(paddle.abs(x) + 1) * 0, x.clone().exponential_() * 0
