"""Draws while it is imported, from a generator that it has seeded anew itself."""

import random

from keeping import acting

random.seed()
FACTOR = random.random()


def task():
    return acting(lambda module, x: FACTOR)
