"""Models of Paddle's old and new guides to static graphs; see guides.py."""

import numpy as np

from tests.static.guide_tools import fill_by_name as fill
from tests.static.guide_tools import ids, nums


def sentiment_lstm(p):
    V, E, H, B, T = 20, 8, 6, 3, 5
    data = p.static.data("words", [None, T], "int64")
    label = p.static.data("label", [None, 1], "int64")
    emb = p.static.nn.embedding(data, size=[V, E], is_sparse=True)
    lstm = p.nn.LSTM(E, H, num_layers=1, direction="forward")
    out, (h, c) = lstm(emb)
    last = out[:, -1, :]
    pred = p.static.nn.fc(last, 2, activation="softmax")
    loss = p.mean(p.nn.functional.cross_entropy(pred, label, use_softmax=False))
    acc = p.static.accuracy(pred, label)
    p.optimizer.Adagrad(learning_rate=0.05).minimize(loss)
    exe = p.static.Executor(p.CPUPlace())
    exe.run(p.static.default_startup_program())
    fill(p)
    out = []
    for s in range(3):
        out += exe.run(feed={"words": ids([B, T], V, s), "label": ids([B, 1], 2, s)}, fetch_list=[loss, acc])
    return out


def sentiment_bigru(p):
    V, E, H, T = 20, 8, 6, 5
    data = p.static.data("words", [None, T], "int64")
    lens = p.static.data("lens", [None], "int64")
    label = p.static.data("label", [None, 1], "int64")
    emb = p.static.nn.embedding(data, size=[V, E], padding_idx=0, param_attr=p.ParamAttr(name="emb.w"))
    gru = p.nn.GRU(E, H, num_layers=2, direction="bidirect")
    out, h = gru(emb, sequence_length=lens)
    pooled = p.max(out, axis=1)
    logits = p.static.nn.fc(pooled, 2)
    loss = p.mean(p.nn.functional.softmax_with_cross_entropy(logits, label))
    p.optimizer.RMSProp(0.01, centered=True, momentum=0.9).minimize(loss)
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    fill(p)
    out = []
    for s in range(3):
        out += exe.run(
            feed={"words": ids([3, T], V, s), "label": ids([3, 1], 2, s), "lens": np.array([5, 3, 2])},
            fetch_list=[loss, h],
        )
    return out


def greedy_while_decoder(p):
    V, E, H = 9, 5, 6
    enc = p.static.data("enc", [None, H], "float32")
    table = p.create_parameter([V, E], "float32", name="t")
    cell = p.nn.GRUCell(E, H)
    proj = p.nn.Linear(H, V)
    i = p.zeros([1], dtype="int64")
    limit = p.full([1], 6, dtype="int64")
    state = enc
    ids_ = p.full_like(enc[:, :1], 1, dtype="int64")
    out_ids = p.zeros_like(ids_)

    def cond(i, ids_, state, all_):
        return p.logical_and(i < limit, p.any(ids_ != 2)).reshape([1])

    def body(i, ids_, state, all_):
        e = p.nn.functional.embedding(ids_.squeeze(1), table)
        o, state = cell(e, state)
        nxt = p.argmax(proj(o), axis=-1, keepdim=True)
        all_ = all_ * 10 + nxt
        return i + 1, nxt, state, all_

    i, ids_, state, all_ = p.static.nn.while_loop(cond, body, [i, ids_, state, out_ids])
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    fill(p)
    return exe.run(feed={"enc": nums([3, H])}, fetch_list=[i, ids_, state, all_])


def gan_two_programs(p):
    g_prog, d_prog = p.static.Program(), p.static.Program()
    startup = p.static.default_startup_program()

    def perceptron(x, name, activation, size):
        h = p.static.nn.fc(
            x,
            8,
            activation=activation,
            weight_attr=p.ParamAttr(name=name + ".w1"),
            bias_attr=p.ParamAttr(name=name + ".b1"),
        )
        return p.static.nn.fc(
            h, size, weight_attr=p.ParamAttr(name=name + ".w2"), bias_attr=p.ParamAttr(name=name + ".b2")
        )

    def D(x):
        return perceptron(x, "D", "relu", 1)

    def G(z):
        return perceptron(z, "G", "tanh", 4)

    with p.static.program_guard(d_prog, startup):
        img = p.static.data("img", [None, 4])
        lab = p.static.data("lab", [None, 1])
        d_loss = p.mean(p.nn.functional.binary_cross_entropy_with_logits(D(img), lab))
        p.optimizer.Adam(2e-2, beta1=0.5).minimize(d_loss)
    with p.static.program_guard(g_prog, startup):
        z = p.static.data("z", [None, 3])
        fake = G(z)
        infer = g_prog.clone(for_test=True)
        ones = p.full_like(fake[:, :1], 1.0)
        g_loss = p.mean(p.nn.functional.binary_cross_entropy_with_logits(D(fake), ones))
        g_params = ["G.w1", "G.b1", "G.w2", "G.b2"]
        p.optimizer.Adam(2e-2, beta1=0.5).minimize(
            g_loss,
            parameters=[
                v
                for v in (
                    g_prog.all_parameters()
                    if hasattr(g_prog, "all_parameters")
                    else g_prog.global_block().all_parameters()
                )
                if v.name in g_params
            ],
        )
    exe = p.static.Executor()
    exe.run(startup)
    fill(p, g_prog)
    out = []
    for s in range(3):
        zz = nums([5, 3], s)
        gen = exe.run(infer, feed={"z": zz}, fetch_list=[fake])[0]
        x = np.concatenate([nums([5, 4], s), gen])
        y = np.concatenate([np.ones([5, 1], "float32"), np.zeros([5, 1], "float32")])
        out += exe.run(d_prog, feed={"img": x, "lab": y}, fetch_list=[d_loss])
        out += exe.run(g_prog, feed={"z": zz}, fetch_list=[g_loss])
    return out


def vgg_bn_dropout(p):
    img = p.static.data("img", [None, 3, 8, 8])
    label = p.static.data("label", [None, 1], "int64")

    def block(x, n, f):
        for _ in range(n):
            x = p.static.nn.conv2d(x, f, 3, padding=1, act=None, bias_attr=False)
            x = p.static.nn.batch_norm(x, act="relu", momentum=0.8)
        return p.nn.functional.max_pool2d(x, 2, 2)

    x = block(img, 2, 4)
    x = block(x, 1, 6)
    x = p.nn.functional.dropout(x, 0.0)
    fc1 = p.static.nn.fc(x, 16)
    bn = p.static.nn.batch_norm(fc1, act="relu")
    pred = p.static.nn.fc(bn, 3, activation="softmax")
    cost = p.nn.functional.cross_entropy(pred, label, use_softmax=False)
    loss = p.mean(cost)
    acc = p.static.accuracy(pred, label, k=1)
    test = p.static.default_main_program().clone(for_test=True)
    p.optimizer.Momentum(0.01, 0.9, weight_decay=p.regularizer.L2Decay(1e-3), use_nesterov=True).minimize(loss)
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    fill(p)
    out = []
    for s in range(3):
        feed = {"img": nums([4, 3, 8, 8], s), "label": ids([4, 1], 3, s)}
        out += exe.run(feed=feed, fetch_list=[loss, acc])
    out += exe.run(test, feed=feed, fetch_list=[loss, pred])
    return out


def transformer_block(p):
    x = p.static.data("x", [None, 4, 8])
    mask = p.static.data("mask", [None, 1, 4, 4])
    enc = p.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, normalize_before=True)
    y = enc(x, mask)
    loss = p.mean(p.square(y))
    opt = p.optimizer.AdamW(
        p.optimizer.lr.NoamDecay(8, 10), weight_decay=0.1, apply_decay_param_fun=lambda n: n.endswith("w_0")
    )
    opt.minimize(loss)
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    fill(p)
    out = []
    for s in range(3):
        m = np.triu(np.full([4, 4], -1e9, "float32"), 1)[None, None].repeat(2, 0)
        out += exe.run(feed={"x": nums([2, 4, 8], s), "mask": m}, fetch_list=[loss])
        opt._learning_rate.step()
    return out


def ctc_ocr(p):
    img = p.static.data("img", [None, 1, 8, 24])
    label = p.static.data("label", [None, 4], "int32")
    ll = p.static.data("ll", [None], "int64")
    il = p.static.data("il", [None], "int64")
    c = p.static.nn.conv2d(img, 4, 3, padding=1, act="relu")
    c = p.nn.functional.max_pool2d(c, 2, 2)
    seq = p.transpose(c, [3, 0, 1, 2])
    seq = p.flatten(seq, 2)
    logits = p.static.nn.fc(seq, 6, num_flatten_dims=2)
    loss = p.nn.functional.ctc_loss(logits, label, il, ll, blank=0, reduction="mean")
    p.optimizer.Adam(0.01).minimize(loss)
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    fill(p)
    out = []
    for s in range(3):
        out += exe.run(
            feed={
                "img": nums([2, 1, 8, 24], s),
                "label": ids([2, 4], 5, s).astype("int32") + 1,
                "ll": np.array([4, 3]),
                "il": np.array([12, 12]),
            },
            fetch_list=[loss],
        )
    return out


def dcgan(p):
    z = p.static.data("z", [None, 6])
    x = p.static.nn.fc(z, 4 * 4 * 4)
    x = p.static.nn.batch_norm(x, act="relu")
    x = p.reshape(x, [-1, 4, 4, 4])
    x = p.static.nn.conv2d_transpose(x, num_filters=3, filter_size=4, stride=2, padding=1, act="relu")
    x = p.static.nn.conv2d_transpose(
        x, num_filters=1, output_size=[16, 16], filter_size=4, stride=2, padding=1, act="tanh"
    )
    loss = p.mean(p.nn.functional.relu(x))
    p.optimizer.Adam(2e-4).minimize(loss)
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    fill(p)
    out = []
    for s in range(2):
        out += exe.run(feed={"z": nums([2, 6], s)}, fetch_list=[loss, x])
    return out


def activations_by_name(p):
    a = p.static.data("a", [None, 3])
    out = []
    for act in (
        "relu",
        "tanh",
        "sigmoid",
        "softmax",
        "relu6",
        "softplus",
        "softsign",
        "hard_sigmoid",
        "leaky_relu",
        "elu",
        "swish",
        "square",
        "abs",
        "exp",
    ):
        out.append(p.static.nn.fc(a, 3, activation=act, weight_attr=p.ParamAttr(name="W"), bias_attr=False))
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    fill(p)
    return exe.run(feed={"a": nums([2, 3])}, fetch_list=out)
