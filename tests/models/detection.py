"""Detection in the style of PaddleDetection: registry, FPN, anchors, assignment, box decoding, NMS; and YOLO."""

import math

import numpy as np

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Call, Case, normal
from vitrify import ParamAttr, nn
from vitrify.nn.initializer import Constant, Normal, XavierUniform
from vitrify.vision.ops import nms

global_config = {}


def register(cls):
    global_config[cls.__name__] = cls
    return cls


def create(cfg, **kwargs):
    cfg = dict(cfg)
    return global_config[cfg.pop("name")](**{**cfg, **kwargs})


class ShapeSpec(dict):
    @property
    def channels(self):
        return self["channels"]

    @property
    def stride(self):
        return self.get("stride")


def bbox_area(boxes):
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def bbox_overlaps(boxes1, boxes2):
    area1, area2 = bbox_area(boxes1), bbox_area(boxes2)
    xy_max = paddle.minimum(paddle.unsqueeze(boxes1, 1)[:, :, 2:], boxes2[:, 2:])
    xy_min = paddle.maximum(paddle.unsqueeze(boxes1, 1)[:, :, :2], boxes2[:, :2])
    width_height = (xy_max - xy_min).clip(min=0)
    inter = width_height.prod(axis=2)
    union = paddle.unsqueeze(area1, 1) + area2 - inter
    return paddle.where(inter > 0, inter / union, paddle.zeros_like(inter))


def bbox2delta(src_boxes, tgt_boxes, weights=(1.0, 1.0, 1.0, 1.0)):
    src_w, src_h = src_boxes[:, 2] - src_boxes[:, 0], src_boxes[:, 3] - src_boxes[:, 1]
    src_ctr_x, src_ctr_y = src_boxes[:, 0] + 0.5 * src_w, src_boxes[:, 1] + 0.5 * src_h
    tgt_w, tgt_h = tgt_boxes[:, 2] - tgt_boxes[:, 0], tgt_boxes[:, 3] - tgt_boxes[:, 1]
    tgt_ctr_x, tgt_ctr_y = tgt_boxes[:, 0] + 0.5 * tgt_w, tgt_boxes[:, 1] + 0.5 * tgt_h
    wx, wy, ww, wh = weights
    dx, dy = wx * (tgt_ctr_x - src_ctr_x) / src_w, wy * (tgt_ctr_y - src_ctr_y) / src_h
    dw, dh = ww * paddle.log(tgt_w / src_w), wh * paddle.log(tgt_h / src_h)
    return paddle.stack((dx, dy, dw, dh), axis=1)


def delta2bbox(deltas, boxes, weights=(1.0, 1.0, 1.0, 1.0)):
    clip_scale = math.log(1000.0 / 16)
    widths, heights = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    ctr_x, ctr_y = boxes[:, 0] + 0.5 * widths, boxes[:, 1] + 0.5 * heights
    wx, wy, ww, wh = weights
    dx, dy = deltas[:, 0::4] / wx, deltas[:, 1::4] / wy
    dw = paddle.clip(deltas[:, 2::4] / ww, max=clip_scale)
    dh = paddle.clip(deltas[:, 3::4] / wh, max=clip_scale)
    pred_ctr_x = dx * widths.unsqueeze(1) + ctr_x.unsqueeze(1)
    pred_ctr_y = dy * heights.unsqueeze(1) + ctr_y.unsqueeze(1)
    pred_w, pred_h = paddle.exp(dw) * widths.unsqueeze(1), paddle.exp(dh) * heights.unsqueeze(1)
    pred_boxes = [
        pred_ctr_x - 0.5 * pred_w, pred_ctr_y - 0.5 * pred_h, pred_ctr_x + 0.5 * pred_w, pred_ctr_y + 0.5 * pred_h,
    ]  # fmt: skip
    return paddle.stack(pred_boxes, axis=-1)


@register
class TinyNet(nn.Layer):
    def __init__(self, width=4, return_idx=(1, 2)):
        super().__init__()
        self.return_idx = return_idx
        self.res_layers = []
        in_c = 3
        for i in range(3):
            layer = nn.Sequential(
                nn.Conv2D(in_c, width * 2**i, 3, stride=2, padding=1), nn.BatchNorm2D(width * 2**i), nn.Silu()
            )
            self.res_layers.append(self.add_sublayer(f"res{i}", layer))
            in_c = width * 2**i
        self._out_channels_list = [width * 2**i for i in return_idx]

    @property
    def out_shape(self):
        return [ShapeSpec(channels=c, stride=2 ** (i + 1)) for c, i in zip(self._out_channels_list, self.return_idx)]

    def forward(self, inputs):
        x = inputs["image"]
        outs = []
        for idx, stage in enumerate(self.res_layers):
            x = stage(x)
            if idx in self.return_idx:
                outs.append(x)
        return outs


@register
class FPN(nn.Layer):
    def __init__(self, in_channels, out_channel=8, has_extra_convs=True):
        super().__init__()
        self.lateral_convs, self.fpn_convs = [], []
        for i, c in enumerate(in_channels):
            name = f"fpn_inner_{i}_lateral"
            lateral = self.add_sublayer(
                name, nn.Conv2D(c, out_channel, 1, weight_attr=ParamAttr(initializer=XavierUniform(fan_out=c)))
            )
            self.lateral_convs.append(lateral)
            self.fpn_convs.append(self.add_sublayer(f"fpn_{i}", nn.Conv2D(out_channel, out_channel, 3, padding=1)))
        if has_extra_convs:
            self.extra = nn.Conv2D(out_channel, out_channel, 3, stride=2, padding=1)
        self.has_extra_convs = has_extra_convs

    def forward(self, body_feats):
        laterals = []
        num_levels = len(body_feats)
        for i in range(num_levels):
            laterals.append(self.lateral_convs[i](body_feats[i]))
        for i in range(1, num_levels):
            lvl = num_levels - i
            upsample = F.interpolate(laterals[lvl], scale_factor=2.0, mode="nearest")
            laterals[lvl - 1] += upsample
        fpn_output = []
        for lvl in range(num_levels):
            fpn_output.append(self.fpn_convs[lvl](laterals[lvl]))
        if self.has_extra_convs:
            fpn_output.append(self.extra(F.relu(fpn_output[-1])))
        return fpn_output


class AnchorGenerator(nn.Layer):
    def __init__(self, anchor_sizes=((8,), (16,), (32,)), aspect_ratios=(0.5, 1.0), strides=(4, 8, 16), offset=0.5):
        super().__init__()
        self.strides, self.offset = strides, offset
        self.cell_anchors = [
            paddle.to_tensor(self.generate_cell_anchors(s, aspect_ratios), dtype="float32") for s in anchor_sizes
        ]
        self.num_anchors = len(aspect_ratios)

    def generate_cell_anchors(self, sizes, aspect_ratios):
        anchors = []
        for size in sizes:
            area = size**2.0
            for aspect_ratio in aspect_ratios:
                w = math.sqrt(area / aspect_ratio)
                h = aspect_ratio * w
                anchors.append([-w / 2.0, -h / 2.0, w / 2.0, h / 2.0])
        return anchors

    def _create_grid_offsets(self, size, stride, offset):
        grid_height, grid_width = size[0], size[1]
        shifts_x = paddle.arange(0, grid_width, dtype="float32") * stride + offset * stride
        shifts_y = paddle.arange(0, grid_height, dtype="float32") * stride + offset * stride
        shift_y, shift_x = paddle.meshgrid(shifts_y, shifts_x)
        return paddle.reshape(shift_x, [-1]), paddle.reshape(shift_y, [-1])

    def forward(self, input):
        anchors = []
        for feat, stride, base_anchors in zip(input, self.strides, self.cell_anchors):
            shift_x, shift_y = self._create_grid_offsets(paddle.shape(feat)[-2:], stride, self.offset)
            shifts = paddle.stack((shift_x, shift_y, shift_x, shift_y), axis=1).reshape([-1, 1, 4])
            anchors.append((shifts + base_anchors.reshape([1, -1, 4])).reshape([-1, 4]))
        return anchors


class MaxIoUAssigner:
    """-1: ignored, 0: background, else one more than the index of the ground truth."""

    def __init__(self, positive_overlap=0.5, negative_overlap=0.4, allow_low_quality=True):
        self.positive_overlap = positive_overlap
        self.negative_overlap = negative_overlap
        self.allow_low_quality = allow_low_quality

    def __call__(self, anchors, gt_boxes):
        return self.assign(anchors, gt_boxes)

    @paddle.no_grad()
    def assign(self, anchors, gt_boxes):
        iou = bbox_overlaps(gt_boxes, anchors)
        matched_vals, matches = paddle.topk(iou, k=1, axis=0)
        match_labels = paddle.full(matches.shape, -1, dtype="int32")
        match_labels = paddle.where(matched_vals < self.negative_overlap, paddle.zeros_like(match_labels), match_labels)
        match_labels = paddle.where(matched_vals >= self.positive_overlap, paddle.ones_like(match_labels), match_labels)
        if self.allow_low_quality:
            highest_quality_foreach_gt = iou.max(axis=1, keepdim=True)
            pred_inds_with_highest_quality = (
                paddle.logical_and(iou > 0, iou == highest_quality_foreach_gt).cast("int32").sum(0, keepdim=True)
            )
            match_labels = paddle.where(
                pred_inds_with_highest_quality > 0, paddle.ones_like(match_labels), match_labels
            )
        return matches.flatten(), match_labels.flatten()


@register
class RetinaHead(nn.Layer):
    def __init__(self, in_channel, num_classes=3, prior_prob=0.1, nms_thresh=0.5, score_thresh=0.12, top_k=20):
        super().__init__()
        self.num_classes = num_classes
        self.nms_thresh, self.score_thresh, self.top_k = nms_thresh, score_thresh, top_k
        self.anchor_generator = AnchorGenerator()
        self.assigner = MaxIoUAssigner()
        num_anchors = self.anchor_generator.num_anchors
        self.tower = nn.Sequential(
            nn.Conv2D(in_channel, in_channel, 3, padding=1), nn.GroupNorm(2, in_channel), nn.ReLU()
        )
        bias_init = -math.log((1 - prior_prob) / prior_prob)
        self.retina_cls = nn.Conv2D(
            in_channel, num_anchors * num_classes, 3, padding=1,
            weight_attr=ParamAttr(initializer=Normal(mean=0.0, std=0.1)),
            bias_attr=ParamAttr(initializer=Constant(value=bias_init)),
        )  # fmt: skip
        self.retina_reg = nn.Conv2D(in_channel, num_anchors * 4, 3, padding=1)

    def forward(self, neck_feats):
        cls_logits_list, bboxes_reg_list = [], []
        for neck_feat in neck_feats:
            feat = self.tower(neck_feat)
            cls_logits_list.append(self._flat(self.retina_cls(feat), self.num_classes))
            bboxes_reg_list.append(self._flat(self.retina_reg(feat), 4))
        return paddle.concat(cls_logits_list, axis=1), paddle.concat(bboxes_reg_list, axis=1)

    @staticmethod
    def _flat(x, last):
        return paddle.transpose(x, [0, 2, 3, 1]).reshape([0, -1, last])

    def get_loss(self, head_outputs, anchors, gt_boxes, gt_class):
        cls_logits, bboxes_reg = head_outputs
        cls_losses, reg_losses, num_pos = [], [], 0
        for logits, deltas, boxes, classes in zip(cls_logits, bboxes_reg, gt_boxes, gt_class):
            matches, labels = self.assigner(anchors, boxes)
            pos = paddle.nonzero(labels == 1).flatten()
            used = paddle.nonzero(labels >= 0).flatten()
            target = paddle.where(labels == 1, classes.gather(matches), paddle.full_like(matches, self.num_classes))
            one_hot = F.one_hot(target.gather(used), self.num_classes + 1)[:, :-1]
            cls_losses.append(F.sigmoid_focal_loss(logits.gather(used), one_hot, reduction="sum"))
            if len(pos) > 0:
                picked = anchors.gather(pos)
                reg_targets = bbox2delta(picked, boxes.gather(matches.gather(pos)))
                reg_losses.append(F.smooth_l1_loss(deltas.gather(pos), reg_targets, reduction="sum", delta=0.1))
            else:
                reg_losses.append(deltas.sum() * 0)
            num_pos += pos.shape[0]
        scale = paddle.clip(paddle.to_tensor(num_pos, dtype="float32"), min=1.0)
        return {"loss_cls": sum(cls_losses) / scale, "loss_reg": sum(reg_losses) / scale}

    def post_process(self, head_outputs, anchors, im_size):
        cls_logits, bboxes_reg = head_outputs
        bbox_pred, bbox_num = [], []
        for logits, deltas in zip(cls_logits, bboxes_reg):
            scores = F.sigmoid(logits)
            best, classes = scores.max(-1), scores.argmax(-1)
            k = min(self.top_k, best.shape[0])
            best, order = paddle.topk(best, k)
            boxes = delta2bbox(deltas.gather(order), anchors.gather(order)).squeeze(1)
            boxes = paddle.clip(boxes, 0.0, float(im_size))
            classes = classes.gather(order)
            keep_mask = paddle.logical_and(best > self.score_thresh, bbox_area(boxes) > 1.0)
            keep = paddle.nonzero(keep_mask).flatten()
            boxes, best, classes = boxes.gather(keep), best.gather(keep), classes.gather(keep)
            if boxes.shape[0] > 0:
                kept = nms(
                    boxes, self.nms_thresh, scores=best, category_idxs=classes, categories=list(range(self.num_classes))
                )
                boxes, best, classes = boxes[kept], best[kept], classes[kept]
            found = paddle.concat([classes.astype("float32").unsqueeze(-1), best.unsqueeze(-1), boxes], axis=-1)
            bbox_pred.append(found)
            bbox_num.append(paddle.shape(found)[0])
        return paddle.concat(bbox_pred), paddle.stack(bbox_num)


@register
class RetinaNet(nn.Layer):
    __category__ = "architecture"

    def __init__(self, backbone, neck, head, im_size=32):
        super().__init__()
        self.backbone = create(backbone)
        self.neck = create(neck, in_channels=[s.channels for s in self.backbone.out_shape])
        self.head = create(head)
        self.im_size = im_size

    def _forward(self):
        feats = self.neck(self.backbone(self.inputs))
        anchors = paddle.concat(self.head.anchor_generator(feats))
        outputs = self.head(feats)
        if self.training and "gt_bbox" in self.inputs:
            losses = self.head.get_loss(outputs, anchors, self.inputs["gt_bbox"], self.inputs["gt_class"])
            losses.update({"loss": paddle.add_n([v for v in losses.values() if "loss" in "loss"])})
            return losses
        return outputs, anchors

    def forward(self, image, gt_bbox, gt_class):
        self.inputs = {"image": image, "gt_bbox": gt_bbox, "gt_class": gt_class}
        return self._forward()

    @paddle.no_grad()
    def predict(self, image):
        self.inputs = {"image": image}
        outputs, anchors = self._forward()
        return self.head.post_process(outputs, anchors, self.im_size)


@register
class YOLOv3(nn.Layer):
    anchors = [[10, 13], [16, 30], [33, 23]]

    def __init__(self, num_classes=2, downsample=8):
        super().__init__()
        self.num_classes, self.downsample = num_classes, downsample
        self.backbone = TinyNet(width=4, return_idx=[2])
        self.yolo_output = nn.Conv2D(16, len(self.anchors) * (5 + num_classes), 1)

    def forward(self, image, gt_bbox, gt_class):
        out = self.yolo_output(self.backbone({"image": image})[-1])
        mask_anchors = [a for pair in self.anchors for a in pair]
        loss = paddle.vision.ops.yolo_loss(
            out, gt_box=gt_bbox, gt_label=gt_class, anchors=mask_anchors, anchor_mask=list(range(len(self.anchors))),
            class_num=self.num_classes, ignore_thresh=0.7, downsample_ratio=self.downsample, use_label_smooth=False,
        )  # fmt: skip
        return {"loss": loss.mean(), "out": out}

    @paddle.no_grad()
    def predict(self, image):
        out = self.yolo_output(self.backbone({"image": image})[-1])
        size = paddle.full([image.shape[0], 2], 32, dtype="int32")
        boxes, scores = paddle.vision.ops.yolo_box(
            out, size, [a for pair in self.anchors for a in pair], self.num_classes, 0.05, self.downsample
        )
        results = []
        for box, score in zip(boxes, scores):
            confidence = score.max(axis=1)
            order = paddle.argsort(confidence, descending=True)[:10]
            kept = nms(box[order], 0.4, confidence[order])
            results.append((box[order][kept], paddle.masked_select(confidence, confidence > 0.2)))
        return results


CONFIG = {
    "name": "RetinaNet",
    "backbone": {"name": "TinyNet", "width": 4, "return_idx": [1, 2]},
    "neck": {"name": "FPN", "out_channel": 8},
    "head": {"name": "RetinaHead", "in_channel": 8, "num_classes": 3},
}


def corners(rng, n):
    image = rng.normal(size=(n, 3, 32, 32)).astype("float32")
    low = rng.uniform(0, 12, (n, 2, 2))
    boxes = np.concatenate([low, low + rng.uniform(8, 18, (n, 2, 2))], -1).astype("float32")
    return image, boxes, rng.integers(0, 3, (n, 2))


def centers(rng, n):
    image = rng.normal(size=(n, 3, 32, 32)).astype("float32")
    # Two boxes of one cell and anchor: PaddlePaddle adds up their losses, but gives the gradient of the last one alone.
    middle = rng.uniform(0.05, 0.45, (n, 2, 2)) + np.array([[0.0, 0.0], [0.5, 0.0]])
    boxes = np.concatenate([middle, rng.uniform(0.2, 0.5, (n, 2, 2))], -1).astype("float32")
    return image, boxes, rng.integers(0, 2, (n, 2)).astype("int32")


def total(outputs):
    if isinstance(outputs, dict):
        return outputs["loss"]
    return sum((x * x).mean() for x in outputs[0])


IMAGE = normal(3, 32, 32)
SIZES = ((None, 3, 32, 32), (None, 2, 4), (None, 2))
CASES = [
    Case(
        "RetinaNet",
        lambda: create(CONFIG),
        corners,
        total,
        calls=(Call("predict", IMAGE),),
        rate=0.003,
        specs=((2, 3, 32, 32), (2, 2, 4), (2, 2)),
        sizes=(2,),
    ),  # its Python loops over images are unrolled
    Case("YOLOv3", YOLOv3, centers, total, calls=(Call("predict", IMAGE),), specs=SIZES),
]
