"""Trains torchvision's ResNet-18 to name shapes in pictures that a Dataset draws. Nothing is downloaded.

`python train.py` runs it on this machine. Stop it in any way and start it again: the digest at the end is the same."""
import torch
import torch.nn.functional as F
import torchvision

import rekindle

SHAPES = ("disc", "square", "triangle")
SIZE = 32


class Shapes(torch.utils.data.Dataset):
    """Draws one shape on a noisy picture. Its place, size and colour are drawn anew whenever it is read.

    They differ from epoch to epoch, and are the same in every run."""

    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        shape = i % len(SHAPES)
        radius = 6 + 4 * torch.rand(())
        place = radius + (SIZE - 2 * radius) * torch.rand(2)
        rows, columns = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
        down, right = rows - place[0], columns - place[1]
        if shape == 0:
            inside = down.square() + right.square() < radius.square()
        elif shape == 1:
            inside = torch.maximum(down.abs(), right.abs()) < 0.8 * radius
        else:
            inside = (down < 0.6 * radius) & (2 * right.abs() < down + radius)
        colour = 0.6 + 0.4 * torch.rand(3, 1, 1)
        picture = inside * colour + 0.1 * torch.randn(3, SIZE, SIZE)
        return {"x": picture, "y": shape}


def model():
    return torchvision.models.resnet18(num_classes=len(SHAPES))


def loss(module, batch):
    return rekindle.Sum(F.cross_entropy(module(batch["x"]), batch["y"], reduction="sum"), len(batch["y"]))


def task():
    return rekindle.Task(model(), data=Shapes(1200), validation=Shapes(96), loss=loss)


if __name__ == "__main__":
    result = rekindle.run(task, steps=80, batch=32, micro_batch=8, workers=(1, 2), optimizer=rekindle.AdamW(1e-3),
                          evaluate_every=20)
    trained = model()
    result.load_into(trained)
    trained.eval()
    torch.manual_seed(0)
    pictures = Shapes(150)
    with torch.no_grad():
        right = sum(int(trained(pictures[i]["x"][None]).argmax()) == pictures[i]["y"] for i in range(len(pictures)))
    print(f"loss {result.losses[0][1]:.3f} to {result.losses[-1][1]:.3f}, {right} of {len(pictures)} pictures right")
    print(f"digest {result.digest}, weights in {result.path}")
