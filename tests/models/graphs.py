"""Graph neural networks by gather and scatter, and word2vec with negative samples."""

import numpy as np

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Call, Case, integers, together
from vitrify import nn

NODES, EDGES = 6, 10


class GCNConv(nn.Layer):
    def __init__(self, input_size, output_size, activation=None, norm=True):
        super().__init__()
        self.linear = nn.Linear(input_size, output_size, bias_attr=False)
        self.bias = self.create_parameter(shape=[output_size], is_bias=True)
        self.norm = norm
        if isinstance(activation, str):
            activation = getattr(F, activation)
        self.activation = activation

    def forward(self, src, dst, feature):
        num_nodes = feature.shape[0]
        feature = self.linear(feature)
        if self.norm:
            degree = paddle.zeros([num_nodes]).scatter_(dst, paddle.ones_like(dst).astype("float32"), overwrite=False)
            norm = paddle.clip(degree, min=1.0).pow(-0.5).unsqueeze(1)
            feature = feature * norm
        message = paddle.gather(feature, src)
        output = paddle.scatter_nd(dst.unsqueeze(1), message, [num_nodes, message.shape[1]])
        if self.norm:
            output = output * norm
        output = output + self.bias
        return output if self.activation is None else self.activation(output)


class GATConv(nn.Layer):
    def __init__(self, input_size, hidden_size, num_heads=2, concat=True, negative_slope=0.2):
        super().__init__()
        self.hidden_size, self.num_heads, self.concat = hidden_size, num_heads, concat
        self.linear = nn.Linear(input_size, num_heads * hidden_size)
        self.weight_src = self.create_parameter(shape=[num_heads, hidden_size])
        self.weight_dst = self.create_parameter(shape=[num_heads, hidden_size])
        self.leaky_relu = nn.LeakyReLU(negative_slope=negative_slope)

    def forward(self, src, dst, feature):
        num_nodes = paddle.shape(feature)[0]
        feature = self.linear(feature).reshape([-1, self.num_heads, self.hidden_size])
        attn_src = (feature * self.weight_src).sum(-1)
        attn_dst = (feature * self.weight_dst).sum(-1)
        alpha = self.leaky_relu(attn_src[src] + attn_dst[dst])
        alpha = paddle.exp(alpha - alpha.max())
        total = paddle.zeros([num_nodes, self.num_heads]).index_add(dst, 0, alpha)
        alpha = alpha / (total.index_select(dst) + 1e-9)
        message = feature.index_select(src, axis=0) * alpha.unsqueeze(-1)
        output = paddle.zeros_like(feature).index_add(axis=0, index=dst, value=message)
        return output.flatten(1) if self.concat else output.mean(axis=1)


class GraphNet(nn.Layer):
    def __init__(self, input_size=5, num_class=3, hidden_size=4):
        super().__init__()
        self.convs = nn.LayerList(
            [GCNConv(input_size, 8, activation="relu"), GATConv(8, hidden_size), GATConv(8, num_class, 2, False)]
        )

    def forward(self, feature, src, dst, graph_ids):
        for conv in self.convs[:-1]:
            feature = F.elu(conv(src, dst, feature))
        nodes = self.convs[-1](src, dst, feature)
        count = paddle.bincount(graph_ids).unsqueeze(-1).astype(nodes.dtype)
        graphs = paddle.zeros([count.shape[0], nodes.shape[1]])
        index = graph_ids.unsqueeze(-1).expand_as(nodes)
        graphs = paddle.put_along_axis(graphs, index, nodes, axis=0, reduce="add", include_self=True) / count
        return nodes, graphs


def graph(rng, n):
    nodes = NODES * n
    src, dst = rng.integers(0, nodes, (2, EDGES * n))
    features = rng.normal(size=(nodes, 5)).astype("float32")
    return features, src, dst, np.repeat(np.arange(n), NODES)


def graph_labels(rng, n):
    return rng.integers(0, 3, (NODES * n,)), rng.integers(0, 3, (n,))


def graph_loss(outputs, node_labels, graph_labels):
    nodes, graphs = outputs
    mask = paddle.nonzero(node_labels > 0).squeeze(-1)
    return F.cross_entropy(nodes[mask], node_labels[mask]) + F.cross_entropy(graphs, graph_labels)


class SkipGram(nn.Layer):
    def __init__(self, vocab_size=12, embedding_size=6, init_scale=0.5, is_sparse=False):
        super().__init__()
        bound = init_scale / embedding_size
        attr = paddle.ParamAttr(name=None, initializer=nn.initializer.Uniform(low=-bound, high=bound))
        self.embedding = nn.Embedding(vocab_size, embedding_size, weight_attr=attr, sparse=is_sparse)
        self.embedding_out = nn.Embedding(vocab_size, embedding_size, weight_attr=attr)

    def forward(self, center_words, target_words, label):
        center = self.embedding(center_words).unsqueeze(1)
        target = self.embedding_out(target_words)
        word_sim = paddle.sum(paddle.multiply(center, target), axis=-1).reshape([-1])
        pred = F.sigmoid(word_sim)
        loss = F.binary_cross_entropy_with_logits(word_sim, label.reshape([-1]).astype("float32"), reduction="mean")
        return pred, loss

    @paddle.no_grad()
    def similar(self, words, k=3):
        weight = F.normalize(self.embedding.weight, axis=1)
        cosine = paddle.matmul(weight[words], weight, transpose_y=True)
        values, indices = paddle.topk(cosine, k=k + 1)
        return values[:, 1:], indices[:, 1:]


def samples(rng, n):
    labels = np.zeros((n, 4), "int64")
    labels[:, 0] = 1
    return (labels,)


CASES = [
    Case(
        "Graph network", GraphNet, graph, graph_loss, graph_labels, rate=0.03,
        specs=((None, 5), (None,), (None,), (None,)),
    ),
    Case(
        "Word2vec", SkipGram, together(integers(12), integers(12, 4), samples), lambda outputs: outputs[1], rate=0.05,
        calls=(Call("similar", integers(12)),),
    ),
]  # fmt: skip
