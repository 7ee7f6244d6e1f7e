"""Training programs in the shape of Paddle's guides to static graphs; see guides.py."""

import numpy as np

from tests.static.guide_tools import fill, nums


def fit_a_line(p):
    x = p.static.data(name="x", shape=[None, 13], dtype="float32")
    y = p.static.data(name="y", shape=[None, 1], dtype="float32")
    y_predict = p.static.nn.fc(x=x, size=1, activation=None)
    main_program = p.static.default_main_program()
    startup_program = p.static.default_startup_program()
    cost = p.nn.functional.square_error_cost(input=y_predict, label=y)
    avg_loss = p.mean(cost)
    test_program = main_program.clone(for_test=True)
    sgd = p.optimizer.SGD(learning_rate=0.01)
    sgd.minimize(avg_loss)
    exe = p.static.Executor(p.CPUPlace())
    exe.run(startup_program)
    fill(p, main_program)
    out = []
    for step in range(5):
        xs, ys = nums([6, 13], step), nums([6, 1], step + 5)
        o = exe.run(main_program, feed={"x": xs, "y": ys}, fetch_list=[avg_loss])
        out.append(o[0])
        t = exe.run(program=test_program, feed={"x": xs, "y": ys}, fetch_list=[avg_loss])
        out.append(t[0])
    p.static.save_inference_model("./fit", [x], [y_predict], exe, program=main_program)
    [prog, feed_names, fetch_targets] = p.static.load_inference_model("./fit", exe)
    out.append(exe.run(prog, feed={feed_names[0]: nums([3, 13])}, fetch_list=fetch_targets)[0])
    out.append(",".join(feed_names))
    return out


def recognize_digits(p):
    img = p.static.data("img", [None, 1, 28, 28], "float32")
    label = p.static.data("label", [None, 1], "int64")
    c1 = p.static.nn.conv2d(input=img, num_filters=4, filter_size=5, act="relu")
    p1 = p.nn.functional.max_pool2d(c1, 2, 2)
    c2 = p.static.nn.conv2d(p1, 8, 5, act="relu")
    p2 = p.nn.functional.avg_pool2d(c2, 2, 2)
    pred = p.static.nn.fc(x=p2, size=10, activation="softmax")
    cost = p.nn.functional.cross_entropy(input=pred, label=label, use_softmax=False)
    avg = p.mean(cost)
    acc = p.static.accuracy(input=pred, label=label)
    opt = p.optimizer.Adam(learning_rate=0.001)
    opt.minimize(avg)
    exe = p.static.Executor(p.CPUPlace())
    exe.run(p.static.default_startup_program())
    fill(p, p.static.default_main_program())
    out = []
    for i in range(3):
        a, b = exe.run(
            feed={"img": nums([4, 1, 28, 28], i, 1), "label": np.array([[1], [2], [3], [i]], "int64")},
            fetch_list=[avg, acc],
        )
        out += [a, b]
    return out


def word2vec(p):
    dict_size, dim, hidden, N = 30, 8, 16, 5
    words = [p.static.data(n, [None, 1], "int64") for n in ("firstw", "secondw", "thirdw", "fourthw")]
    nxt = p.static.data("nextw", [None, 1], "int64")
    embs = [
        p.static.nn.embedding(w, size=[dict_size, dim], is_sparse=True, param_attr=p.ParamAttr(name="shared_w"))
        for w in words
    ]
    embs = [p.reshape(e, [-1, dim]) for e in embs]
    concat = p.concat(embs, axis=1)
    h = p.static.nn.fc(concat, hidden, activation="sigmoid")
    pred = p.static.nn.fc(h, dict_size, activation="softmax")
    loss = p.mean(p.nn.functional.cross_entropy(pred, nxt, use_softmax=False))
    p.optimizer.SGD(0.1, weight_decay=p.regularizer.L2Decay(8e-4)).minimize(loss)
    exe = p.static.Executor(p.CPUPlace())
    exe.run(p.static.default_startup_program())
    fill(p, p.static.default_main_program())
    out = []
    for i in range(4):
        feed = {w.name: np.array([[i], [i + j], [2 * j]], "int64") for j, w in enumerate(words)}
        feed["nextw"] = np.array([[1], [5], [i]], "int64")
        out.append(exe.run(feed=feed, fetch_list=[loss])[0])
    out.append(np.array(p.static.global_scope().find_var("shared_w").get_tensor()))
    return out


def gan(p):
    d_prog, dg_prog, startup = p.static.Program(), p.static.Program(), p.static.Program()

    def D(x):
        h = p.static.nn.fc(x, 8, weight_attr=p.ParamAttr("d_w1"), bias_attr=p.ParamAttr("d_b1"), activation="relu")
        return p.static.nn.fc(h, 1, weight_attr=p.ParamAttr("d_w2"), bias_attr=p.ParamAttr("d_b2"))

    def G(z):
        h = p.static.nn.fc(z, 8, weight_attr=p.ParamAttr("g_w1"), bias_attr=p.ParamAttr("g_b1"), activation="tanh")
        return p.static.nn.fc(h, 5, weight_attr=p.ParamAttr("g_w2"), bias_attr=p.ParamAttr("g_b2"))

    with p.static.program_guard(d_prog, startup):
        img = p.static.data("img", [None, 5])
        lab = p.static.data("label", [None, 1])
        logit = D(img)
        d_loss = p.mean(p.nn.functional.binary_cross_entropy_with_logits(logit, lab))
        p.optimizer.Adam(0.01, parameters=d_prog.all_parameters()).minimize(d_loss)
    with p.static.program_guard(dg_prog, startup):
        z = p.static.data("z", [None, 3])
        fake = G(z)
        g_only = dg_prog.clone()
        dg_logit = D(fake)
        ones = p.full_like(dg_logit, 1.0)
        dg_loss = p.mean(p.nn.functional.binary_cross_entropy_with_logits(dg_logit, ones))
        params = [q for q in dg_prog.all_parameters() if q.name.startswith("g_")]
        p.optimizer.Adam(0.01, parameters=params).minimize(dg_loss)
    exe = p.static.Executor(p.CPUPlace())
    exe.run(startup)
    names = sorted(set(q.name for q in d_prog.all_parameters()) | set(q.name for q in dg_prog.all_parameters()))
    shapes = {q.name: q.shape for pr in (d_prog, dg_prog) for q in pr.all_parameters()}
    for k, n in enumerate(names):
        p.static.global_scope().find_var(n).get_tensor().set(nums(shapes[n], 7 * k), p.CPUPlace())
    out = []
    for i in range(4):
        noise = nums([4, 3], i)
        f = exe.run(dg_prog, feed={"z": noise}, fetch_list=[fake, dg_loss])
        out += f
        d1 = exe.run(d_prog, feed={"img": f[0], "label": np.zeros([4, 1], "float32")}, fetch_list=[d_loss])
        d2 = exe.run(
            d_prog, feed={"img": nums([4, 5], i + 3), "label": np.ones([4, 1], "float32")}, fetch_list=[d_loss]
        )
        out += d1 + d2
    for n in names:
        out.append(np.array(p.static.global_scope().find_var(n).get_tensor()))
    return out


def lr_schedulers(p):
    out = []
    L = p.optimizer.lr
    makers = [
        lambda: L.NoamDecay(0.01, 10),
        lambda: L.PiecewiseDecay([2, 4], [0.1, 0.05, 0.01]),
        lambda: L.NaturalExpDecay(0.5, 0.1),
        lambda: L.InverseTimeDecay(0.5, 0.1),
        lambda: L.PolynomialDecay(0.5, 5),
        lambda: L.LinearWarmup(0.5, 4, 0, 0.5),
        lambda: L.ExponentialDecay(0.5, 0.9),
        lambda: L.MultiStepDecay(0.5, [2, 3]),
        lambda: L.StepDecay(0.5, 2),
        lambda: L.LambdaDecay(0.5, lambda e: 0.95**e),
        lambda: L.CosineAnnealingDecay(0.5, 5),
        lambda: L.MultiplicativeDecay(0.5, lambda e: 0.9),
        lambda: L.OneCycleLR(1.0, 10),
        lambda: L.CyclicLR(0.5, 1.0, 3),
    ]
    for make in makers:
        main, startup = p.static.Program(), p.static.Program()
        with p.static.program_guard(main, startup):
            x = p.static.data("x", [None, 4, 5])
            y = p.static.data("y", [None, 4, 5])
            z = p.static.nn.fc(x, 100)
            loss = p.mean(z)
            sch = make()
            sgd = p.optimizer.SGD(sch)
            sgd.minimize(loss)
        exe = p.static.Executor()
        exe.run(startup)
        fill(p, main)
        for epoch in range(2):
            for batch in range(2):
                out += exe.run(main, feed={"x": nums([3, 4, 5]), "y": nums([3, 4, 5])}, fetch_list=[loss])
                sch.step()
    return out


def nn_layers(p):
    x = p.static.data("x", [None, 4, 6, 6])
    y = p.static.nn.conv2d(x, 4, 3, padding="SAME", act="relu")
    y = p.static.nn.batch_norm(y, act="relu")
    y = p.static.nn.group_norm(y, 2, param_attr=True, bias_attr=True)
    y = p.nn.functional.relu(y)
    y = p.static.nn.prelu(y, "channel")
    y = p.static.nn.conv2d_transpose(y, 2, filter_size=2, stride=2)
    y = p.static.nn.layer_norm(y, begin_norm_axis=1)
    y = p.nn.functional.dropout(y, 0.5, training=False)
    y = p.static.nn.fc(y, 5, num_flatten_dims=1, activation="softmax")
    loss = p.mean(y * y)
    p.optimizer.SGD(0.1).minimize(loss)
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    fill(p, p.static.default_main_program())
    out = [",".join(q.name + str(list(q.shape)) for q in p.static.default_main_program().all_parameters())]
    for i in range(3):
        out += exe.run(feed={"x": nums([2, 4, 6, 6], i)}, fetch_list=[loss, y])
    return out


def py_func(p):
    def tanh(x):
        return np.tanh(x)

    def tanh_grad(y, dy):
        return np.array(dy) * (1 - np.square(np.array(y)))

    def debug(x):
        seen.append(np.asarray(x).shape)

    seen = []
    x = p.static.data("x", [-1, 784])
    label = p.static.data("label", [-1, 1], "int64")

    def new_var(name, dtype, shape):
        return p.static.default_main_program().current_block().create_var(name=name, dtype=dtype, shape=shape)

    hidden = x
    for i in range(2):
        hidden = p.static.nn.fc(hidden, size=20)
        nv = new_var(f"hidden_{i}", hidden.dtype, hidden.shape)
        hidden = p.static.py_func(
            func=tanh, x=hidden, out=nv, backward_func=tanh_grad, skip_vars_in_backward_input=hidden
        )
        p.static.py_func(func=debug, x=hidden, out=None)
    pred = p.static.nn.fc(hidden, 10, activation="softmax")
    loss = p.mean(p.nn.functional.cross_entropy(pred, label, use_softmax=False))
    p.optimizer.SGD(0.1).minimize(loss)
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    fill(p, p.static.default_main_program())
    out = []
    for i in range(3):
        out += exe.run(feed={"x": nums([2, 784], i), "label": np.array([[1], [2]], "int64")}, fetch_list=[loss])
    return out


def backward_apply(p):
    x = p.static.data("x", [None, 3])
    loss = p.mean(p.static.nn.fc(x, 2, activation="tanh"))
    opt = p.optimizer.Adagrad(0.1)
    pg = opt.backward(loss)
    pg = [(a, g * 2.0) for a, g in pg]
    opt.apply_gradients(pg)
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    fill(p, p.static.default_main_program())
    out = []
    for i in range(3):
        out += exe.run(feed={"x": nums([2, 3], i)}, fetch_list=[loss, pg[0][1]])
    return out


def recurrent(p):
    x = p.static.data("x", [None, 5, 4])
    lstm = p.nn.LSTM(4, 6)
    y, (h, c) = lstm(x)
    loss = p.mean(y)
    p.optimizer.SGD(0.1, parameters=lstm.parameters()).minimize(loss)
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    for i, q in enumerate(lstm.parameters()):
        p.static.global_scope().find_var(q.name).get_tensor().set(nums(q.shape, 10 * i), p.CPUPlace())
    out = []
    for i in range(3):
        out += exe.run(feed={"x": nums([2, 5, 4], i)}, fetch_list=[loss, h])
    return out


def embedding_attention(p):
    ids = p.static.data("ids", [None, 6], "int64")
    mask = p.static.data("mask", [None, 1, 1, 6])
    emb = p.nn.Embedding(10, 8)
    enc = p.nn.TransformerEncoder(p.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0), 1)
    h = enc(emb(ids), mask)
    loss = p.mean(h * h)
    ps = emb.parameters() + enc.parameters()
    p.optimizer.AdamW(0.01, parameters=ps).minimize(loss)
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    for i, q in enumerate(ps):
        p.static.global_scope().find_var(q.name).get_tensor().set(nums(q.shape, i), p.CPUPlace())
    out = []
    for i in range(2):
        out += exe.run(
            feed={"ids": np.arange(12).reshape(2, 6) % 10, "mask": np.zeros([2, 1, 1, 6], "float32")}, fetch_list=[loss]
        )
    return out


def regularizer_kinds(p):
    out = []
    for make in (
        lambda: p.optimizer.AdamW(0.1, weight_decay=0.1, apply_decay_param_fun=lambda n: "w" in n),
        lambda: p.optimizer.Adam(0.1, weight_decay=0.1),
        lambda: p.optimizer.Adamax(0.1),
        lambda: p.optimizer.Adadelta(0.1),
        lambda: p.optimizer.RMSProp(0.1, centered=True, momentum=0.9),
        lambda: p.optimizer.Lamb(0.1),
        lambda: p.optimizer.NAdam(0.1),
        lambda: p.optimizer.RAdam(0.1),
        lambda: p.optimizer.Rprop(0.1),
        lambda: p.optimizer.ASGD(0.1),
    ):
        m, s = p.static.Program(), p.static.Program()
        with p.static.program_guard(m, s):
            x = p.static.data("x", [None, 3])
            w = p.create_parameter([3, 2], "float32", name="w%d" % len(out))
            loss = p.mean(p.tanh(p.matmul(x, w)))
            make().minimize(loss)
        exe = p.static.Executor()
        exe.run(s)
        fill(p, m)
        for i in range(3):
            out += exe.run(m, feed={"x": nums([2, 3], i)}, fetch_list=[loss])
    return out


def dataloader(p):
    class D(p.io.Dataset):
        def __getitem__(self, i):
            return nums([4], i), np.array([i % 3], "int64")

        def __len__(self):
            return 12

    image = p.static.data("image", [None, 4])
    label = p.static.data("label", [None, 1], "int64")
    loss = p.mean(p.nn.functional.cross_entropy(p.static.nn.fc(image, 3), label))
    p.optimizer.SGD(0.1).minimize(loss)
    loader = p.io.DataLoader(
        D(),
        feed_list=[image, label],
        places=p.CPUPlace(),
        batch_size=4,
        return_list=False,
        drop_last=True,
        num_workers=0,
    )
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    fill(p, p.static.default_main_program())
    prog = p.static.CompiledProgram(p.static.default_main_program())
    out = []
    for data in loader:
        out += exe.run(prog, feed=data, fetch_list=[loss])
    return out


def weight_norm_attr(p):
    data = p.static.data("data", [3, 4])
    fc = p.static.nn.fc(
        data,
        5,
        weight_attr=p.static.WeightNormParamAttr(
            dim=None,
            name="weight_norm_param",
            initializer=p.nn.initializer.Constant(1.0),
            learning_rate=1.0,
            regularizer=p.regularizer.L2Decay(0.1),
            trainable=True,
            need_clip=True,
        ),
    )
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    return exe.run(feed={"data": nums([3, 4])}, fetch_list=[fc])
