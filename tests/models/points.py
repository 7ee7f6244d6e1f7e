"""Clouds of points in the style of Paddle3D: PointNet++ with farthest points, PointPillars with a scattered canvas."""

import numpy as np

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Case, integers
from vitrify import nn


def square_distance(src, dst):
    B, N, _ = src.shape
    _, M, _ = dst.shape
    dist = -2 * paddle.matmul(src, dst.transpose([0, 2, 1]))
    dist += paddle.sum(src**2, -1).reshape([B, N, 1])
    dist += paddle.sum(dst**2, -1).reshape([B, 1, M])
    return dist


def index_points(points, idx):
    B = points.shape[0]
    view_shape = list(idx.shape)
    view_shape[1:] = [1] * (len(view_shape) - 1)
    repeat_shape = list(idx.shape)
    repeat_shape[0] = 1
    batch_indices = paddle.arange(B, dtype="int64").reshape(view_shape).tile(repeat_shape)
    return paddle.gather_nd(points, paddle.stack([batch_indices, idx], axis=-1))


def farthest_point_sample(xyz, npoint):
    B, N, _ = xyz.shape
    centroids = []
    distance = paddle.ones([B, N]) * 1e10
    farthest = paddle.zeros([B], dtype="int64")
    for _ in range(npoint):
        centroids.append(farthest)
        centroid = index_points(xyz, farthest.unsqueeze(-1))
        dist = paddle.sum((xyz - centroid) ** 2, -1)
        distance = paddle.where(dist < distance, dist, distance)
        farthest = paddle.argmax(distance, -1)
    return paddle.stack(centroids, axis=1)


def query_ball_point(radius, nsample, xyz, new_xyz):
    B, N, _ = xyz.shape
    _, S, _ = new_xyz.shape
    group_idx = paddle.arange(N, dtype="int64").reshape([1, 1, N]).tile([B, S, 1])
    outside = square_distance(new_xyz, xyz) > radius**2
    group_idx = paddle.where(outside, paddle.full_like(group_idx, N), group_idx)
    group_idx = paddle.sort(group_idx, axis=-1)[:, :, :nsample]
    group_first = group_idx[:, :, 0].reshape([B, S, 1]).tile([1, 1, nsample])
    return paddle.where(group_idx == N, group_first, group_idx)


class PointNetSetAbstraction(nn.Layer):
    def __init__(self, npoint, radius, nsample, in_channel, mlp, group_all):
        super().__init__()
        self.npoint, self.radius, self.nsample, self.group_all = npoint, radius, nsample, group_all
        self.mlp_convs, self.mlp_bns = nn.LayerList(), nn.LayerList()
        for out_channel in mlp:
            self.mlp_convs.append(nn.Conv2D(in_channel, out_channel, 1))
            self.mlp_bns.append(nn.BatchNorm2D(out_channel))
            in_channel = out_channel

    def forward(self, xyz, points):
        if self.group_all:
            new_xyz, grouped = paddle.zeros([xyz.shape[0], 1, 3]), xyz.unsqueeze(1)
            extra = None if points is None else points.unsqueeze(1)
        else:
            new_xyz = index_points(xyz, farthest_point_sample(xyz, self.npoint))
            idx = query_ball_point(self.radius, self.nsample, xyz, new_xyz)
            grouped = index_points(xyz, idx) - new_xyz.unsqueeze(2)
            extra = None if points is None else index_points(points, idx)
        new_points = grouped if extra is None else paddle.concat([grouped, extra], axis=-1)
        new_points = new_points.transpose([0, 3, 2, 1])
        for conv, bn in zip(self.mlp_convs, self.mlp_bns):
            new_points = F.relu(bn(conv(new_points)))
        return new_xyz, paddle.max(new_points, 2).transpose([0, 2, 1])


class PointNet2(nn.Layer):
    def __init__(self, num_class=3):
        super().__init__()
        self.sa1 = PointNetSetAbstraction(6, 0.8, 4, 3, [8, 8], group_all=False)
        self.sa2 = PointNetSetAbstraction(None, None, None, 8 + 3, [12], group_all=True)
        self.fc = nn.Sequential(nn.Linear(12, 8), nn.BatchNorm1D(8), nn.ReLU(), nn.Dropout(0.4))
        self.out = nn.Linear(8, num_class)

    def forward(self, xyz):
        l1_xyz, l1_points = self.sa1(xyz, None)
        _, l2_points = self.sa2(l1_xyz, l1_points)
        return F.log_softmax(self.out(self.fc(l2_points.reshape([-1, 12]))), -1)


class PointPillars(nn.Layer):
    def __init__(self, nx=4, ny=4, channels=6):
        super().__init__()
        self.nx, self.ny, self.channels = nx, ny, channels
        self.linear = nn.Linear(4 + 3, channels, bias_attr=False)
        self.norm = nn.BatchNorm1D(channels, epsilon=1e-3, momentum=0.99, data_format="NLC")
        bias = paddle.ParamAttr(initializer=nn.initializer.Constant(-2.19))
        self.head = nn.Sequential(nn.Conv2D(channels, 8, 3, padding=1), nn.ReLU(), nn.Conv2D(8, 2, 1, bias_attr=bias))

    def forward(self, voxels, num_points, coords):
        points_mean = voxels[:, :, :3].sum(axis=1, keepdim=True) / num_points.astype(voxels.dtype).reshape([-1, 1, 1])
        features = paddle.concat([voxels, voxels[:, :, :3] - points_mean], axis=-1)
        index = paddle.arange(voxels.shape[1], dtype=num_points.dtype).unsqueeze(0)
        mask = (index < num_points.unsqueeze(-1)).unsqueeze(-1).astype(voxels.dtype)
        x = F.relu(self.norm(self.linear(features * mask)))
        x = paddle.max(x, axis=1)
        indices = coords[:, 1] * self.nx + coords[:, 0]
        canvas = paddle.zeros((self.nx * self.ny, self.channels), dtype=x.dtype)
        canvas = paddle.scatter(canvas, indices, x, overwrite=True)
        canvas = canvas.transpose([1, 0]).reshape([1, self.channels, self.ny, self.nx])
        return self.head(canvas)


def cloud(rng, n):
    return (rng.uniform(-1, 1, (n, 12, 3)).astype("float32"),)


def pillars(rng, n):
    places = rng.permutation(16)[:n]
    coords = np.stack([places % 4, places // 4], axis=1).astype("int64")
    return (
        rng.normal(size=(n, 5, 4)).astype("float32"), rng.integers(1, 6, (n,)).astype("int64"), coords,
    )  # fmt: skip


CASES = [
    Case(
        name="PointNet++", build=PointNet2, inputs=cloud, labels=integers(3),
        loss=lambda out, label: F.nll_loss(out, label),
    ),
    Case(
        name="PointPillars", build=PointPillars, inputs=pillars, sizes=(5, 7),
        labels=lambda rng, n: ((rng.uniform(size=(1, 2, 4, 4)) < 0.3).astype("float32"),),
        loss=lambda out, label: F.sigmoid_focal_loss(out, label, alpha=0.25, gamma=2.0, reduction="mean"),
    ),
]  # fmt: skip
