"""Draws the order of samples as a trainer does."""
from rekindle.randomness import splitmix64

ROUNDS = 8


def drawn(seed, samples, count):
    """Returns the numbers of the first `count` samples of a run, as worker/data/samples/permutation.cc draws them."""
    half = (max(1, (samples - 1).bit_length()) + 1) // 2
    mask = (1 << half) - 1

    def encrypt(value, keys):
        left, right = value >> half, value & mask
        for key in keys:
            left, right = right, left ^ (splitmix64(right ^ key) & mask)
        return left << half | right

    numbers = []
    for place in range(count):
        epoch, value = divmod(place, samples)
        key, keys = splitmix64(splitmix64(seed) ^ epoch), []
        for _ in range(ROUNDS):
            key = splitmix64(key)
            keys.append(key)
        value = encrypt(value, keys)
        while value >= samples:
            value = encrypt(value, keys)
        numbers.append(value)
    return numbers
