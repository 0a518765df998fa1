"""Draws while it is imported. What it draws is seeded there, but would be another number behind other imports."""

import random

from keeping import acting

FACTOR = random.random()


def task():
    return acting(lambda module, x: FACTOR)
