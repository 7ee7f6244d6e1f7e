"""Detectors without anchors in the style of PaddleDetection: RT-DETR's deformable attention and queries, CenterNet."""

import math

import numpy as np

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Call, Case, normal
from vitrify import nn
from vitrify.nn.initializer import Constant
from vitrify.vision.ops import DeformConv2D


class Backbone(nn.Layer):
    def __init__(self, channels=8):
        super().__init__()
        self.stages = nn.LayerList()
        for in_c, out_c in ((3, channels), (channels, channels)):
            conv = nn.Conv2D(in_c, out_c, 3, stride=2, padding=1, bias_attr=False)
            self.stages.append(nn.Sequential(conv, nn.BatchNorm2D(out_c), nn.ReLU()))

    def forward(self, x):
        outs = []
        for stage in self.stages:
            x = stage(x)
            outs.append(x)
        return outs


class MSDeformableAttention(nn.Layer):
    def __init__(self, embed_dim=8, num_heads=2, num_levels=2, num_points=2):
        super().__init__()
        self.embed_dim, self.num_heads, self.num_levels, self.num_points = embed_dim, num_heads, num_levels, num_points
        total = num_heads * num_levels * num_points
        self.sampling_offsets, self.attention_weights = nn.Linear(embed_dim, total * 2), nn.Linear(embed_dim, total)
        self.value_proj, self.output_proj = nn.Linear(embed_dim, embed_dim), nn.Linear(embed_dim, embed_dim)
        self._reset_parameters()

    def _reset_parameters(self):
        Constant(0.0)(self.sampling_offsets.weight)
        thetas = paddle.arange(self.num_heads, dtype=paddle.float32) * (2.0 * math.pi / self.num_heads)
        grid_init = paddle.stack([thetas.cos(), thetas.sin()], -1)
        grid_init = grid_init / grid_init.abs().max(-1, keepdim=True)
        grid_init = grid_init.reshape([self.num_heads, 1, 1, 2]).tile([1, self.num_levels, self.num_points, 1])
        scaling = paddle.arange(1, self.num_points + 1, dtype=paddle.float32).reshape([1, 1, -1, 1])
        grid_init *= scaling
        self.sampling_offsets.bias.set_value(grid_init.flatten())

    def forward(self, query, reference_points, value, shapes):
        bs, len_q = query.shape[:2]
        value = self.value_proj(value).reshape([bs, -1, self.num_heads, self.embed_dim // self.num_heads])
        levels = [bs, len_q, self.num_heads, self.num_levels, self.num_points]
        offsets = self.sampling_offsets(query).reshape([*levels, 2])
        weights = self.attention_weights(query).reshape([*levels[:3], self.num_levels * self.num_points])
        weights = F.softmax(weights).transpose([0, 2, 1, 3]).flatten(0, 1).unsqueeze(1)
        size = reference_points[:, :, None, :, None, 2:]
        locations = reference_points[:, :, None, :, None, :2] + offsets / self.num_points * size * 0.5
        grids, sampled = 2 * locations - 1, []
        for level, (v, (h, w)) in enumerate(zip(value.split([h * w for h, w in shapes], axis=1), shapes)):
            v = v.flatten(2).transpose([0, 2, 1]).reshape([bs * self.num_heads, -1, h, w])
            grid = grids[:, :, :, level].transpose([0, 2, 1, 3, 4]).flatten(0, 1)
            sampled.append(F.grid_sample(v, grid, mode="bilinear", padding_mode="zeros", align_corners=False))
        output = (paddle.stack(sampled, axis=-2).flatten(-2) * weights).sum(-1)
        return self.output_proj(output.reshape([bs, self.embed_dim, len_q]).transpose([0, 2, 1]))


def inverse_sigmoid(x, eps=1e-5):
    x = x.clip(min=0.0, max=1.0)
    return paddle.log(x.clip(min=eps) / (1 - x).clip(min=eps))


class RTDETR(nn.Layer):
    def __init__(self, hidden_dim=8, num_queries=5, num_classes=3, num_layers=2):
        super().__init__()
        self.backbone, self.num_queries = Backbone(hidden_dim), num_queries
        self.enc_output = nn.Sequential(nn.Linear(hidden_dim, hidden_dim), nn.LayerNorm(hidden_dim))
        self.enc_score_head, self.enc_bbox_head = nn.Linear(hidden_dim, num_classes), nn.Linear(hidden_dim, 4)
        self.cross_attn = nn.LayerList([MSDeformableAttention(hidden_dim) for _ in range(num_layers)])
        self.norm = nn.LayerList([nn.LayerNorm(hidden_dim) for _ in range(num_layers)])
        self.dec_score_head, self.dec_bbox_head = nn.Linear(hidden_dim, num_classes), nn.Linear(hidden_dim, 4)

    def _generate_anchors(self, shapes, grid_size=0.1):
        anchors = []
        for level, (h, w) in enumerate(shapes):
            rows, columns = paddle.arange(end=h, dtype="float32"), paddle.arange(end=w, dtype="float32")
            grid_y, grid_x = paddle.meshgrid(rows, columns)
            grid_xy = paddle.stack([grid_x, grid_y], -1).unsqueeze(0) + 0.5
            grid_xy = grid_xy / paddle.to_tensor([w, h]).astype("float32")
            wh = paddle.ones_like(grid_xy) * grid_size * (2.0**level)
            anchors.append(paddle.concat([grid_xy, wh], -1).reshape([-1, h * w, 4]))
        anchors = paddle.concat(anchors, 1)
        valid_mask = ((anchors > 0.1) * (anchors < 0.9)).all(-1, keepdim=True)
        anchors = paddle.log(anchors / (1 - anchors))
        return paddle.where(valid_mask, anchors, paddle.to_tensor(1e4)), valid_mask

    def forward(self, x):
        feats = self.backbone(x)
        shapes = [[feat.shape[2], feat.shape[3]] for feat in feats]
        memory = paddle.concat([feat.flatten(2).transpose([0, 2, 1]) for feat in feats], 1)
        anchors, valid_mask = self._generate_anchors(shapes)
        output_memory = self.enc_output(paddle.where(valid_mask, memory, paddle.to_tensor(0.0)))
        enc_logits = self.enc_score_head(output_memory)
        enc_boxes = self.enc_bbox_head(output_memory) + anchors
        _, topk_ind = paddle.topk(enc_logits.max(-1), self.num_queries, axis=1)
        batch_ind = paddle.arange(end=x.shape[0]).astype(topk_ind.dtype).unsqueeze(-1).tile([1, self.num_queries])
        topk_ind = paddle.stack([batch_ind, topk_ind], axis=-1)
        reference = F.sigmoid(paddle.gather_nd(enc_boxes, topk_ind)).detach()
        target = paddle.gather_nd(output_memory, topk_ind).detach()
        boxes = []
        for attn, norm in zip(self.cross_attn, self.norm):
            target = norm(target + attn(target, reference.unsqueeze(2), memory, shapes))
            boxes.append(F.sigmoid(self.dec_bbox_head(target) + inverse_sigmoid(reference)))
            reference = boxes[-1].detach()
        return self.dec_score_head(target), paddle.stack(boxes), paddle.gather_nd(enc_logits, topk_ind)


def set_loss(outputs, boxes, labels):
    logits, pred_boxes, enc_logits = outputs
    cost = (pred_boxes[-1].unsqueeze(2) - boxes.unsqueeze(1)).abs().sum(-1).detach()
    nearest = cost.argmin(axis=-1)
    target = paddle.take_along_axis(boxes, nearest.unsqueeze(-1).tile([1, 1, 4]), axis=1)
    label = F.one_hot(paddle.take_along_axis(labels, nearest, axis=1), 3)
    focal = F.sigmoid_focal_loss(logits, label) + F.sigmoid_focal_loss(enc_logits, label)
    return focal / label.sum() + 5 * (pred_boxes - target.unsqueeze(0)).abs().mean()


class CenterNet(nn.Layer):
    def __init__(self, channels=8, num_classes=2):
        super().__init__()
        self.backbone = Backbone(channels)
        self.up = nn.Conv2DTranspose(channels, channels, 4, 2, 1, groups=channels, bias_attr=False)
        self.offset = nn.Conv2D(channels, 27, 3, padding=1)
        self.dcn = DeformConv2D(channels, channels, 3, padding=1)
        self.heatmap, self.size, self.shift = (nn.Conv2D(channels, k, 1) for k in (num_classes, 2, 2))
        Constant(-2.19)(self.heatmap.bias)
        Constant(0.1)(self.offset.bias)

    def forward(self, x):
        high, low = self.backbone(x)
        y = high + self.up(low)
        o1, o2, mask = paddle.chunk(self.offset(y), 3, axis=1)
        y = F.relu(self.dcn(y, paddle.concat([o1, o2], axis=1), F.sigmoid(mask)))
        return {"heatmap": F.sigmoid(self.heatmap(y)), "size": self.size(y), "offset": self.shift(y)}

    def decode(self, x, k=3):
        out = self(x)
        heat = out["heatmap"]
        hmax = F.max_pool2d(heat, 3, stride=1, padding=1)
        heat = heat * paddle.cast(hmax == heat, "float32")
        b, c, h, w = heat.shape
        scores, inds = paddle.topk(heat.reshape([b, -1]), k)
        classes, inds = inds // (h * w), inds % (h * w)
        places = inds.unsqueeze(-1).expand([b, k, 2])
        size, offset = (
            paddle.take_along_axis(out[key].transpose([0, 2, 3, 1]).reshape([b, -1, 2]), places, 1)
            for key in ("size", "offset")
        )
        center = paddle.stack([inds % w, inds // w], axis=-1).astype("float32") + offset
        boxes = paddle.concat([center - size / 2, center + size / 2], axis=-1)
        return classes, scores, boxes


def focal_on_heat(out, target):
    pred = paddle.clip(out["heatmap"], 1e-4, 1 - 1e-4)
    pos_inds, neg_inds = (target == 1).astype("float32"), (target < 1).astype("float32")
    pos_loss = (paddle.log(pred) * paddle.pow(1 - pred, 2) * pos_inds).sum()
    neg_loss = (paddle.log(1 - pred) * paddle.pow(pred, 2) * neg_inds * paddle.pow(1 - target, 4)).sum()
    num_pos = pos_inds.sum()
    loss = -neg_loss if num_pos == 0 else -(pos_loss + neg_loss) / num_pos
    return loss + 0.1 * F.l1_loss(out["size"], paddle.ones_like(out["size"])) + 0.1 * out["offset"].abs().mean()


def truths(rng, n):
    return rng.uniform(0.2, 0.8, (n, 2, 4)).astype("float32"), rng.integers(0, 3, (n, 2)).astype("int64")


def heat(rng, n):
    found = rng.uniform(0, 0.5, (n, 2, 8, 8)).astype("float32")
    found[np.arange(n), 0, 3, 4] = 1.0
    return (found,)


CASES = [
    Case(name="RT-DETR", build=RTDETR, inputs=normal(3, 16, 16), labels=truths, loss=set_loss),
    Case(
        name="CenterNet", build=CenterNet, inputs=normal(3, 16, 16), labels=heat, loss=focal_on_heat,
        calls=(Call("decode", normal(3, 16, 16)),),
    ),
]  # fmt: skip
