"""Single features of static mode in the shape of Paddle's guides; see guides.py."""

import numpy as np

from tests.static.guide_tools import fill, nums


def while_decoder(p):
    V, H, B = 7, 6, 2
    start = p.static.data("start", [B], "int64")
    table = p.create_parameter([V, H], "float32", name="table")
    w = p.create_parameter([H, H], "float32", name="w")
    o = p.create_parameter([H, V], "float32", name="o")
    i = p.full([1], 0, "int64")
    n = p.full([1], 5, "int64")
    h = p.zeros([B, H], "float32")
    tok = start

    def cond(i, tok, h, s):
        return p.less_than(i, n)

    def body(i, tok, h, s):
        e = p.nn.functional.embedding(tok, table)
        h = p.tanh(p.matmul(h, w) + e)
        logits = p.matmul(h, o)
        tok = p.argmax(logits, axis=-1)
        s = s + p.max(logits)
        return [i + 1, tok, h, s]

    s = p.zeros([1], "float32")
    i2, tok, h, s = p.static.nn.while_loop(cond, body, [i, tok, h, s])
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    fill(p, p.static.default_main_program())
    return exe.run(feed={"start": np.array([1, 3], "int64")}, fetch_list=[i2, tok, h, s])


def while_grad(p):
    x = p.static.data("x", [2, 3], "float32")
    x.stop_gradient = False
    w = p.create_parameter([3, 3], "float32", name="w")
    i = p.zeros([1], "int32")

    def cond(i, h):
        return i < 4

    def body(i, h):
        return i + 1, p.tanh(p.matmul(h, w))

    i, h = p.static.nn.while_loop(cond, body, [i, x * 1.0])
    loss = p.sum(h * h)
    pg = p.static.append_backward(loss)
    gw = pg[0][1]
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    fill(p, p.static.default_main_program())
    return exe.run(feed={"x": nums([2, 3])}, fetch_list=[loss, gw])


def nested_while_cond(p):
    n = p.static.data("n", [1], "int64")
    i = p.zeros([1], "int64")
    acc = p.zeros([1], "float32")

    def body(i, acc):
        j = p.zeros([1], "int64")

        def inner(j, a):
            return [j + 1, p.static.nn.cond(p.equal(j % 2, p.zeros([1], "int64")), lambda: a + 1.0, lambda: a * 2.0)]

        j, acc2 = p.static.nn.while_loop(lambda j, a: j < i + 1, inner, [j, acc])
        return [i + 1, acc2]

    i, acc = p.static.nn.while_loop(lambda i, a: i < n, body, [i, acc])
    exe = p.static.Executor()
    return exe.run(feed={"n": np.array([4], "int64")}, fetch_list=[i, acc])


def case_switch(p):
    x = p.full([1], 0.3)
    y = p.full([1], 0.1)
    z = p.full([1], 0.2)
    p1 = p.less_than(z, x)
    p2 = p.less_than(x, y)
    p3 = p.equal(x, y)
    a = p.static.nn.case(
        [(p1, lambda: p.full([2], 1.0)), (p2, lambda: p.full([2], 2.0))], default=lambda: p.full([2], 3.0)
    )
    b = p.static.nn.case([(p2, lambda: p.full([2], 1.0)), (p3, lambda: p.full([2], 2.0))])
    i1 = p.full([1], 1, "int32")
    i0 = p.full([1], 0, "int32")
    c = p.static.nn.switch_case(
        i1, {1: lambda: p.full([2], 1.0), 2: lambda: p.full([2], 2.0)}, default=lambda: p.full([2], 3.0)
    )
    d = p.static.nn.switch_case(i0, [(0, lambda: p.full([2], 4.0)), (4, lambda: p.full([2], 5.0))])
    e = p.static.nn.switch_case(i0, [lambda: p.full([2], 6.0), lambda: p.full([2], 7.0)])
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    return exe.run(fetch_list=[a, b, c, d, e])


def gradients_second(p):
    x = p.static.data("x", [None, 2, 2])
    x.stop_gradient = False
    y = p.tanh(x) * x * x
    g = p.static.gradients([y], x)
    z = p.static.gradients(g, x)
    exe = p.static.Executor()
    return exe.run(feed={"x": nums([2, 2, 2])}, fetch_list=[y, g[0], z[0]])


def gradients_cond(p):
    x = p.static.data("x", [3])
    x.stop_gradient = False
    y = p.static.nn.cond(p.sum(x) > 0, lambda: x * x, lambda: p.exp(x))
    g = p.static.gradients([y], [x], target_gradients=[p.full([3], 2.0)])
    exe = p.static.Executor()
    out = []
    for s in (1, -1):
        out += exe.run(feed={"x": np.array([0.1, 0.2, 0.3], "float32") * s}, fetch_list=[y, g[0]])
    return out


def array_in_while(p):
    x = p.static.data("x", [2])
    i = p.zeros([1], "int64")
    n = p.full([1], 4, "int64")
    arr = p.tensor.array_write(x, i)

    def body(i, a):
        v = p.tensor.array_read(a, i) * 2
        a = p.tensor.array_write(v, i + 1, a)
        return [i + 1, a]

    i, arr = p.static.nn.while_loop(lambda i, a: i < n, body, [i, arr])
    r = p.tensor.array_read(arr, i)
    s, _ = p.tensor.manipulation.tensor_array_to_tensor(arr, axis=0, use_stack=True)
    exe = p.static.Executor()
    return exe.run(feed={"x": nums([2])}, fetch_list=[r, p.tensor.array_length(arr), s])


def static_save_load(p):
    x = p.static.data("x", [10, 10])
    y = p.static.nn.fc(x, 10)
    z = p.static.nn.fc(y, 10)
    loss = p.mean(z)
    p.optimizer.Adam(0.1).minimize(loss)
    exe = p.static.Executor(p.CPUPlace())
    exe.run(p.static.default_startup_program())
    prog = p.static.default_main_program()
    fill(p, prog)
    exe.run(feed={"x": nums([10, 10])}, fetch_list=[loss])
    p.static.save(prog, "./temp")
    a = exe.run(feed={"x": nums([10, 10])}, fetch_list=[loss])
    p.static.load(prog, "./temp", exe)
    b = exe.run(feed={"x": nums([10, 10])}, fetch_list=[loss])
    st = p.static.load_program_state("./temp")
    out = a + b + [",".join(sorted(k for k in st if "fc" in k or "linear" in k))[:0]]
    p.static.set_program_state(prog, st)
    out += exe.run(feed={"x": nums([10, 10])}, fetch_list=[loss])
    return out


def inference_model(p):
    image = p.static.data("img", [None, 28, 28])
    label = p.static.data("label", [None, 1], "int64")
    flat = p.flatten(image, 1)
    hidden = p.static.nn.fc(flat, 10)
    prediction = p.nn.functional.softmax(hidden)
    loss = p.nn.functional.cross_entropy(prediction, label)
    avg = p.mean(loss)
    p.optimizer.SGD(0.001).minimize(avg)
    exe = p.static.Executor(p.CPUPlace())
    exe.run(p.static.default_startup_program())
    fill(p, p.static.default_main_program())
    program = p.static.default_main_program()
    p.static.normalize_program(program, [image], [prediction])
    p.static.save_inference_model("./infer_model", [image], [prediction], exe)
    prog, feeds, fetches = p.static.load_inference_model("./infer_model", exe)
    out = [",".join(feeds), exe.run(prog, feed={feeds[0]: nums([2, 28, 28])}, fetch_list=fetches)[0]]
    sp = p.static.serialize_program([image], [prediction], program=program)
    p.static.save_to_file("m.bin", sp)
    d = p.static.deserialize_program(p.static.load_from_file("m.bin"))
    out.append(str(type(sp) is bytes))
    pers = p.static.serialize_persistables([image], [prediction], exe, program=program)
    out.append(str(isinstance(pers, bytes)))
    return out


def states(p):
    x = p.static.data("x", [None, 3])
    y = p.static.nn.fc(x, 2, weight_attr=p.ParamAttr(name="ww"), bias_attr=p.ParamAttr(name="bb"))
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    prog = p.static.default_main_program()
    fill(p, prog)
    sd = prog.state_dict()
    out = [",".join(sorted(sd)), np.array(sd["ww"])]
    p.save(sd, "x.pdparams")
    l = p.load("x.pdparams")
    prog.set_state_dict({k: np.asarray(v) * 2 for k, v in l.items()})
    out += exe.run(feed={"x": nums([2, 3])}, fetch_list=[y])
    return out


def feed_fetch_forms(p):
    x = p.static.data("x", [None, 3])
    y = p.scale(x, 2.0)
    z = p.scale(y, 3.0)
    y.persistable = True
    exe = p.static.Executor(p.CPUPlace())
    exe.run(p.static.default_startup_program())
    f = {"x": nums([2, 3])}
    out = exe.run(p.static.default_main_program(), feed=f, fetch_list=[y.name, z])
    out += exe.run(feed=f, fetch_list=[z], return_numpy=True)
    t = exe.run(feed=f, fetch_list=[z], return_numpy=False)
    out.append(np.array(t[0]))
    out += exe.run(feed=f, fetch_list=[z], use_program_cache=True)
    out += exe.run(feed=f, fetch_list=(z,))
    out += exe.run(feed=f, fetch_list=[z], use_prune=True)
    out.append(str(exe.run(feed=f)))
    exe.close()
    return out


def auc_metric(p):
    d = p.static.data("input", [-1, 2])
    label = p.static.data("label", [-1, 1], "int64")
    auc_out, batch, states = p.static.auc(input=d, label=label)
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    r = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]], "float32")
    l = np.array([[0], [1], [1], [0]], "int64")
    return exe.run(feed={"input": r, "label": l}, fetch_list=[auc_out, batch]) + exe.run(
        feed={"input": r, "label": l}, fetch_list=[auc_out]
    )


def data_feeder(p):
    x = p.static.data("x", [None, 2])
    l = p.static.data("l", [None, 1], "int64")
    feeder = p.base.DataFeeder([x, l], p.CPUPlace())
    exe = p.static.Executor()
    return exe.run(
        feed=feeder.feed([(np.array([1, 2], "float32"), [3]), (np.array([3, 4], "float32"), [4])]),
        fetch_list=[x * 2, l + 1],
    )


def evaluated(p):
    x = p.static.data("x", [None, 4])
    h = p.static.nn.batch_norm(p.static.nn.fc(x, 4))
    h = p.nn.functional.dropout(h, 0.9)
    loss = p.mean(h)
    test = p.static.default_main_program().clone(for_test=True)
    p.optimizer.SGD(0.0).minimize(loss)
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    fill(p, p.static.default_main_program())
    for q in p.static.default_main_program().all_parameters():
        if q.name.endswith("w_2"):
            p.static.global_scope().find_var(q.name).get_tensor().set(np.ones(q.shape, "float32"), p.CPUPlace())
    for i in range(3):
        exe.run(feed={"x": nums([5, 4], i, 3)}, fetch_list=[loss])
    return exe.run(test, feed={"x": nums([5, 4], 1, 3)}, fetch_list=[loss.name, h.name])


def data_types_and_arith(p):
    x = p.static.data("x", [None, 3])
    i = p.static.data("i", [None, 3], "int64")
    outs = [
        x + 1,
        1 - x,
        x / 2,
        x**2,
        -x,
        x > 0,
        x.astype("int32"),
        p.cast(x, "float64"),
        i + 1,
        i * 2.5,
        i // 2,
        i % 2,
        x @ p.transpose(x, [1, 0]),
        x[0],
        x[:, 1],
        x[..., -1:],
        p.concat([x, x]),
        p.split(x, 3, 1)[1],
        x.sum(),
        x.mean(axis=0),
        p.stack([x, x]),
        p.where(x > 0, x, -x),
        p.shape(x),
        p.nn.functional.one_hot(i, 5),
    ]
    exe = p.static.Executor()
    return exe.run(feed={"x": nums([2, 3]), "i": np.array([[1, 2, 3], [0, 4, 1]], "int64")}, fetch_list=outs)


def inplace_assign(p):
    x = p.static.data("x", [3])
    a = p.assign(x)
    b = p.zeros([3])
    p.assign(x * 2, b)
    c = p.increment(p.zeros([1]))
    d = p.full([1], 1.0)
    p.increment(d, 2.0)
    e = p.zeros([3])
    e[1] = 5.0
    exe = p.static.Executor()
    return exe.run(feed={"x": nums([3])}, fetch_list=[a, b, c, d, e])


def create_global(p):
    counter = p.static.create_global_var([1], 0.0, "float32", persistable=True, name="counter")
    new = counter + 1
    p.assign(new, counter)
    w = p.static.create_parameter([2, 2], "float32", attr=p.ParamAttr(initializer=p.nn.initializer.Constant(2.0)))
    exe = p.static.Executor()
    exe.run(p.static.default_startup_program())
    out = []
    for _ in range(3):
        out += exe.run(fetch_list=[new, w])
    return out


def scope_api(p):
    s = p.static.global_scope()
    v = s.var("data")
    v.get_tensor().set(np.ones((2, 2), "float32"), p.CPUPlace())
    out = [np.array(s.find_var("data").get_tensor()), str(s.find_var("nothing") is None)]
    ch = s.new_scope()
    out.append(str(ch.find_var("data") is not None))
    out.append(str(s.find_var("data").get_tensor().shape()))
    s.drop_kids()
    return out


def conv_pool_misc(p):
    x = p.static.data("x", [None, 3, 8, 8])
    F = p.nn.functional
    ys = [
        F.interpolate(x, scale_factor=2, mode="bilinear"),
        F.pad(x, [1, 1, 1, 1]),
        F.adaptive_avg_pool2d(x, 1),
        F.pixel_shuffle(p.concat([x, x, x, x], 1), 2),
        F.unfold(x, 3),
        F.log_softmax(x, 1),
        F.gelu(x),
        F.hardswish(x),
        F.leaky_relu(x),
        F.normalize(x),
        F.local_response_norm(x, 5),
        p.flip(x, [2]),
        p.roll(x, 1, 1),
        p.tile(x, [1, 1, 1, 2]),
        p.cumsum(x, 1),
        p.argsort(x, 1),
    ]
    exe = p.static.Executor()
    return exe.run(feed={"x": nums([2, 3, 8, 8])}, fetch_list=ys)


def losses(p):
    x = p.static.data("x", [None, 5])
    y = p.static.data("y", [None, 5])
    l = p.static.data("l", [None, 1], "int64")
    F = p.nn.functional
    ys = [
        F.mse_loss(x, y),
        F.l1_loss(x, y),
        F.smooth_l1_loss(x, y),
        F.kl_div(x, y),
        F.cross_entropy(x, l),
        F.softmax_with_cross_entropy(x, l),
        F.nll_loss(F.log_softmax(x), p.squeeze(l, 1)),
        F.square_error_cost(x, y),
        F.binary_cross_entropy(F.sigmoid(x), F.sigmoid(y)),
        F.label_smooth(F.one_hot(p.squeeze(l, 1), 5)),
        F.sigmoid_focal_loss(x, F.one_hot(p.squeeze(l, 1), 5)),
        F.hinge_embedding_loss(x, p.sign(y)),
        F.cosine_similarity(x, y),
    ]
    exe = p.static.Executor()
    return exe.run(
        feed={"x": nums([4, 5]), "y": nums([4, 5], 3), "l": np.array([[0], [1], [2], [3]], "int64")}, fetch_list=ys
    )


def metric_and_multi_fetch(p):
    x = p.static.data("x", [None, 5])
    label = p.static.data("label", [None, 1], "int64")
    pr = p.nn.functional.softmax(x)
    a1 = p.static.accuracy(pr, label, k=1)
    a5 = p.static.accuracy(pr, label, k=3)
    a = p.metric.accuracy(pr, label, k=2)
    v, i = p.topk(pr, 2)
    exe = p.static.Executor()
    return exe.run(
        feed={"x": nums([4, 5]), "label": np.array([[0], [1], [2], [3]], "int64")}, fetch_list=[a1, a5, a, v, i]
    )


def gradients_by_name(p):
    x = p.static.data("x", [None, 3])
    h = p.static.nn.fc(x, 2, weight_attr=p.ParamAttr(name="w"), bias_attr=False)
    y = p.nn.functional.relu(h)
    loss = p.mean(y)
    p.optimizer.SGD(0.1).minimize(loss)
    exe = p.static.Executor(p.CPUPlace())
    exe.run(p.static.default_startup_program())
    fill(p, p.static.default_main_program())
    wanted = [f"{var.name}@GRAD" for var in (h, y, loss)] + ["w@GRAD"]
    return exe.run(feed={"x": nums([2, 3])}, fetch_list=wanted)
