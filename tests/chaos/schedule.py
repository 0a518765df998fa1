"""Decides which faults happen when, on which device and with which model, by pure functions of the seed."""
import collections
import random

NODES = ("n1", "n2", "n3")
SECONDS = 30.0  # Seconds of faults in a round.
# `GAP` is the average number of seconds from the start of one fault to the start of the next. Most faults last longer,
# so they overlap.
GAP = 1.5

# About this share of the rounds has trainers on the fake device (worker/device/fake), and the others are on the CPU.
FAKE_SHARE = 0.25
DEVICES = ("cpu", "fake")
# In about this share of the rounds the job trains a model of the user's own, and in the others a built-in one.
OWN_SHARE = 0.125
MODELS = ("gpt", "own")

# The fault begins `at` seconds after the first one and lasts for `seconds`. `drawn` has the values that the kind of
# fault drew at random.
Planned = collections.namedtuple("Planned", "kind at seconds drawn")


class Draw:
    """Draws everything from one function whose values for a seed are the same in every release of Python."""

    def __init__(self, seed):
        self.source = random.Random(seed)

    def random(self):
        return self.source.random()

    def choice(self, values):
        return values[int(self.random() * len(values))]

    def weighted(self, values, weight):
        left = self.random() * sum(map(weight, values))
        for value in values:
            left -= weight(value)
            if left < 0:
                return value
        return values[-1]


def make_schedule(seed, kinds, nodes=NODES):
    """Returns the planned faults in the order in which they begin. `kinds` has the classes by name."""
    draw = Draw(seed)
    every = [kinds[name] for name in sorted(kinds)]
    planned, at = [], 0.0
    while at < SECONDS:
        kind = draw.weighted(every, lambda one: one.weight)
        seconds = kind.longest * (0.2 + 0.8 * draw.random())
        planned.append(Planned(kind.name, round(at, 2), round(seconds, 2), kind.draw(draw, list(nodes))))
        # Squaring the random number makes many faults follow closely, with some pauses in which one happens alone.
        at += 3 * GAP * draw.random() ** 2
    return planned


def draw_device(seed):
    """Returns what the trainers of a round compute on. It is drawn apart, so that it changes no seed's faults."""
    return "fake" if Draw((1 << 64) + seed).random() < FAKE_SHARE else "cpu"


def draw_model(seed):
    """Returns what the job of a round trains. A round with a model of the user's own has more kinds of faults."""
    return "own" if Draw((1 << 65) + seed).random() < OWN_SHARE else "gpt"


def overlapping(planned):
    """Returns for each fault whether another one lasts at the same time, at least for a moment."""
    def meet(a, b):
        return a.at <= b.at + b.seconds and b.at <= a.at + a.seconds
    return [any(meet(one, other) for j, other in enumerate(planned) if i != j) for i, one in enumerate(planned)]
