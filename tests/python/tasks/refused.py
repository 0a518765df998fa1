"""Tasks that cannot be trained, each for a reason of its own."""

import torch

import rekindle
from models import Points, entropy, perceptron

ready_made = 3
made = rekindle.Task(torch.nn.Linear(8, 3), data=[1], loss=entropy)


def wants_argument(width):
    return width


def raises():
    sizes = [1, 2]
    return sizes[7]


def raises_from_another():
    try:
        raises()
    except IndexError as error:
        raise RuntimeError("no sizes") from error


def leaves():
    raise SystemExit(3)


def returns_nothing():
    perceptron()


def returns_module():
    return torch.nn.Linear(8, 3)


def of(module=None, data=None, **others):
    return rekindle.Task(module or torch.nn.Linear(8, 3), data=data or Points(), **{"loss": entropy, **others})


class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        return iter(range(3))


def iterable():
    return of(data=Stream())


def splits():
    return of(data={"train": [1, 2], "test": [3]})


def reads():
    with open("data/nothing.csv") as file:
        return of(data=file.readlines())


def loader():
    return of(data=torch.utils.data.DataLoader([1, 2]))


def generator():
    return of(data=(number for number in range(3)))


def empty():
    return rekindle.Task(torch.nn.Linear(8, 3), data=[], loss=entropy)


def module_class():
    return of(module=torch.nn.ReLU)


def parallel():
    return of(module=torch.nn.DataParallel(torch.nn.Linear(8, 3)))


def no_parameters():
    return of(module=torch.nn.ReLU())


def on_meta():
    return of(module=torch.nn.Linear(8, 3, device="meta"))


def unknown_rule():
    return of(buffers={"queue": "median"})


def unknown_buffer():
    return of(buffers={"queue": "mean"})


def unknown_group():
    return of(groups={"*.bais": {"weight_decay": 0.0}})


def option_of_a_group():
    return of(groups={"weight": {"lr": 0.1}})


def value_of_a_group():
    return of(groups={"weight": {"learning_rate": -1.0}})


def many_workers():
    return of(data_workers=1000)


def no_loss():
    return of(loss=None)
