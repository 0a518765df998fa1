"""Modules whose forward or backward does what simple trainers get wrong: own gradients, branches, randomness, views."""

import random

import numpy
import torch
from torch import nn
from torch.nn import functional
from torch.utils import checkpoint

import rekindle
import samples
from models_plain import Gpt
from registry import model

ROUGH = "values are rounded to bfloat16, so a sum in another order may become the next number of few"


class Clipped(torch.autograd.Function):
    """Is a function whose gradient is not the derivative of its value, and which keeps a tensor of its own."""

    @staticmethod
    def forward(context, x, limit):
        kept = x.sign()
        context.save_for_backward(kept)
        context.limit = limit
        return torch.round(4 * x) / 4

    @staticmethod
    def backward(context, gradient):
        kept, = context.saved_tensors
        return (gradient + 0.1 * kept).clamp(-context.limit, context.limit), None


@model("custom_function", group="always")
def custom_function():
    class Rounded(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 3)

        def forward(self, x):
            return self.last(Clipped.apply(self.first(x), 0.25))

    return rekindle.Task(Rounded(), data=samples.vectors(), loss=samples.classify)


class Saved(nn.Module):
    """Computes its blocks, which draw dropout, once more in backward. One of them is in it twice."""

    def __init__(self, reentrant):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(16, 16), nn.GELU(), nn.Dropout(0.3)) for _ in range(3))
        self.last = nn.Linear(16, 3)
        self.reentrant = reentrant

    def forward(self, x):
        x = self.first(x)
        for block in (*self.blocks, self.blocks[0]):
            x = x + checkpoint.checkpoint(block, x, use_reentrant=self.reentrant)
        return self.last(x)


@model("checkpointing_reentrant", group="always")
def checkpointing_reentrant():
    return rekindle.Task(Saved(True), data=samples.vectors(), loss=samples.classify)


@model("checkpointing")
def checkpointing():
    return rekindle.Task(Saved(False), data=samples.vectors(), loss=samples.classify)


@model("teacher_without_gradient", group="always")
def teacher_without_gradient():
    class Distilled(nn.Module):
        """Learns from a teacher in the same module, which is frozen and called under no_grad."""

        def __init__(self):
            super().__init__()
            self.teacher = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3)).requires_grad_(False)
            self.student = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))

        def forward(self, x):
            with torch.no_grad():
                wanted = self.teacher(x).softmax(1)
            return functional.kl_div(self.student(x).log_softmax(1), wanted, reduction="sum")

    return rekindle.Task(Distilled(), data=samples.vectors(), loss=lambda m, b: rekindle.Sum(m(b["x"]), len(b["x"])))


@model("autocast_region", tolerance=0.05, why=ROUGH)
def autocast_region():
    class Region(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.middle, self.last = nn.Linear(8, 16), nn.Linear(16, 16), nn.Linear(16, 3)

        def forward(self, x):
            x = functional.gelu(self.first(x))
            with torch.autocast("cpu", dtype=torch.bfloat16):
                x = functional.gelu(self.middle(x))
                with torch.autocast("cpu", enabled=False):
                    x = x.float().softmax(1)
            return self.last(x)

    return rekindle.Task(Region(), data=samples.vectors(), loss=samples.classify)


@model("three_times_tied")
def three_times_tied():
    class Tied(nn.Module):
        """Uses one matrix as itself, transposed, and as that of another layer; and a bias twice."""

        def __init__(self):
            super().__init__()
            self.into, self.again = nn.Linear(8, 8), nn.Linear(8, 8)
            self.again.weight, self.again.bias = self.into.weight, self.into.bias
            self.extra = nn.ParameterDict({"out": self.into.weight})

        def forward(self, x):
            return functional.linear(torch.tanh(self.again(torch.tanh(self.into(x)))), self.extra["out"].t())

    return rekindle.Task(Tied(), data=samples.vectors(), loss=samples.rebuild)


@model("unused_expert", group="always")
def unused_expert():
    class Experts(nn.Module):
        """Sends each sample to two experts. No sample ever goes to the last one, and few go to some others."""

        def __init__(self):
            super().__init__()
            self.router = nn.Linear(8, 5)
            self.experts = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.SiLU(), nn.Linear(8, 3)) for _ in range(5))

        def forward(self, x):
            scores = self.router(x)
            hidden = scores.masked_fill(torch.arange(5) == 4, float("-inf"))
            weights, chosen = hidden.softmax(1).topk(2, dim=1)
            made = x.new_zeros(len(x), 3)
            for number, expert in enumerate(self.experts):
                rows, places = torch.where(chosen == number)
                if len(rows):
                    made = made.index_add(0, rows, weights[rows, places, None] * expert(x[rows]))
            return made, scores[:, :4].softmax(1).square().sum()

    def loss(module, batch):
        made, balance = module(batch["x"])
        return rekindle.Sum(samples.entropy(made, batch["y"]).loss_sum + 0.01 * balance, len(made))

    return rekindle.Task(Experts(), data=samples.vectors(), loss=loss)


@model("stochastic_depth", group="always")
def stochastic_depth():
    class Depth(nn.Module):
        """Leaves out blocks: some for each sample, by PyTorch's generator, and some for all, by Python's."""

        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList(nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 8), nn.GELU()) for _ in range(6))
            self.last = nn.Linear(8, 3)

        def forward(self, x):
            for number, block in enumerate(self.blocks):
                if self.training and number % 2 and random.random() < 0.5:
                    continue
                kept = torch.empty(len(x), 1).bernoulli_(0.7).div_(0.7) if self.training else 1.0
                x = x + kept * block(x)
            return self.last(x)

    return rekindle.Task(Depth(), data=samples.vectors(), loss=samples.classify)


@model("drawn_noise")
def drawn_noise():
    class Drawn(nn.Module):
        """Draws from the generators of PyTorch, numpy and Python in forward. Its data draw from all three, too."""

        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 3)

        def forward(self, x):
            mask = torch.from_numpy(numpy.random.random(x.shape) < 0.8)
            x = torch.where(mask, x, torch.randn_like(x)) * random.uniform(0.9, 1.1)
            return self.layer(x) + functional.gumbel_softmax(self.layer(x[torch.randperm(len(x))]), hard=True)

    def make(number, generator):
        turned = torch.randn(8, generator=generator).roll(random.randrange(8))
        return {"x": turned + 0.1 * torch.rand(8) + float(numpy.random.normal()), "y": number % 3}

    return rekindle.Task(Drawn(), data=samples.Samples(make), loss=samples.classify, couples_samples=True)


@model("views_written_in_place")
def views_written_in_place():
    class Views(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.last = nn.Linear(8, 12), nn.Linear(12, 3)

        def forward(self, x):
            made = self.layer(x)
            made[:, :4].mul_(2)
            made.view(len(x), 3, 4)[:, 1].mul_(-0.5)
            made.t()[8:].add_(made[:, :4].detach().t())
            made[made < -1] = 0.5
            return self.last(functional.relu_(made.clone()))

    return rekindle.Task(Views(), data=samples.vectors(), loss=samples.classify)


@model("data_dependent_size")
def data_dependent_size():
    class Chosen(nn.Module):
        """Goes on with those values that are positive, so sizes within forward depend on the data."""

        def __init__(self):
            super().__init__()
            self.first, self.inner, self.last = nn.Linear(8, 8), nn.Linear(1, 4), nn.Linear(4, 3)

        def forward(self, x):
            x = self.first(x)
            rows, columns = torch.nonzero(x > 0, as_tuple=True)
            values = torch.tanh(self.inner(x[rows, columns][:, None]))
            return self.last(x.new_zeros(len(x), 4).index_add(0, rows, values))

    return rekindle.Task(Chosen(), data=samples.vectors(), loss=samples.classify)


@model("branch_on_data")
def branch_on_data():
    class Branch(nn.Module):
        """Takes one of two layers, and as many rounds, as the data say. The other layer gets no gradient."""

        def __init__(self):
            super().__init__()
            self.low, self.high, self.round = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
            self.last = nn.Linear(8, 3)

        def forward(self, x):
            x = self.high(x) if float(x.mean()) > 0 else self.low(x)
            rounds = 0
            while x.norm() < 6 and rounds < 5:
                x, rounds = x + 1.5 * torch.tanh(self.round(x)), rounds + 1
            return self.last(x)

    return rekindle.Task(Branch(), data=samples.vectors(), loss=samples.classify, couples_samples=True)


@model("single_sample", micro_batch=1)
def single_sample():
    class Bag(nn.Module):
        """Weighs the many parts of one sample. It takes no batches, and drops dimensions of size 1."""

        def __init__(self):
            super().__init__()
            self.weigh, self.last = nn.Linear(8, 1), nn.Linear(8, 3)

        def forward(self, parts):
            parts = parts.squeeze()
            return self.last(self.weigh(parts).softmax(0).squeeze() @ parts)

    def loss(module, batch):
        losses = [functional.cross_entropy(module(parts), wanted) for parts, wanted in batch]
        return rekindle.Sum(torch.stack(losses).sum(), len(losses))

    def make(number, generator):
        return torch.randn(2 + number % 6, 1, 8, generator=generator), torch.tensor(number % 3)

    return rekindle.Task(Bag(), data=samples.Samples(make), collate=list, loss=loss)


class Adapted(nn.Module):
    """Adds a product of two thin matrices to a frozen layer. The second begins with zeros, as in LoRA."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(2, layer.in_features) * 0.1)
        self.up = nn.Parameter(torch.zeros(layer.out_features, 2))

    def forward(self, x):
        return self.layer(x) + functional.dropout(x, 0.1, self.training) @ self.down.t() @ self.up.t()


@model("adapters_on_frozen_base")
def adapters_on_frozen_base():
    module = Gpt().requires_grad_(False)
    for block in module.blocks:
        for name in ("qkv", "up"):
            block[name] = Adapted(block[name])
    return rekindle.Task(module, data=samples.tokens(), loss=samples.language)


@model("parameters_in_bfloat16", group="always", tolerance=0.05, why=ROUGH)
def parameters_in_bfloat16():
    module = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 3)).to(torch.bfloat16)
    return rekindle.Task(module, data=samples.vectors(), loss=lambda m, b: samples.entropy(
        m(b["x"].bfloat16()).float(), b["y"]))


@model("parameters_of_mixed_types", tolerance=0.05, why=ROUGH)
def parameters_of_mixed_types():
    class Mixed(nn.Module):
        """Has a frozen table in float16, a layer in bfloat16, and a norm and a last layer in float32."""

        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(samples.VOCABULARY, 16).half().requires_grad_(False)
            self.layer = nn.Linear(16, 16, dtype=torch.bfloat16)
            self.norm, self.last = nn.LayerNorm(16), nn.Linear(16, samples.VOCABULARY)

        def forward(self, ids):
            x = self.layer(self.table(ids).bfloat16())
            return self.last(self.norm(x.float()))

    return rekindle.Task(Mixed(), data=samples.tokens(), loss=samples.language)


@model("gradient_penalty")
def gradient_penalty():
    def loss(module, batch):
        x = batch["x"].requires_grad_()
        scores = module(x)
        slope, = torch.autograd.grad(scores.sum(), x, create_graph=True)
        penalty = (slope.norm(dim=1) - 1).square().sum()
        return rekindle.Sum(functional.softplus(scores).sum() + 0.3 * penalty, len(x))

    module = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
    return rekindle.Task(module, data=samples.vectors(), loss=loss)


@model("meta_learning")
def meta_learning():
    def loss(module, batch):
        """Takes a step of the inner optimizer within the loss, and differentiates through it."""
        own = dict(module.named_parameters())

        def inner(weights, x, y):
            return functional.cross_entropy(torch.func.functional_call(module, weights, (x,)), y)

        slopes = torch.func.grad(inner)(own, batch["x"], batch["y"])
        moved = {name: value - 0.1 * slopes[name] for name, value in own.items()}
        return samples.entropy(torch.func.functional_call(module, moved, (batch["x"].flip(1),)), batch["y"])

    module = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 3))
    return rekindle.Task(module, data=samples.vectors(), loss=loss, couples_samples=True)
