"""REINFORCE on a corridor: episodes played step by step, discounted returns, log-probabilities from a distribution."""

import numpy as np

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Call, Case, normal
from vitrify import nn
from vitrify.distribution import Categorical


class Policy(nn.Layer):
    def __init__(self, num_states=4, num_actions=2):
        super().__init__()
        self.affine1 = nn.Linear(num_states, 16)
        self.dropout = nn.Dropout(p=0.0)
        self.affine2 = nn.Linear(16, num_actions)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.dropout(self.affine1(x)))
        return F.softmax(self.affine2(x), axis=1)

    def episode(self, starts, noise):
        """Play for as many steps as there is noise: +1 for walking right, until the end of the corridor."""
        gamma = 0.9
        position = starts
        log_probs, rewards = [], []
        done = paddle.zeros([starts.shape[0]], dtype="bool")
        for t in range(noise.shape[1]):
            state = F.one_hot(paddle.clip(position, 0, 3), 4)
            probs = self(state)
            picked = paddle.argmax(paddle.log(probs) - paddle.log(-paddle.log(noise[:, t])), axis=1)
            dist = Categorical(logits=paddle.log(probs))
            log_prob = paddle.log(paddle.take_along_axis(probs, picked.unsqueeze(1), axis=1)).squeeze(1)
            log_probs.append(log_prob * (~done).astype("float32") + 0.01 * dist.entropy())
            position = position + picked * 2 - 1
            reward = paddle.where(done, paddle.zeros([1]), (picked == 1).astype("float32") - 0.5)
            rewards.append(reward)
            done = paddle.logical_or(done, position >= 4)
            if done.all():
                break
        returns, total = [], paddle.zeros_like(rewards[0])
        for r in rewards[::-1]:
            total = r + gamma * total
            returns.insert(0, total)
        returns = paddle.stack(returns)
        returns = (returns - returns.mean()) / (returns.std() + 1e-6)
        policy_loss = -(paddle.stack(log_probs) * returns.detach()).sum(0).mean()
        return policy_loss, paddle.stack(rewards).sum()

    def act(self, state):
        return Categorical(self.forward(state)).sample([1])


def reinforce(case, model, compiled):
    """Of a policy the reward is what must grow."""
    optimizer = paddle.optimizer.Adam(learning_rate=0.05, parameters=model.parameters())
    episode = compiled(model.episode)
    rng = np.random.default_rng(5)

    def step(inputs, labels):
        optimizer.clear_grad()
        starts = paddle.to_tensor(rng.integers(0, 3, (8,)))
        noise = paddle.to_tensor(rng.uniform(0.01, 0.99, (8, 5, 2)).astype("float32"))
        loss, reward = episode(starts, noise)
        loss.backward()
        optimizer.step()
        return -float(reward)

    return step


def episode_inputs(rng, n):
    return rng.integers(0, 3, (n,)), rng.uniform(0.01, 0.99, (n, 4, 2)).astype("float32")


CASES = [
    Case(
        "REINFORCE", Policy, normal(4), lambda probs: -paddle.log(probs[:, 1]).mean(), trainer=reinforce,
        calls=(Call("episode", episode_inputs), Call("act", normal(4), random=True)), steps=10,
    )
]  # fmt: skip
