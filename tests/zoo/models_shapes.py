"""Modules and data whose form is unusual: hooks, parametrizations, memory formats, collates, losses, counts, rates."""

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils import parametrizations, parametrize

import rekindle
import samples
from registry import model


@model("ragged_text")
def ragged_text():
    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(20, 8, padding_idx=0)
            self.mix = nn.MultiheadAttention(8, 2, batch_first=True)
            self.last = nn.Linear(8, 20)

        def forward(self, ids):
            x = self.table(ids)
            return self.last(x + self.mix(x, x, x, key_padding_mask=ids == 0, need_weights=False)[0])

    class Text:
        """Is a Dataset that inherits from nothing, whose samples are pairs of texts and lists of numbers."""

        def __len__(self):
            return 40

        def __getitem__(self, number):
            if number >= len(self):
                raise IndexError(number)
            return f"text {number}", [1 + (number * place + place) % 19 for place in range(2 + number * 7 % 11)]

    def collate(items):
        longest = max(len(ids) for _, ids in items)
        return {"names": [name for name, _ in items],
                "ids": torch.tensor([ids + [0] * (longest - len(ids)) for _, ids in items])}

    def loss(module, batch):
        assert all(name.startswith("text") for name in batch["names"])
        wanted = batch["ids"][:, 1:]
        scores = module(batch["ids"])[:, :-1]
        value = functional.cross_entropy(scores.flatten(0, 1), wanted.flatten(), ignore_index=0, reduction="sum")
        return rekindle.Sum(value, (wanted != 0).sum())

    return rekindle.Task(Reader(), data=Text(), collate=collate, loss=loss)


@model("counts_of_zero", group="always")
def counts_of_zero():
    def make(number, generator):
        return {"x": torch.randn(6, 8, generator=generator),
                "y": torch.full((6,), -100) if number % 5 == 0 else torch.randint(0, 3, (6,), generator=generator)}

    def loss(module, batch):
        """Counts no label of -100. Every fifth sample has only such labels."""
        wanted = batch["y"].flatten()
        value = functional.cross_entropy(module(batch["x"]).flatten(0, 1), wanted, reduction="sum")
        return rekindle.Sum(value, (wanted != -100).sum())

    module = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
    return rekindle.Task(module, data=samples.Samples(make), loss=loss)


@model("several_losses")
def several_losses():
    class Several(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(8, 16)
            self.heads = nn.ModuleDict({"class": nn.Linear(16, 3), "size": nn.Linear(16, 1), "self": nn.Linear(16, 8)})
            self.weights = nn.Parameter(torch.zeros(3))

        def forward(self, x):
            x = functional.mish(self.body(x))
            return {name: head(x) for name, head in self.heads.items()}

    def loss(module, batch):
        made = module(batch["x"])
        parts = torch.stack([functional.cross_entropy(made["class"], batch["y"], reduction="sum"),
                             functional.huber_loss(made["size"][:, 0], batch["x"].norm(dim=1), reduction="sum"),
                             (made["self"] - batch["x"]).abs().sum()])
        # The loss has the shape (1,), as some users write it.
        value = (parts * (-module.weights).exp() + module.weights * len(batch["y"])).sum(0, keepdim=True)
        return rekindle.Sum(value, torch.tensor([len(batch["y"])]))

    return rekindle.Task(Several(), data=samples.vectors(), loss=loss)


@model("nested_inputs")
def nested_inputs():
    class Nested(nn.Module):
        def __init__(self):
            super().__init__()
            self.image, self.text = nn.Conv2d(1, 4, 3), nn.EmbeddingBag(20, 4)
            self.last = nn.Linear(9, 2)

        def forward(self, *, image, text, meta):
            seen = self.image(image.float() / 255).mean((2, 3))
            return self.last(torch.cat([seen, self.text(text), meta["weight"][:, None].float()], 1))

    def make(number, generator):
        image = torch.randint(0, 256, (1, 6, 6), generator=generator, dtype=torch.uint8)
        text = torch.randint(0, 20, (5,), generator=generator, dtype=torch.int32)
        meta = {"weight": number / 48, "name": f"sample {number}", "flags": (True, number)}
        return {"inputs": {"image": image, "text": text, "meta": meta}, "y": number % 2}

    return rekindle.Task(Nested(), data=samples.Samples(make),
                         loss=lambda m, b: samples.entropy(m(**b["inputs"]), b["y"]))


@model("head_of_every_second_sample")
def head_of_every_second_sample():
    class Heads(nn.Module):
        """Has a head for each of two tasks. A micro-batch whose samples are of one task leaves the other head out."""

        def __init__(self):
            super().__init__()
            self.body = nn.Linear(8, 8)
            self.heads = nn.ModuleList([nn.Linear(8, 3), nn.Linear(8, 1)])

        def forward(self, x, kinds):
            x = torch.relu(self.body(x))
            return [head(x[kinds == number]) if (kinds == number).any() else None
                    for number, head in enumerate(self.heads)]

    def loss(module, batch):
        classes, sizes = module(batch["x"], batch["kind"])
        total = batch["x"].new_zeros(())
        if classes is not None:
            total = total + functional.cross_entropy(classes, batch["y"][batch["kind"] == 0], reduction="sum")
        if sizes is not None:
            total = total + sizes.square().sum()
        return rekindle.Sum(total, len(batch["x"]))

    data = samples.Samples(lambda number, generator: {"x": torch.randn(8, generator=generator), "y": number % 3,
                                                      "kind": number % 2})
    return rekindle.Task(Heads(), data=data, loss=loss)


@model("hooks")
def hooks():
    class Hooked(nn.Module):
        """Changes values and gradients by hooks of every kind: of modules, of a parameter and of a tensor."""

        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 3)
            self.first.register_forward_pre_hook(lambda module, inputs: (inputs[0] * 0.5,))
            self.first.register_forward_hook(lambda module, inputs, output: output + inputs[0])
            self.last.register_full_backward_hook(lambda module, into, out: (into[0] * 2,))
            self.last.register_full_backward_pre_hook(lambda module, out: (out[0].clamp(-0.5, 0.5),))
            self.first.weight.register_hook(lambda gradient: gradient - gradient.mean())

        def forward(self, x):
            x = torch.tanh(self.first(x))
            x.register_hook(lambda gradient: gradient * 0.5)
            return self.last(x)

    return rekindle.Task(Hooked(), data=samples.vectors(), loss=samples.classify)


class Symmetric(nn.Module):
    """Makes a matrix symmetric."""

    def forward(self, x):
        return x.triu() + x.triu(1).t()


@model("parametrizations")
def parametrizations_of_layers():
    class Constrained(nn.Module):
        def __init__(self):
            super().__init__()
            self.turned = parametrizations.orthogonal(nn.Linear(8, 8))
            self.mirrored = nn.Linear(8, 8)
            parametrize.register_parametrization(self.mirrored, "weight", Symmetric())
            self.last = nn.Linear(8, 3)

        def forward(self, x):
            with parametrize.cached():
                return self.last(torch.tanh(self.mirrored(self.turned(self.turned(x)))))

    return rekindle.Task(Constrained(), data=samples.vectors(), loss=samples.classify)


@model("weight_norm")
def weight_norm():
    module = nn.Sequential(parametrizations.weight_norm(nn.Linear(8, 16)), nn.ReLU(),
                           parametrizations.weight_norm(nn.Linear(16, 3), dim=None))
    return rekindle.Task(module, data=samples.vectors(), loss=samples.classify)


@model("channels_last")
def channels_last():
    module = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, stride=2), nn.ReLU(),
                           nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))

    def loss(module, batch):
        return samples.entropy(module(batch["x"].contiguous(memory_format=torch.channels_last)), batch["y"])

    return rekindle.Task(module.to(memory_format=torch.channels_last), data=samples.images(), loss=loss)


@model("transposed_parameter")
def transposed_parameter():
    class Transposed(nn.Module):
        """Has parameters whose rows do not lie one after another in memory, and one without dimensions."""

        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(8, 3).t() * 0.3)
            self.column = nn.Parameter(torch.randn(3, 4)[:, 1])
            self.scale = nn.Parameter(torch.tensor(0.5))

        def forward(self, x):
            return self.scale * functional.linear(x, self.weight, self.column)

    return rekindle.Task(Transposed(), data=samples.vectors(), loss=samples.classify)


@model("rates_by_name")
def rates_by_name():
    module = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 3))
    return rekindle.Task(module, data=samples.vectors(), loss=samples.classify, groups={
        "0.*": {"learning_rate": 2e-4, "weight_decay": 0.3}, "*.bias": {"weight_decay": True},
        "4.weight": {"learning_rate": 5e-3, "weight_decay": False}})


@model("stopped_gradient")
def stopped_gradient():
    class Siamese(nn.Module):
        """Compares two drawn views of a sample, and lets a gradient through one of them alone."""

        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
            self.predictor = nn.Linear(8, 8)

        def forward(self, x):
            one, two = (self.encoder(x + 0.2 * torch.randn_like(x)) for _ in range(2))
            pairs = ((self.predictor(one), two.detach()), (self.predictor(two), one.detach()))
            return sum(1 - functional.cosine_similarity(made, wanted).mean() for made, wanted in pairs) / 2

    return rekindle.Task(Siamese(), data=samples.vectors(),
                         loss=lambda m, b: rekindle.Sum(m(b["x"]) * len(b["x"]), len(b["x"])))


@model("compiled")
def compiled():
    module = torch.compile(nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 3)), backend="aot_eager",
                           dynamic=False)
    return rekindle.Task(module, data=samples.vectors(), loss=samples.classify)


@model("compiled_late")
def compiled_late():
    """Calls the compiler in its loss, and the texts of a micro-batch are as long as the longest one."""
    class Text:
        def __len__(self):
            return 40

        def __getitem__(self, number):
            return torch.tensor([(number * place + place) % 19 for place in range(3 + number * 7 % 11)])

    def collate(items):
        return torch.nn.utils.rnn.pad_sequence(items, batch_first=True)

    def loss(module, batch):
        if not kept:
            kept.append(torch.compile(module, backend="aot_eager"))
        return samples.next_token(kept[0](batch), batch)

    kept = []
    return rekindle.Task(nn.Sequential(nn.Embedding(19, 8), nn.GELU(), nn.Linear(8, 19)), data=Text(), collate=collate,
                         loss=loss)
