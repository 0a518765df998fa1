"""Trains a small network of your own to tell two spirals of points apart. Nothing is downloaded.

`python train.py` runs it on this machine. Stop it in any way and start it again: the digest at the end is the same."""
import math

import torch
import torch.nn.functional as F

import rekindle


class Spirals(torch.utils.data.Dataset):
    """Points of two spirals, and which of the two each is of. A point is moved a little at random whenever it is read.
    That differs from epoch to epoch, and is the same in every run."""

    def __init__(self, size, turn=0.0):
        self.size, self.turn = size, turn

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        which, distance = i % 2, (i + self.turn + 1) / (self.size + 1)
        angle = 2 * math.pi * distance + which * math.pi
        point = 3 * distance * torch.tensor([math.cos(angle), math.sin(angle)])
        return {"x": point + 0.05 * torch.randn(2), "y": which}


def model():
    return torch.nn.Sequential(torch.nn.Linear(2, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64), torch.nn.Tanh(),
                               torch.nn.Linear(64, 2))


def loss(module, batch):
    return rekindle.Sum(F.cross_entropy(module(batch["x"]), batch["y"], reduction="sum"), len(batch["y"]))


def task():
    return rekindle.Task(model(), data=Spirals(2000), validation=Spirals(200, turn=0.5), loss=loss)


if __name__ == "__main__":
    result = rekindle.run(task, steps=500, batch=64, micro_batch=8, workers=(1, 2), optimizer=rekindle.AdamW(1e-2),
                          evaluate_every=100)
    trained = model()
    result.load_into(trained)
    torch.manual_seed(0)
    points = Spirals(1000, turn=0.25)
    right = sum(int(trained(points[i]["x"]).argmax()) == points[i]["y"] for i in range(len(points)))
    print(f"loss {result.losses[0][1]:.3f} to {result.losses[-1][1]:.3f}, {right} of {len(points)} points right")
    print(f"digest {result.digest}, weights in {result.path}")
