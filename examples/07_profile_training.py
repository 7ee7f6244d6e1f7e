"""Where the time of a training step goes: tables, a trace for chrome://tracing or ui.perfetto.dev, each instruction."""

import json

import vitrify as paddle
from vitrify.profiler import Profiler, RecordEvent, SummaryView

paddle.seed(0)
net = paddle.nn.Sequential(paddle.nn.Linear(64, 256), paddle.nn.ReLU(), paddle.nn.Linear(256, 1))
optimizer = paddle.optimizer.Adam(learning_rate=1e-3, parameters=net.parameters())
data = paddle.io.TensorDataset([paddle.randn([256, 64]), paddle.randn([256, 1])])


@paddle.jit.to_static
def loss_of(x, y):
    return ((net(x) - y) ** 2).mean()


# Steps 2 to 5 are recorded: before that, programs are built.
profiler = Profiler(scheduler=(2, 6), on_trace_ready=lambda p: p.export("runs/trace.json"), profile_memory=True)
with profiler:
    for x, y in paddle.io.DataLoader(data, batch_size=32):
        with RecordEvent("forward and backward"):
            loss_of(x, y).backward()
        optimizer.step()
        optimizer.clear_grad()
        profiler.step(num_samples=32)

profiler.summary(op_detail=False, time_unit="us", views=[SummaryView.ModelView, SummaryView.OperatorView])

with open("runs/trace.json") as file:
    events = json.load(file)["traceEvents"]
programs = [event["name"] for event in events if event.get("cat") == "Program"]
assert programs == ["run_program forward", "run_program backward"] * 4

# One call, instruction by instruction, beside the lines that they come from.
profile = paddle.jit.profile(loss_of, x, y)
print(profile)
assert {"linear", "relu"} <= {cost.operator for cost in profile.costs}
