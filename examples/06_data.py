"""Datasets, loaders with worker threads, metrics."""

import numpy as np

import vitrify as paddle


class Parity(paddle.io.Dataset):
    """Ten bits, and whether an odd number of them is set."""

    def __getitem__(self, index):
        bits = np.array([index >> place & 1 for place in range(10)], "float32")
        return bits, int(bits.sum() % 2)

    def __len__(self):
        return 1024


training, held_out = paddle.io.random_split(Parity(), [0.75, 0.25])
loader = paddle.io.DataLoader(held_out, batch_size=100, num_workers=2)
metric = paddle.metric.Accuracy()
for bits, label in loader:
    guess = paddle.stack([1 - bits.sum(1) % 2, bits.sum(1) % 2], axis=1)
    metric.update(metric.compute(guess, label))

print(len(training), len(held_out), [batch[0].shape for batch in loader], metric.accumulate())
assert metric.accumulate() == 1.0
