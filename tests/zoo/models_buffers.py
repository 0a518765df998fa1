"""Modules with buffers: running statistics, moving averages, queues, pointers, counters and masks."""

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils import parametrizations, prune
from torch.nn.utils import spectral_norm as hooked_spectral_norm

import rekindle
import samples
from registry import model


@model("batch_norm_of_low_momentum", group="always")
def batch_norm_of_low_momentum():
    module = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.BatchNorm2d(8, momentum=0.01), nn.ReLU(),
                           nn.Conv2d(8, 8, 3), nn.BatchNorm2d(8, momentum=0.01, affine=False), nn.ReLU(),
                           nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(8, 4))
    return rekindle.Task(module, data=samples.images(), loss=samples.classify, couples_samples=True)


@model("batch_norm_of_all_batches")
def batch_norm_of_all_batches():
    module = nn.Sequential(nn.Conv1d(4, 8, 3), nn.BatchNorm1d(8, momentum=None), nn.ReLU(), nn.AdaptiveAvgPool1d(1),
                           nn.Flatten(), nn.Linear(8, 3))
    return rekindle.Task(module, data=samples.series(), couples_samples=True,
                         loss=lambda m, b: samples.entropy(m(b["x"].transpose(1, 2)), b["y"]))


@model("batch_norm_left_in_evaluation")
def batch_norm_left_in_evaluation():
    class Tuned(nn.Module):
        """Keeps the norm of a pretrained body in the mode for evaluation, whatever train() is called with."""

        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Dropout(0.5)).requires_grad_(False)
            self.body.eval()
            self.last = nn.Linear(8, 4)

        def train(self, mode=True):
            super().train(mode)
            self.body.eval()
            return self

        def forward(self, x):
            return self.last(self.body(x).relu().mean((2, 3)))

    return rekindle.Task(Tuned(), data=samples.images(), loss=samples.classify)


@model("instance_norm")
def instance_norm():
    module = nn.Sequential(nn.Conv2d(3, 8, 3), nn.InstanceNorm2d(8, affine=True, track_running_stats=True), nn.ReLU(),
                           nn.Conv2d(8, 8, 3), nn.InstanceNorm2d(8), nn.ReLU(), nn.LocalResponseNorm(3),
                           nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 4))
    return rekindle.Task(module, data=samples.images(), loss=samples.classify)


@model("vector_quantisation", group="always")
def vector_quantisation():
    class Quantised(nn.Module):
        """Moves its code book, which is a buffer, towards what it saw, and passes gradients straight through."""

        def __init__(self, codes=8, width=4):
            super().__init__()
            self.encoder, self.decoder = nn.Linear(8, width), nn.Linear(width, 8)
            book = torch.randn(codes, width)
            self.register_buffer("book", book)
            self.register_buffer("sums", book.clone())
            self.register_buffer("uses", torch.ones(codes))

        def forward(self, x):
            x = self.encoder(x)
            chosen = functional.one_hot(torch.cdist(x, self.book).argmin(1), len(self.book)).float()
            made = chosen @ self.book
            if self.training:
                with torch.no_grad():
                    self.uses.mul_(0.9).add_(chosen.sum(0), alpha=0.1)
                    self.sums.lerp_(chosen.t() @ x, 0.1)
                    self.book.copy_(self.sums / (self.uses + 1e-3)[:, None])
            return self.decoder(x + (made - x).detach()), (made.detach() - x).square().sum()

    def loss(module, batch):
        made, distance = module(batch["x"])
        return rekindle.Sum((made - batch["x"]).square().sum() + 0.25 * distance, len(made))

    return rekindle.Task(Quantised(), data=samples.vectors(), loss=loss)


def functional_average(module, prefix, average, own):
    """Moves the buffers of `module` whose names begin with `prefix` towards the parameters of `own`."""
    with torch.no_grad():
        for name, value in own.named_parameters():
            getattr(module, prefix + name.replace(".", "_")).lerp_(value, 1 - average)


def averaged(module, prefix, own):
    """Returns the weights of the average as functional_call() wants them."""
    return {name: getattr(module, prefix + name.replace(".", "_")) for name, _ in own.named_parameters()}


def add_average(module, prefix, own):
    """Registers a buffer beside each parameter of `own`, with its value."""
    for name, value in own.named_parameters():
        module.register_buffer(prefix + name.replace(".", "_"), value.detach().clone())


@model("queue_of_keys", group="always")
def queue_of_keys():
    class Contrast(nn.Module):
        """Is a small MoCo: keys come from an average of the encoder, and go into a queue with a ring pointer."""

        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
            add_average(self, "key_", self.encoder)
            self.register_buffer("queue", functional.normalize(torch.randn(4, 10), dim=0))
            self.register_buffer("pointer", torch.zeros(1, dtype=torch.long))

        def forward(self, x):
            queries = functional.normalize(self.encoder(x), dim=1)
            with torch.no_grad():
                functional_average(self, "key_", 0.99, self.encoder)
                weights = averaged(self, "key_", self.encoder)
                shuffled = x + 0.1 * torch.randn_like(x)
                keys = functional.normalize(torch.func.functional_call(self.encoder, weights, (shuffled,)), dim=1)
            scores = torch.cat([(queries * keys).sum(1, keepdim=True), queries @ self.queue.clone()], 1) / 0.2
            begin = int(self.pointer)
            for place, key in enumerate(keys):
                self.queue[:, (begin + place) % 10] = key
            self.pointer[0] = (begin + len(keys)) % 10
            return scores

    return rekindle.Task(Contrast(), data=samples.vectors(), buffers={"queue": "first", "pointer": "first"},
                         loss=lambda m, b: samples.entropy(m(b["x"]), torch.zeros(len(b["x"]), dtype=torch.long)))


@model("averaged_teacher")
def averaged_teacher():
    class Bootstrapped(nn.Module):
        """Learns to foretell what an average of its own weights makes of another view. The average is in buffers."""

        def __init__(self):
            super().__init__()
            self.student = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 4))
            self.predictor = nn.Linear(4, 4)
            add_average(self, "teacher_", self.student)

        def forward(self, x):
            functional_average(self, "teacher_", 0.95, self.student)
            with torch.no_grad():
                weights = averaged(self, "teacher_", self.student)
                wanted = torch.func.functional_call(self.student, weights, (x.flip(1),))
            return (self.predictor(self.student(x)) - wanted).square().sum()

    return rekindle.Task(Bootstrapped(), data=samples.vectors(),
                         loss=lambda m, b: rekindle.Sum(m(b["x"]), len(b["x"])))


@model("spectral_norm", group="always")
def spectral_norm():
    module = nn.Sequential(parametrizations.spectral_norm(nn.Conv2d(3, 8, 3)), nn.LeakyReLU(0.2),
                           nn.AdaptiveAvgPool2d(3), nn.Flatten(), parametrizations.spectral_norm(nn.Linear(72, 1)))
    return rekindle.Task(module, data=samples.images(), loss=lambda m, b: rekindle.Sum(
        functional.relu(1 - m(b["x"])[:, 0] * (2 * (b["y"] % 2) - 1)).sum(), len(b["y"])))


@model("spectral_norm_by_hooks")
def spectral_norm_by_hooks():
    module = nn.Sequential(hooked_spectral_norm(nn.Linear(8, 16), n_power_iterations=2), nn.ReLU(),
                           hooked_spectral_norm(nn.Linear(16, 3)))
    return rekindle.Task(module, data=samples.vectors(), loss=samples.classify)


@model("pruned_weights")
def pruned_weights():
    module = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    prune.random_unstructured(module[0], "weight", 0.5)
    prune.ln_structured(module[2], "weight", 0.25, n=2, dim=1)
    return rekindle.Task(module, data=samples.vectors(), loss=samples.classify)


@model("counter")
def counter():
    class Warm(nn.Module):
        """Grows its dropout with the number of steps, which a buffer counts. Another one notes which codes came."""

        def __init__(self):
            super().__init__()
            self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
            self.register_buffer("begun", torch.tensor(False))
            self.layer = nn.Linear(8, 3)

        def forward(self, x):
            self.steps += 1
            self.begun = self.begun | (self.steps > 0)
            return self.layer(functional.dropout(x, min(0.5, 0.1 * int(self.steps)), self.training))

    return rekindle.Task(Warm(), data=samples.vectors(), loss=samples.classify)


@model("ring_pointer")
def ring_pointer():
    class Remembered(nn.Module):
        """Attends to vectors of earlier micro-batches, which lie in a ring of buffers in bfloat16."""

        def __init__(self):
            super().__init__()
            self.register_buffer("memory", torch.zeros(6, 8, dtype=torch.bfloat16))
            self.register_buffer("pointer", torch.zeros((), dtype=torch.int32))
            self.query, self.last = nn.Linear(8, 8), nn.Linear(16, 3)

        def forward(self, x):
            memory = self.memory.float()
            seen = (self.query(x) @ memory.t()).softmax(1) @ memory
            self.memory[int(self.pointer)] = x.mean(0)
            self.pointer = (self.pointer + 1) % 6
            return self.last(torch.cat([x, seen], 1))

    # The pointer moves by one in each micro-batch of a step, so it is the same after each of them.
    return rekindle.Task(Remembered(), data=samples.vectors(), loss=samples.classify, couples_samples=True)


@model("moving_centre")
def moving_centre():
    class Centred(nn.Module):
        """Puts a new tensor in the place of its buffer in each forward, and has a scratch buffer that is dropped."""

        def __init__(self):
            super().__init__()
            self.register_buffer("centre", torch.zeros(4))
            self.register_buffer("scratch", torch.zeros(4))
            self.register_buffer("classes", torch.tensor([1.0, 2.0, 0.5]), persistent=False)
            self.layer, self.last = nn.Linear(8, 4), nn.Linear(4, 3)

        def forward(self, x):
            x = self.layer(x)
            self.scratch.copy_(x.detach().amax(0))
            self.centre = 0.9 * self.centre + 0.1 * x.detach().mean(0)
            return self.last(torch.tanh(x - self.centre)) * self.classes

    return rekindle.Task(Centred(), data=samples.vectors(), buffers={"scr*": "frozen"}, loss=samples.classify)
