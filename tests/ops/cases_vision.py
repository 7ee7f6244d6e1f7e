"""Operations of detectors: deformable convolution, regions, suppression, anchors, YOLO."""

import math

import numpy as np

import vitrify as paddle
from vitrify.ops.multiclass_nms import multiclass_nms
from vitrify.testing import Case, away, floats
from vitrify.vision import ops as V


def at(plane, y, x):
    """The plane between its elements; zeros outside."""
    y0, x0 = math.floor(y), math.floor(x)
    total = 0.0
    for i, wy in ((y0, 1 - y + y0), (y0 + 1, y - y0)):
        for j, wx in ((x0, 1 - x + x0), (x0 + 1, x - x0)):
            if 0 <= i < plane.shape[0] and 0 <= j < plane.shape[1]:
                total += wy * wx * plane[i, j]
    return total


def deformed(x, offset, w, b=None, mask=None, stride=1, padding=0, dilation=1, parts=1, groups=1):
    """Every output element by itself."""
    (n, c, _, _), (o, inner, kh, kw), (oh, ow) = x.shape, w.shape, offset.shape[2:]
    out = np.zeros((n, o, oh, ow))
    for a, k, i, j in np.ndindex(n, o, oh, ow):
        for m, u, v in np.ndindex(inner, kh, kw):
            channel = k // (o // groups) * inner + m
            part = channel // (c // parts)
            tap = part * kh * kw + u * kw + v
            y = i * stride - padding + u * dilation + offset[a, 2 * tap, i, j]
            z = j * stride - padding + v * dilation + offset[a, 2 * tap + 1, i, j]
            out[a, k, i, j] += w[k, m, u, v] * at(x[a, channel], y, z) * (1 if mask is None else mask[a, tap, i, j])
    return out if b is None else out + b[:, None, None]


def owners(counts):
    return np.repeat(np.arange(len(counts)), counts)


def aligned(x, boxes, counts, size, scale=1.0, sampling=-1, halves=True):
    """The mean of points of every bin."""
    out = np.zeros((len(boxes), x.shape[1], *size))
    h, w = x.shape[2:]
    for r, (box, image) in enumerate(zip(boxes * scale - 0.5 * halves, owners(counts))):
        lengths = [box[3] - box[1], box[2] - box[0]]
        lengths = lengths if halves else np.maximum(lengths, 1)
        grid = [sampling if sampling > 0 else math.ceil(n / s) for n, s in zip(lengths, size)]
        for c, i, j, p, q in np.ndindex(x.shape[1], *size, *grid):
            y = box[1] + (i + (p + 0.5) / grid[0]) * lengths[0] / size[0]
            z = box[0] + (j + (q + 0.5) / grid[1]) * lengths[1] / size[1]
            if -1 <= y <= h and -1 <= z <= w:
                out[r, c, i, j] += at(x[image, c], np.clip(y, 0, h - 1), np.clip(z, 0, w - 1)) / math.prod(grid)
    return out


def bins(low, high, size, limit):
    step = (high - low) / size
    edges = [(math.floor(low + i * step), math.ceil(low + (i + 1) * step)) for i in range(size)]
    return [slice(max(a, 0), max(min(b, limit), 0)) for a, b in edges]


def pooled(x, boxes, counts, size):
    """The maximum of every bin of boxes with integer corners."""
    out = np.zeros((len(boxes), x.shape[1], *size))
    for r, (box, image) in enumerate(zip(boxes, owners(counts))):
        rows = bins(box[1], box[3] + 1, size[0], x.shape[2])
        columns = bins(box[0], box[2] + 1, size[1], x.shape[3])
        for c, i, j in np.ndindex(x.shape[1], *size):
            out[r, c, i, j] = x[image, c, rows[i], columns[j]].max(initial=-math.inf)
    return np.where(np.isinf(out), 0, out)


def sensitive(x, boxes, counts, size):
    """The mean of every bin in its own channel, for boxes with integer corners."""
    p, q = size
    out = np.zeros((len(boxes), x.shape[1] // (p * q), p, q))
    for r, (box, image) in enumerate(zip(boxes, owners(counts))):
        rows, columns = bins(box[1], box[3] + 1, p, x.shape[2]), bins(box[0], box[2] + 1, q, x.shape[3])
        for c, i, j in np.ndindex(*out.shape[1:]):
            part = x[image, (c * p + i) * q + j, rows[i], columns[j]]
            out[r, c, i, j] = part.mean() if part.size else 0
    return out


def iou(a, b):
    low, high = np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])
    both = np.maximum(high - low, 0).prod()
    return both / ((a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - both)


def suppressed(boxes, threshold, scores=None, groups=None, allowed=None, top=None):
    """One box after the other."""
    order = np.arange(len(boxes)) if scores is None else np.argsort(-scores)
    kept = []
    for i in order:
        if allowed is not None and groups[i] not in allowed:
            continue
        rivals = [k for k in kept if groups is None or groups[k] == groups[i]]
        if all(iou(boxes[k], boxes[i]) <= threshold for k in rivals):
            kept.append(i)
    return np.array(kept[:top])


def corners(n, size=8.0, seed=0):
    low = floats(n, 2, low=-1, high=size, seed=seed)
    return np.concatenate([low, low + floats(n, 2, low=0.5, high=size, seed=seed + 1)], axis=1)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def decoded(x, size, anchors, classes, cell):
    """YOLO's boxes one by one."""
    n, (h, w) = len(x), x.shape[2:]
    boxes, scores = np.zeros((n, len(anchors) // 2, h, w, 4)), np.zeros((n, len(anchors) // 2, h, w, classes))
    for b, a, i, j in np.ndindex(*boxes.shape[:4]):
        v = x[b, a * (5 + classes) : (a + 1) * (5 + classes), i, j]
        if sigmoid(v[4]) < 0.4:
            continue
        cx, cy = (j + sigmoid(v[0])) / w * size[b, 1], (i + sigmoid(v[1])) / h * size[b, 0]
        bw, bh = (np.exp(v[2 + k]) * anchors[2 * a + k] / (cell * s) for k, s in enumerate((w, h)))
        bw, bh = bw * size[b, 1] / 2, bh * size[b, 0] / 2
        low, high = np.maximum([cx - bw, cy - bh], 0), np.minimum([cx + bw, cy + bh], size[b, ::-1] - 1)
        boxes[b, a, i, j] = [*low, *high]
        scores[b, a, i, j] = sigmoid(v[4]) * sigmoid(v[5:])
    return boxes.reshape(n, -1, 4), scores.reshape(n, -1, classes)


def surprise(logit, target):
    return np.maximum(logit, 0) - logit * target + np.log1p(np.exp(-abs(logit)))


def objective(x, truth, label, weight, anchors, mask, classes, ignore, cell):
    """YOLO's loss, one true box after the other."""
    n, (h, w) = len(x), x.shape[2:]
    v = x.reshape(n, len(mask), 5 + classes, h, w)
    smooth, out = min(1 / classes, 1 / 40), np.zeros(n)
    for b in range(n):
        wanted = np.zeros((len(mask), h, w))
        for m, i, j in np.ndindex(*wanted.shape):
            p = v[b, m, :, i, j]
            centre = np.array([(j + sigmoid(p[0])) / w, (i + sigmoid(p[1])) / h])
            half = np.exp(p[2:4]) * anchors[2 * mask[m] : 2 * mask[m] + 2] / (cell * h) / 2
            mine = np.concatenate([centre - half, centre + half])
            others = [np.concatenate([t[:2] - t[2:] / 2, t[:2] + t[2:] / 2]) for t in truth[b] if t[2:].min() > 0]
            wanted[m, i, j] = -1 if max(iou(mine, o) for o in others) > ignore else 0
        for t, kind, s in zip(truth[b], label[b], weight[b]):
            if t[2:].min() <= 0:
                continue
            shapes = [np.array(anchors[2 * a : 2 * a + 2]) / (cell * h) for a in range(len(anchors) // 2)]
            best = int(np.argmax([iou(np.array([0, 0, *t[2:]]), np.array([0, 0, *a])) for a in shapes]))
            if best not in mask:
                continue
            m, j, i = mask.index(best), int(t[0] * w), int(t[1] * h)
            p, wanted[m, i, j] = v[b, m, :, i, j], s
            place = surprise(p[0], t[0] * w - j) + surprise(p[1], t[1] * h - i)
            size = abs(p[2:4] - np.log(t[2:] / shapes[best])).sum()
            out[b] += (place + size) * (2 - t[2] * t[3]) * s
            out[b] += surprise(p[5:], np.where(np.arange(classes) == kind, 1 - smooth, smooth)).sum() * s
        blamed = np.where(wanted > 0, wanted, wanted == 0)
        out[b] += (surprise(v[b, :, 4], wanted > 0) * blamed).sum()
    return out


def anchors_of(h, w, image, size, ratio):
    step_y, step_x = image[0] / h, image[1] / w
    out = np.zeros((h, w, 2, 4))
    for i, j, k in np.ndindex(h, w, 2):
        half = np.array([size * math.sqrt(ratio) ** k, size / math.sqrt(ratio) ** k]) / 2
        centre = np.array([(j + 0.5) * step_x, (i + 0.5) * step_y])
        out[i, j, k] = np.concatenate([centre - half, centre + half]) / [*image[::-1], *image[::-1]]
    return out


def encoded(prior, target):
    pc, pl, tc, tl = (
        f(v) for v in (prior, target) for f in (lambda b: (b[:, :2] + b[:, 2:]) / 2, lambda b: b[:, 2:] - b[:, :2])
    )
    return np.concatenate([(tc[:, None] - pc) / pl, np.log(tl[:, None] / pl)], axis=-1) / [0.1, 0.1, 0.2, 0.2]


def kept_of_classes(boxes, scores, low, keep, threshold):
    """multiclass_nms of a batch, class by class."""
    outs, places, counts = [], [], []
    for n, (image, classes) in enumerate(zip(boxes, scores)):
        found = []
        for label, values in enumerate(classes):
            able = np.flatnonzero(values > low)
            stay = able[suppressed(image[able], threshold, values[able])]
            found += [(label, values[i], i) for i in stay]
        best = sorted(sorted(found, key=lambda item: -item[1])[:keep], key=lambda item: (item[0], -item[1]))
        outs += [[label, score, *image[i]] for label, score, i in best]
        places += [[n * len(image) + i] for _, _, i in best]
        counts.append(len(best))
    return np.array(outs), np.array(places, "int32"), np.array(counts, "int32")


def like(values, x):
    """A constant in x's dtype."""
    return paddle.assign(values).astype(x.dtype)


PLANE = floats(2, 4, 5, 6)
OFFSET = away(floats(2, 8, 5, 6, low=-1.9, high=1.9), -1, 0, 1)
OFFSETS = away(floats(2, 16, 2, 2, low=-1.9, high=1.9), -1, 0, 1)
MASK = floats(2, 8, 2, 2, low=0, high=1, seed=4)
BOXES, COUNTS = corners(5), np.array([2, 3])
WHOLE = np.round(BOXES)
SCORES = floats(12, low=0, high=1)
MANY, GROUPS = corners(12, 6.0), np.arange(12) % 3
ANCHORS = [10, 13, 16, 30, 33, 23]
TRUTH = np.array([[[0.3, 0.4, 0.2, 0.3], [0.8, 0.7, 0.1, 0.12]], [[0.55, 0.1, 0.4, 0.3], [0.0, 0.0, 0.0, 0.0]]])
LABELS, WEIGHTS = np.array([[0, 2], [1, 0]], "int32"), np.array([[1.0, 0.5], [0.7, 1.0]])
FPN = np.array([[0.0, 0, 224, 224], [0, 0, 30, 40], [5, 5, 480, 500], [0, 0, 115, 113], [9, 9, 2, 2]])
RPN_ANCHORS = corners(12, 20.0).reshape(2, 3, 2, 4)

CASES = [
    Case(
        "deform_conv2d",
        lambda x, d, w, b: V.deform_conv2d(x, d, w, b, padding=1, dilation=2),
        (PLANE[:, :2, :4, :4], away(floats(2, 18, 2, 2, low=-1.9, high=1.9), -1, 0, 1), floats(3, 2, 3, 3), floats(3)),
        ref=lambda x, d, w, b: deformed(x, d, w, b, padding=1, dilation=2),
        second=True,
        dynamic=False,
        dtypes=("float32",),
    ),
    Case(
        "deform_conv2d with mask and groups",
        lambda x, d, m, w: V.deform_conv2d(x, d, w, stride=2, deformable_groups=2, groups=2, mask=m, padding=[0, 0]),
        (PLANE[:, :, :4, :4], OFFSETS, MASK, floats(4, 2, 2, 2)),
        ref=lambda x, d, m, w: deformed(x, d, w, mask=m, stride=2, parts=2, groups=2),
        dynamic=False,
        dtypes=("float32",),
    ),
    Case(
        "deform_conv2d of unknown sizes",
        lambda x, d: V.deform_conv2d(x, d, paddle.ones([2, 4, 2, 2], x.dtype), padding=0),
        (PLANE, OFFSET[:, :8, :4, :5]),
        ref=lambda x, d: deformed(x, d, np.ones((2, 4, 2, 2))),
        dtypes=("float32",),
    ),
    Case(
        "roi_align",
        lambda x, b, n: V.roi_align(x, b, n, (2, 3)),
        (PLANE, BOXES, COUNTS),
        ref=lambda x, b, n: aligned(x, b, n, (2, 3)),
        grad=False,
        dtypes=("float32",),
    ),
    Case(
        "roi_align of fixed points",
        lambda x: V.roi_align(x, like(BOXES, x), paddle.assign(COUNTS), (2, 3), 0.5, 2, aligned=False),
        (PLANE,),
        ref=lambda x: aligned(x, BOXES, COUNTS, (2, 3), 0.5, 2, False),
        second=True,
        dtypes=("float32",),
    ),
    Case(
        "roi_pool",
        lambda x: V.roi_pool(x, like(WHOLE, x), paddle.assign(COUNTS), 2),
        (PLANE,),
        ref=lambda x: pooled(x, WHOLE, COUNTS, (2, 2)),
        second=True,
    ),
    Case(
        "psroi_pool",
        lambda x: V.psroi_pool(x, like(WHOLE, x), paddle.assign(COUNTS), (2, 1)),
        (PLANE,),
        ref=lambda x: sensitive(x, WHOLE, COUNTS, (2, 1)),
        second=True,
    ),
    Case("nms", lambda b: V.nms(b, 0.3), (MANY,), ref=lambda b: suppressed(b, 0.3), dtypes=("float32",), grad=False),
    Case(
        "nms by scores",
        lambda b, s: V.nms(b, 0.2, s),
        (MANY, SCORES),
        ref=lambda b, s: suppressed(b, 0.2, s),
        dtypes=("float32",),
        grad=False,
    ),
    Case(
        "nms within categories",
        lambda b, s, c: V.nms(b, 0.2, s, c, [0, 2], 4),
        (MANY, SCORES, GROUPS),
        ref=lambda b, s, c: suppressed(b, 0.2, s, c, [0, 2], 4),
        dtypes=("float32",),
        grad=False,
    ),
    Case("nms of many", lambda b: V.nms(b, 0.3), (corners(1200, 60.0),), ref=lambda b: suppressed(b, 0.3), dtypes=(), grad=False),
    Case("nms of nothing", V.nms, (np.zeros((0, 4)),), ref=lambda b: np.zeros(0), grad=False),
    Case(
        "distribute_fpn_proposals",
        lambda b, n: V.distribute_fpn_proposals(b, 2, 5, 4, 224, rois_num=n),
        (FPN, np.array([2, 3], "int32")),
        ref=lambda b, n: (
            b[[1, 4]], b[[3]], b[[0]], b[[2]], np.array([[3], [0], [4], [2], [1]]),
            *(np.array(c) for c in ([1, 1], [0, 1], [1, 0], [0, 1])),
        ),
        dtypes=("float32",),
        grad=False,
    ),
    Case(
        "generate_proposals",
        lambda s, d, z: V.generate_proposals(
            s, d, z, like(RPN_ANCHORS, s), like(np.ones_like(RPN_ANCHORS), s), 10, 4, 0.4, return_rois_num=True
        ),
        (floats(2, 2, 2, 3, low=0, high=1), floats(2, 8, 2, 3, low=-0.3, high=0.3), np.array([[20.0, 24], [15, 15]])),
        dtypes=("float32",),
        grad=False,
    ),
    Case(
        "matrix_nms",
        lambda b, s: V.matrix_nms(b, s, 0.1, 0.05, -1, 8, background_label=-1, return_index=True),
        (np.stack([MANY, MANY + 1]), floats(2, 2, 12, low=0, high=1)),
        dtypes=("float32",),
        grad=False,
    ),
    Case(
        "multiclass_nms, of a batch",
        lambda b, s: multiclass_nms(b, s, None, 0.1, 10, 8, 0.4),
        (np.stack([MANY, MANY + 1]), floats(2, 2, 12, low=0, high=1)),
        ref=lambda b, s: kept_of_classes(b, s, low=0.1, keep=8, threshold=0.4),
        dtypes=("float32",),
        grad=False,
    ),
    Case(
        "multiclass_nms, of regions",
        lambda b, s: multiclass_nms(b, s, like(np.array([5, 7]), s).astype("int32"), 0.1, -1, -1, 0.4, False, 0.9, 0),
        (np.stack([MANY, MANY + 1], 1), floats(12, 2, low=0, high=1)),
        dtypes=("float32",),
        grad=False,
    ),
    Case(
        "prior_box",
        lambda x, i: V.prior_box(x, i, 4.0, aspect_ratios=[2.0], variance=[0.1, 0.1, 0.2, 0.2])[0],
        (np.zeros((1, 2, 2, 3)), np.zeros((1, 3, 20, 36))),
        ref=lambda x, i: anchors_of(2, 3, (20, 36), 4.0, 2.0),
        dtypes=("float32",),
        grad=False,
    ),
    Case(
        "box_coder, encode",
        lambda p, t: V.box_coder(p, [0.1, 0.1, 0.2, 0.2], t),
        (corners(3), corners(4, seed=5)),
        ref=encoded,
        dtypes=("float32",),
        grad=False,
    ),
    Case(
        "box_coder, decode",
        lambda p, t: V.box_coder(p, [0.1, 0.1, 0.2, 0.2], V.box_coder(p, [0.1, 0.1, 0.2, 0.2], t), "decode_center_size"),
        (corners(3), corners(4, seed=5)),
        ref=lambda p, t: np.repeat(t[:, None], 3, 1),
        dtypes=("float32",),
        grad=False,
    ),
    Case(
        "yolo_box",
        lambda x, s: V.yolo_box(x, s, ANCHORS, 3, 0.4, 16),
        (floats(2, 24, 3, 2), np.array([[40, 50], [60, 30]], "int32")),
        ref=lambda x, s: decoded(x, s, ANCHORS, 3, 16),
        dtypes=("float32",),
        grad=False,
    ),
    Case(
        "yolo_loss",
        lambda x: V.yolo_loss(x, like(TRUTH, x), paddle.assign(LABELS), ANCHORS, [0, 2], 3, 0.5, 32, like(WEIGHTS, x)),
        (floats(2, 16, 4, 4),),
        ref=lambda x: objective(x, TRUTH, LABELS, WEIGHTS, ANCHORS, [0, 2], 3, 0.5, 32),
        dtypes=("float32",),
    ),
]  # fmt: skip
