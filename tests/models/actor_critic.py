"""Actors and critics in the style of PARL: soft actor-critic with twin critics, PPO with clipped ratios."""

import math

import numpy as np

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Case, normal
from vitrify import nn
from vitrify.distribution import Categorical, Normal

LOG_SIG_MAX, LOG_SIG_MIN = 2.0, -20.0


class Actor(nn.Layer):
    def __init__(self, obs_dim=3, action_dim=2, hidden=8):
        super().__init__()
        self.l1, self.l2 = nn.Linear(obs_dim, hidden), nn.Linear(hidden, hidden)
        self.mean_linear, self.std_linear = nn.Linear(hidden, action_dim), nn.Linear(hidden, action_dim)

    def forward(self, obs):
        x = F.relu(self.l2(F.relu(self.l1(obs))))
        return self.mean_linear(x), paddle.clip(self.std_linear(x), min=LOG_SIG_MIN, max=LOG_SIG_MAX)


class Critic(nn.Layer):
    def __init__(self, obs_dim=3, action_dim=2, hidden=8):
        super().__init__()
        self.q1, self.q2 = (
            nn.Sequential(nn.Linear(obs_dim + action_dim, hidden), nn.ReLU(), nn.Linear(hidden, 1)) for _ in range(2)
        )

    def forward(self, obs, action):
        x = paddle.concat([obs, action], 1)
        return self.q1(x), self.q2(x)


class SAC(nn.Layer):
    def __init__(self, alpha=0.1, gamma=0.9, tau=0.05):
        super().__init__()
        self.alpha, self.gamma, self.tau = alpha, gamma, tau
        self.actor, self.critic, self.target_critic = Actor(), Critic(), Critic()
        self.sync_target(decay=0.0)
        for p in self.target_critic.parameters():
            p.stop_gradient = True

    def sync_target(self, decay=None):
        decay = 1.0 - self.tau if decay is None else decay
        target_vars = dict(self.target_critic.named_parameters())
        for name, var in self.critic.named_parameters():
            target_vars[name].set_value(decay * target_vars[name] + (1 - decay) * var)

    def sample(self, obs, noise):
        act_mean, act_log_std = self.actor(obs)
        normal_ = Normal(act_mean, act_log_std.exp())
        x_t = act_mean + act_log_std.exp() * noise
        action = paddle.tanh(x_t)
        log_prob = normal_.log_prob(x_t) - paddle.log((1 - action.pow(2)) + 1e-6)
        return action, paddle.sum(log_prob, axis=-1, keepdim=True)

    def forward(self, obs, noise):
        action, log_prob = self.sample(obs, noise)
        return (*self.critic(obs, action), log_prob)

    def critic_loss(self, obs, noise):
        with paddle.no_grad():
            next_action, next_log_pro = self.sample(obs * 0.9, noise)
            q1_next, q2_next = self.target_critic(obs * 0.9, next_action)
            target_q = paddle.minimum(q1_next, q2_next) - self.alpha * next_log_pro
            target_q = obs.sum(1, keepdim=True) + self.gamma * target_q
        cur_q1, cur_q2 = self.critic(obs, paddle.tanh(noise))
        return F.mse_loss(cur_q1, target_q) + F.mse_loss(cur_q2, target_q)

    def actor_loss(self, obs, noise):
        q1_pi, q2_pi, log_pi = self(obs, noise)
        return ((self.alpha * log_pi) - paddle.minimum(q1_pi, q2_pi)).mean()


def soft_actor_critic(case, model, compiled):
    """Both critics, the actor, and the target that follows; what is returned is the critics' loss."""
    actor_optimizer = paddle.optimizer.Adam(learning_rate=0.01, parameters=model.actor.parameters())
    critic_optimizer = paddle.optimizer.Adam(learning_rate=0.05, parameters=model.critic.parameters())
    critic_loss, actor_loss = compiled(model.critic_loss), compiled(model.actor_loss)

    def step(inputs, labels):
        loss = critic_loss(*inputs)
        critic_optimizer.clear_grad()
        loss.backward()
        critic_optimizer.step()
        other = actor_loss(*inputs)
        actor_optimizer.clear_grad()
        other.backward()
        actor_optimizer.step()
        model.sync_target()
        return float(loss)

    return step


class PPO(nn.Layer):
    def __init__(self, obs_dim=3, act_dim=3):
        super().__init__()
        self.fc, self.fc_pi, self.fc_v = nn.Linear(obs_dim, 8), nn.Linear(8, act_dim), nn.Linear(8, 1)
        for layer, gain in ((self.fc, math.sqrt(2)), (self.fc_pi, 0.01), (self.fc_v, 1.0)):
            nn.initializer.Orthogonal(gain=gain)(layer.weight)
            nn.initializer.Constant(0.0)(layer.bias)

    def forward(self, obs):
        out = paddle.tanh(self.fc(obs))
        return self.fc_pi(out), self.fc_v(out)


def clipped(outputs, actions, old_log_probs, advantages, returns, clip=0.2, value_coef=0.5, entropy_coef=0.01):
    logits, values = outputs
    dist = Categorical(logits=logits)
    log_probs = F.log_softmax(logits)
    action_log_probs = paddle.take_along_axis(log_probs, actions.unsqueeze(1), axis=1).squeeze(1)
    ratio = paddle.exp(action_log_probs - old_log_probs)
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    action_loss = paddle.maximum(-advantages * ratio, -advantages * paddle.clip(ratio, 1.0 - clip, 1.0 + clip)).mean()
    value_loss = 0.5 * (values.squeeze(-1) - returns).pow(2).mean()
    return action_loss + value_loss * value_coef - entropy_coef * dist.entropy().mean()


def rollouts(rng, n):
    return (
        rng.integers(0, 3, (n,)).astype("int64"), np.log(rng.uniform(0.2, 0.6, (n,))).astype("float32"),
        rng.normal(size=(n,)).astype("float32"), rng.normal(size=(n,)).astype("float32"),
    )  # fmt: skip


def states_and_noise(rng, n):
    return rng.normal(size=(n, 3)).astype("float32"), rng.normal(size=(n, 2)).astype("float32")


def soft_value(outputs):
    q1, q2, log_prob = outputs
    return (0.1 * log_prob - paddle.minimum(q1, q2)).mean()


CASES = [
    Case(
        name="Soft actor-critic", build=SAC, inputs=states_and_noise, loss=soft_value, trainer=soft_actor_critic,
        sizes=(4, 3),
    ),
    Case(name="PPO", build=PPO, inputs=normal(3), labels=rollouts, loss=clipped, sizes=(5, 4)),
]  # fmt: skip
