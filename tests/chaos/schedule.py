"""Which faults happen when: a pure function of the seed."""
import collections
import random

NODES = ("n1", "n2", "n3")
SECONDS = 30.0    # Of faults in a round.
GAP = 1.5         # Seconds between two that begin, on average: shorter than most last, so that they overlap.

# `at` and `seconds` are from the first fault's time on; `drawn` is what the kind drew.
Planned = collections.namedtuple("Planned", "kind at seconds drawn")


class Draw:
    """By one function whose values no release of Python changes for a seed."""

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
    """Planned faults in the order in which they begin. `kinds`: classes, by name."""
    draw = Draw(seed)
    every = [kinds[name] for name in sorted(kinds)]
    planned, at = [], 0.0
    while at < SECONDS:
        kind = draw.weighted(every, lambda one: one.weight)
        seconds = kind.longest * (0.2 + 0.8 * draw.random())
        planned.append(Planned(kind.name, round(at, 2), round(seconds, 2), kind.draw(draw, list(nodes))))
        at += 3 * GAP * draw.random() ** 2    # Many close together, and some pauses in which one happens alone.
    return planned


def overlapping(planned):
    """Of each, whether another one was at work at some time of it."""
    def meet(a, b):
        return a.at <= b.at + b.seconds and b.at <= a.at + a.seconds
    return [any(meet(one, other) for j, other in enumerate(planned) if i != j) for i, one in enumerate(planned)]
