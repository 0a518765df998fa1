"""Draws the order of samples as a trainer does."""
from rekindle.randomness import splitmix64

ROUNDS = 8
# The key of the permutation that parts the samples from those for validation (worker/data/samples/sample_order.cc).
SPLIT = 0x73706C6974


class Permutation:
    """Permutes the numbers below `size` as worker/data/samples/permutation.cc does."""

    def __init__(self, seed, epoch, size):
        self.size = size
        self.half = (max(1, (size - 1).bit_length()) + 1) // 2
        self.keys = []
        key = splitmix64(splitmix64(seed) ^ epoch)
        for _ in range(ROUNDS):
            key = splitmix64(key)
            self.keys.append(key)

    def encrypt(self, value):
        mask = (1 << self.half) - 1
        left, right = value >> self.half, value & mask
        for key in self.keys:
            left, right = right, left ^ (splitmix64(right ^ key) & mask)
        return left << self.half | right

    def __call__(self, value):
        value = self.encrypt(value)
        while value >= self.size:
            value = self.encrypt(value)
        return value


def drawn(seed, samples, count):
    """Returns the numbers of the first `count` samples of a run without validation samples."""
    split = Permutation(SPLIT, 0, samples)
    return [split(Permutation(seed, place // samples, samples)(place % samples)) for place in range(count)]
