"""Click prediction in the style of PaddleRec: DeepFM, DIN with attention over a history, MMoE with two tasks."""

import math

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Case, integers, together
from vitrify import nn


class FM(nn.Layer):
    def __init__(self, sparse_feature_number, sparse_feature_dim, dense_feature_dim):
        super().__init__()
        self.dense_feature_dim = dense_feature_dim
        init = nn.initializer.TruncatedNormal(mean=0.0, std=0.1 / math.sqrt(float(sparse_feature_dim)))
        self.embedding_one = nn.Embedding(
            sparse_feature_number, 1, padding_idx=0, sparse=False, weight_attr=paddle.ParamAttr(initializer=init)
        )
        self.embedding = nn.Embedding(
            sparse_feature_number, sparse_feature_dim, padding_idx=0,
            weight_attr=paddle.ParamAttr(initializer=init, regularizer=paddle.regularizer.L2Decay(1e-4)),
        )  # fmt: skip
        self.dense_w_one = paddle.create_parameter(
            shape=[dense_feature_dim], dtype="float32", default_initializer=nn.initializer.Constant(value=1.0)
        )
        self.dense_w = paddle.create_parameter(
            shape=[1, dense_feature_dim, sparse_feature_dim], dtype="float32",
            default_initializer=nn.initializer.Constant(value=0.5),
        )  # fmt: skip

    def forward(self, sparse_inputs, dense_inputs):
        sparse_inputs_concat = paddle.concat(sparse_inputs, axis=1)
        sparse_emb_one = self.embedding_one(sparse_inputs_concat)
        dense_emb_one = paddle.unsqueeze(paddle.multiply(dense_inputs, self.dense_w_one), axis=2)
        y_first_order = paddle.sum(sparse_emb_one, 1) + paddle.sum(dense_emb_one, 1)
        sparse_embeddings = self.embedding(sparse_inputs_concat)
        dense_embeddings = paddle.multiply(paddle.unsqueeze(dense_inputs, axis=2), self.dense_w)
        feat_embeddings = paddle.concat([sparse_embeddings, dense_embeddings], 1)
        summed_features_emb_square = paddle.square(paddle.sum(feat_embeddings, 1))
        squared_sum_features_emb = paddle.sum(paddle.square(feat_embeddings), 1)
        second = 0.5 * paddle.sum(summed_features_emb_square - squared_sum_features_emb, 1, keepdim=True)
        return y_first_order, second, feat_embeddings


class DeepFM(nn.Layer):
    def __init__(self, number=30, dim=4, dense_dim=3, sparse_num=4, layer_sizes=(16, 8)):
        super().__init__()
        self.sparse_num = sparse_num
        self.fm = FM(number, dim, dense_dim)
        self.width = (sparse_num + dense_dim) * dim
        sizes = [self.width, *layer_sizes, 1]
        self._mlp_layers = []
        for i, (fan_in, fan_out) in enumerate(zip(sizes, sizes[1:])):
            weight = nn.initializer.Normal(std=1.0 / math.sqrt(fan_in))
            linear = nn.Linear(fan_in, fan_out, weight_attr=paddle.ParamAttr(initializer=weight))
            self.add_sublayer(f"linear_{i}", linear)
            self._mlp_layers.append(linear)
            if i < len(sizes) - 2:
                act = nn.ReLU()
                self.add_sublayer(f"act_{i}", act)
                self._mlp_layers.append(act)
        self.bias = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(0.0))

    def forward(self, slots, dense):
        first, second, features = self.fm(paddle.split(slots, self.sparse_num, axis=1), dense)
        y_dnn = paddle.reshape(features, [-1, self.width])
        for layer in self._mlp_layers:
            y_dnn = layer(y_dnn)
        return F.sigmoid(first + second + self.bias + y_dnn)


class DIN(nn.Layer):
    def __init__(self, items=20, cats=5, dim=4):
        super().__init__()
        self.hist_item_emb_attr = nn.Embedding(items, dim, weight_attr=nn.initializer.XavierUniform())
        self.hist_cat_emb_attr = nn.Embedding(cats, dim, weight_attr=nn.initializer.XavierUniform())
        self.item_b_attr = nn.Embedding(items, 1, weight_attr=nn.initializer.Constant(value=0.0))
        self.attention_layer = []
        for i, (fan_in, fan_out) in enumerate([(8 * dim, 8), (8, 1)]):
            self.attention_layer.append(self.add_sublayer(f"attention_linear_{i}", nn.Linear(fan_in, fan_out)))
        self.con = nn.Sequential(nn.Linear(4 * dim, 8), nn.PReLU(), nn.BatchNorm1D(8), nn.Linear(8, 1))

    def forward(self, hist_item, hist_cat, target_item, target_cat, length):
        hist = paddle.concat([self.hist_item_emb_attr(hist_item), self.hist_cat_emb_attr(hist_cat)], axis=2)
        target = paddle.concat([self.hist_item_emb_attr(target_item), self.hist_cat_emb_attr(target_cat)], axis=1)
        target_expand = paddle.expand(target.unsqueeze(1), shape=[-1, hist.shape[1], -1])
        score = paddle.concat([hist, target_expand, hist - target_expand, hist * target_expand], axis=2)
        score = self.attention_layer[1](F.sigmoid(self.attention_layer[0](score)))
        mask = F.sequence_mask(length, maxlen=hist.shape[1], dtype="float32")
        score = paddle.transpose(score, [0, 2, 1]) + (mask.unsqueeze(1) - 1.0) * 1e9
        weight = F.softmax(paddle.scale(score, scale=hist.shape[-1] ** -0.5))
        output = paddle.matmul(weight, hist).squeeze(1)
        return self.con(paddle.concat([output, target], axis=1)) + self.item_b_attr(target_item)


class MMoE(nn.Layer):
    def __init__(self, feature_size=6, expert_num=3, expert_size=4, tower_size=4, gate_num=2):
        super().__init__()
        self.expert_num, self.expert_size, self.gate_num = expert_num, expert_size, gate_num
        self._param_expert, self._param_gate, self._param_tower, self._param_out = [], [], [], []
        for i in range(expert_num):
            self._param_expert.append(self.add_sublayer(f"expert_{i}", nn.Linear(feature_size, expert_size)))
        for i in range(gate_num):
            self._param_gate.append(self.add_sublayer(f"gate_{i}", nn.Linear(feature_size, expert_num)))
            self._param_tower.append(self.add_sublayer(f"tower_{i}", nn.Linear(expert_size, tower_size)))
            self._param_out.append(self.add_sublayer(f"tower_out_{i}", nn.Linear(tower_size, 2)))

    def forward(self, input_data):
        experts = [F.relu(expert(input_data)) for expert in self._param_expert]
        experts = paddle.reshape(paddle.concat(x=experts, axis=1), [-1, self.expert_num, self.expert_size])
        outputs = []
        for i in range(self.gate_num):
            gate = F.softmax(self._param_gate[i](input_data)).reshape([-1, self.expert_num, 1])
            tower = F.relu(self._param_tower[i](paddle.sum(paddle.multiply(experts, gate), axis=1)))
            outputs.append(paddle.clip(F.softmax(self._param_out[i](tower)), min=1e-15, max=1.0 - 1e-15))
        return outputs


def lengths(rng, n):
    return (rng.integers(1, 6, (n,)).astype("int64"),)


def dense(width):
    return lambda rng, n: (rng.uniform(size=(n, width)).astype("float32"),)


def clicks(rng, n):
    return (rng.integers(0, 2, (n, 1)).astype("float32"),)


def two_tasks(outputs, label):
    first, second = (
        paddle.nn.functional.log_loss(paddle.slice(out, axes=[1], starts=[1], ends=[2]), label) for out in outputs
    )
    return paddle.mean(first) + paddle.mean(second)


CASES = [
    Case(
        name="DeepFM", build=DeepFM, inputs=together(integers(30, 4), dense(3)), labels=clicks, sizes=(4, 3),
        loss=lambda predict, label: paddle.mean(F.log_loss(predict, label)),
    ),
    Case(
        name="DIN", build=DIN, sizes=(4, 3), labels=clicks, loss=F.binary_cross_entropy_with_logits,
        inputs=together(integers(20, 6), integers(5, 6), integers(20), integers(5), lengths),
    ),
    Case(name="MMoE", build=MMoE, inputs=dense(6), labels=clicks, loss=two_tasks, sizes=(4, 3)),
]  # fmt: skip
