"""Holds the data of the zoo, which are made from the number of a sample alone, and losses that several models share."""

import torch
from torch.nn import functional

import rekindle

# Language models of the zoo know so many tokens, and see so many of them at once.
VOCABULARY = 64
LENGTH = 12


class Samples(torch.utils.data.Dataset):
    """Has `count` samples. `make(number, generator)` returns one, with a generator that the number has seeded."""

    def __init__(self, make, count=48):
        self.make = make
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        if not 0 <= number < self.count:
            raise IndexError(f"there is no sample {number} among {self.count}")
        return self.make(number, torch.Generator().manual_seed(1000 + number))


def vectors(width=8, classes=3, count=48):
    """Points `x` with a class `y`."""
    return Samples(lambda number, generator: {"x": torch.randn(width, generator=generator), "y": number % classes},
                   count)


def images(size=16, channels=3, classes=4, count=32):
    """Noise images `x` with a class `y`, which has moved their mean."""
    def make(number, generator):
        noise = torch.randn(channels, size, size, generator=generator)
        return {"x": noise + 0.5 * (number % classes), "y": number % classes}

    return Samples(make, count)


def tokens(length=LENGTH, vocabulary=VOCABULARY, count=48, least=0):
    """Texts `ids` of `length` tokens from `least` on, in which each token depends a little on the one before it."""
    def make(number, generator):
        steps = torch.randint(0, 3, (length,), generator=generator)
        return {"ids": least + (number + steps.cumsum(0)) % (vocabulary - least)}

    return Samples(make, count)


def series(length=10, width=4, classes=3, count=48):
    """Series `x` of `length` vectors with a class `y`."""
    def make(number, generator):
        return {"x": torch.randn(length, width, generator=generator).cumsum(0) * 0.3, "y": number % classes}

    return Samples(make, count)


def entropy(logits, classes):
    """The cross entropy of one class for each sample."""
    return rekindle.Sum(functional.cross_entropy(logits, classes, reduction="sum"), len(classes))


def classify(module, batch):
    """The loss of a module that turns `x` into a score for each class `y`."""
    return entropy(module(batch["x"]), batch["y"])


def next_token(logits, ids):
    """The cross entropy of each token but the first, given those before it."""
    wanted = ids[:, 1:]
    loss = functional.cross_entropy(logits[:, :-1].flatten(0, 1), wanted.flatten(), reduction="sum")
    return rekindle.Sum(loss, wanted.numel())


def language(module, batch):
    """The loss of a module that turns `ids` into a score for each next token."""
    return next_token(module(batch["ids"]), batch["ids"])


def squared(made, wanted):
    """The squared difference, over the number of samples."""
    return rekindle.Sum((made - wanted).square().sum(), len(wanted))


def rebuild(module, batch):
    """The loss of a module that turns `x` into itself."""
    return squared(module(batch["x"]), batch["x"])
