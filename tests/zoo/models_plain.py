"""Models as users write them: perceptrons, convolutions, recurrent networks, transformers, and their losses."""

import math

import torch
from torch import nn
from torch.nn import functional

import rekindle
import samples
from registry import model


@model("perceptron")
def perceptron():
    module = nn.Sequential(nn.Linear(8, 32), nn.LayerNorm(32), nn.GELU(), nn.Dropout(0.1), nn.Linear(32, 3))
    return rekindle.Task(module, data=samples.vectors(), validation=samples.vectors(count=8), loss=samples.classify)


@model("residual_perceptron")
def residual_perceptron():
    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList(nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 8))
                                        for _ in range(4))
            self.scales = nn.ParameterList(nn.Parameter(torch.zeros(())) for _ in range(4))
            self.last = nn.ModuleDict({"class": nn.Linear(8, 3)})

        def forward(self, x):
            for block, scale in zip(self.blocks, self.scales):
                x = x + scale * block(x)
            return self.last["class"](x)

    return rekindle.Task(Residual(), data=samples.vectors(), loss=samples.classify)


@model("convolutions")
def convolutions():
    module = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1, bias=False), nn.GroupNorm(4, 16), nn.ReLU(inplace=True),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 4))
    return rekindle.Task(module, data=samples.images(), loss=samples.classify)


@model("depthwise_convolutions")
def depthwise_convolutions():
    class Squeeze(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.layers = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, 4, 1), nn.ReLU(),
                                        nn.Conv2d(4, width, 1), nn.Hardsigmoid())

        def forward(self, x):
            return x * self.layers(x)

    module = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(16), nn.Hardswish(),
        nn.Conv2d(16, 16, 3, padding=1, groups=16, bias=False), nn.BatchNorm2d(16), nn.Hardswish(), Squeeze(16),
        nn.Conv2d(16, 24, 1, bias=False), nn.BatchNorm2d(24), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2),
        nn.Linear(24, 4))
    return rekindle.Task(module, data=samples.images(), loss=samples.classify, couples_samples=True)


@model("autoencoder")
def autoencoder():
    module = nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.LeakyReLU(), nn.Conv2d(8, 4, 3, stride=2, padding=1), nn.Tanh(),
        nn.ConvTranspose2d(4, 8, 4, stride=2, padding=1), nn.LeakyReLU(),
        nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(8, 3, 3, padding=1))
    return rekindle.Task(module, data=samples.images(), loss=samples.rebuild)


@model("video_convolutions")
def video_convolutions():
    data = samples.Samples(lambda number, generator: {"x": torch.randn(1, 6, 8, 8, generator=generator),
                                                      "y": number % 3}, 32)
    module = nn.Sequential(nn.Conv3d(1, 4, 3, padding=1), nn.InstanceNorm3d(4, affine=True), nn.ReLU(),
                           nn.AvgPool3d(2), nn.Conv3d(4, 8, 3), nn.ELU(), nn.Flatten(), nn.Linear(32, 3))
    return rekindle.Task(module, data=data, loss=samples.classify)


@model("dilated_convolutions")
def dilated_convolutions():
    class Wave(nn.Module):
        """Is a small WaveNet: each layer sees twice as far back, and its halves are value and gate."""

        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(samples.VOCABULARY, 8)
            self.layers = nn.ModuleList(nn.Conv1d(8, 16, 2, dilation=2 ** depth) for depth in range(3))
            self.last = nn.Conv1d(8, samples.VOCABULARY, 1)

        def forward(self, ids):
            x = self.table(ids).transpose(1, 2)
            total = 0
            for layer in self.layers:
                value, gate = layer(functional.pad(x, (layer.dilation[0], 0))).chunk(2, dim=1)
                made = torch.tanh(value) * torch.sigmoid(gate)
                x, total = x + made, total + made
            return self.last(total).transpose(1, 2)

    return rekindle.Task(Wave(), data=samples.tokens(), loss=samples.language)


@model("lstm")
def lstm():
    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.cells = nn.LSTM(4, 8, num_layers=2, bidirectional=True, dropout=0.2, batch_first=True)
            self.last = nn.Linear(16, 3)

        def forward(self, x):
            return self.last(self.cells(x)[0].mean(1))

    return rekindle.Task(Tagger(), data=samples.series(), loss=samples.classify)


@model("packed_gru")
def packed_gru():
    class Reader(nn.Module):
        """Reads texts of unequal lengths, which a collate has padded, as one packed sequence."""

        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(20, 8, padding_idx=0)
            self.cells = nn.GRU(8, 12, batch_first=True)
            self.last = nn.Linear(12, 3)

        def forward(self, ids, lengths):
            packed = nn.utils.rnn.pack_padded_sequence(self.table(ids), lengths, batch_first=True,
                                                       enforce_sorted=False)
            return self.last(self.cells(packed)[1][0])

    def make(number, generator):
        length = 2 + number * 5 % 9
        return {"ids": torch.randint(1, 20, (length,), generator=generator), "y": number % 3}

    def collate(items):
        ids = nn.utils.rnn.pad_sequence([item["ids"] for item in items], batch_first=True)
        return {"ids": ids, "lengths": torch.tensor([len(item["ids"]) for item in items]),
                "y": torch.tensor([item["y"] for item in items])}

    return rekindle.Task(Reader(), data=samples.Samples(make), collate=collate,
                         loss=lambda m, b: samples.entropy(m(b["ids"], b["lengths"]), b["y"]))


@model("unrolled_cells")
def unrolled_cells():
    class Unrolled(nn.Module):
        """Uses its cells once for each time, so each gradient is a sum of many."""

        def __init__(self):
            super().__init__()
            self.lower, self.upper = nn.LSTMCell(4, 6), nn.RNNCell(6, 6)
            self.last = nn.Linear(6, 3)

        def forward(self, x):
            lower, upper = None, None
            for now in x.unbind(1):
                lower = self.lower(now, lower)
                upper = self.upper(lower[0], upper)
            return self.last(upper)

    return rekindle.Task(Unrolled(), data=samples.series(), loss=samples.classify)


@model("transformer_encoder")
def transformer_encoder():
    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(samples.VOCABULARY, 16)
            self.places = nn.Embedding(samples.LENGTH, 16)
            layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.1, batch_first=True, norm_first=True)
            self.layers = nn.TransformerEncoder(layer, 2, nn.LayerNorm(16), enable_nested_tensor=False)
            self.last = nn.Linear(16, 3)

        def forward(self, ids):
            x = self.layers(self.table(ids) + self.places.weight, src_key_padding_mask=ids % 7 == 6)
            return self.last(x.mean(1))

    return rekindle.Task(Encoder(), data=samples.tokens(),
                         loss=lambda m, b: samples.entropy(m(b["ids"]), b["ids"][:, 0] % 3))


@model("transformer_decoder")
def transformer_decoder():
    class Translator(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(samples.VOCABULARY, 16)
            self.layers = nn.Transformer(16, 2, 1, 1, 32, dropout=0.1, batch_first=True)
            self.last = nn.Linear(16, samples.VOCABULARY)

        def forward(self, source, ids):
            mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
            return self.last(self.layers(self.table(source), self.table(ids), tgt_mask=mask, tgt_is_causal=True))

    return rekindle.Task(Translator(), data=samples.tokens(),
                         loss=lambda m, b: samples.next_token(m(b["ids"].flip(1), b["ids"]), b["ids"]))


class Gpt(nn.Module):
    """Is a small GPT: its last layer has the weights of its table of tokens."""

    def __init__(self, width=16, layers=2):
        super().__init__()
        self.table = nn.Embedding(samples.VOCABULARY, width)
        self.places = nn.Embedding(samples.LENGTH, width)
        self.blocks = nn.ModuleList(nn.ModuleDict({
            "norm1": nn.LayerNorm(width), "qkv": nn.Linear(width, 3 * width), "out": nn.Linear(width, width),
            "norm2": nn.LayerNorm(width), "up": nn.Linear(width, 4 * width), "down": nn.Linear(4 * width, width),
        }) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, samples.VOCABULARY, bias=False)
        self.head.weight = self.table.weight

    def forward(self, ids):
        x = self.table(ids) + self.places(torch.arange(ids.shape[1]))
        for block in self.blocks:
            parts = block["qkv"](block["norm1"](x)).chunk(3, 2)
            q, k, v = (part.unflatten(2, (4, -1)).transpose(1, 2) for part in parts)
            attended = functional.scaled_dot_product_attention(q, k, v, dropout_p=0.1 * self.training, is_causal=True)
            x = x + block["out"](attended.transpose(1, 2).flatten(2))
            x = x + block["down"](functional.gelu(block["up"](block["norm2"](x)), approximate="tanh"))
        return self.head(self.norm(x))


@model("nanogpt", group="always")
def nanogpt():
    return rekindle.Task(Gpt(), data=samples.tokens(), validation=samples.tokens(count=8), loss=samples.language)


@model("vision_transformer")
def vision_transformer():
    class Vision(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = nn.Conv2d(3, 16, 4, stride=4)
            self.first = nn.Parameter(torch.zeros(1, 1, 16))
            self.places = nn.Parameter(torch.randn(1, 17, 16) * 0.02)
            self.attention = nn.MultiheadAttention(16, 4, dropout=0.1, batch_first=True)
            self.norm1, self.norm2 = nn.LayerNorm(16), nn.LayerNorm(16)
            self.mlp = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
            self.head = nn.Linear(16, 4)

        def forward(self, x):
            x = self.patches(x).flatten(2).transpose(1, 2)
            x = torch.cat([self.first.expand(len(x), -1, -1), x], 1) + self.places
            y = self.norm1(x)
            x = x + self.attention(y, y, y, need_weights=False)[0]
            return self.head((x + self.mlp(self.norm2(x)))[:, 0])

    return rekindle.Task(Vision(), data=samples.images(), loss=samples.classify)


@model("mixer")
def mixer():
    class Mixer(nn.Module):
        """Mixes the patches of an image, and then the channels, by perceptrons alone."""

        def __init__(self):
            super().__init__()
            self.first = nn.Linear(48, 16)
            self.across = nn.Sequential(nn.Linear(16, 24), nn.GELU(), nn.Linear(24, 16))
            self.within = nn.Sequential(nn.Linear(16, 24), nn.GELU(), nn.Linear(24, 16))
            self.norm = nn.RMSNorm(16)
            self.last = nn.Linear(16, 4)

        def forward(self, x):
            x = functional.unfold(x, 4, stride=4).transpose(1, 2)
            x = self.first(x)
            x = x + self.across(self.norm(x).transpose(1, 2)).transpose(1, 2)
            return self.last((x + self.within(self.norm(x))).mean(1))

    return rekindle.Task(Mixer(), data=samples.images(), loss=samples.classify)


@model("unet_with_noise")
def unet_with_noise():
    class UNet(nn.Module):
        """Learns to take noise away, of which forward draws both how much there is and what it is."""

        def __init__(self):
            super().__init__()
            self.time = nn.Sequential(nn.Linear(8, 16), nn.SiLU())
            self.down1, self.down2 = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, stride=2, padding=1)
            self.middle = nn.Sequential(nn.GroupNorm(4, 16), nn.SiLU(), nn.Conv2d(16, 16, 3, padding=1))
            self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
            self.last = nn.Conv2d(16, 3, 3, padding=1)

        def forward(self, x):
            level = torch.rand(len(x), 1)
            noise = torch.randn_like(x)
            angle = level * torch.exp(torch.arange(4) * -math.log(100.0))
            time = self.time(torch.cat([angle.sin(), angle.cos()], 1))[:, :, None, None]
            keep = level[:, :, None, None]
            one = functional.silu(self.down1(keep * x + (1 - keep.square()).sqrt() * noise))
            two = self.down2(one) + time
            made = self.last(torch.cat([self.up(two + self.middle(two)), one], 1))
            return (made - noise).square().mean((1, 2, 3)).sum()

    return rekindle.Task(UNet(), data=samples.images(), loss=lambda m, b: rekindle.Sum(m(b["x"]), len(b["x"])))


@model("recommender_with_bags")
def recommender_with_bags():
    class Recommender(nn.Module):
        """Is a small DLRM: bags of unequal size are looked up, and their vectors are multiplied in pairs."""

        def __init__(self):
            super().__init__()
            self.tables = nn.ModuleList(nn.EmbeddingBag(30 + 10 * table, 8, mode=mode)
                                        for table, mode in enumerate(("sum", "mean")))
            self.dense = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
            self.last = nn.Linear(8 + 3, 1)

        def forward(self, dense, bags):
            parts = torch.stack([self.dense(dense), *(table(ids, begins) for table, (ids, begins) in
                                                      zip(self.tables, bags))], 1)
            pairs = torch.bmm(parts, parts.transpose(1, 2))
            row, column = torch.triu_indices(3, 3, 1)
            return self.last(torch.cat([parts[:, 0], pairs[:, row, column]], 1))[:, 0]

    def make(number, generator):
        bags = [torch.randint(0, 30, (1 + (number + table) % 4,), generator=generator) for table in range(2)]
        return {"dense": torch.randn(4, generator=generator), "bags": bags, "clicked": float(number % 2)}

    def collate(items):
        bags = []
        for table in range(2):
            parts = [item["bags"][table] for item in items]
            sizes = torch.tensor([0, *(len(part) for part in parts[:-1])])
            bags.append((torch.cat(parts), sizes.cumsum(0)))
        return {"dense": torch.stack([item["dense"] for item in items]), "bags": bags,
                "clicked": torch.tensor([item["clicked"] for item in items])}

    def loss(module, batch):
        scores = module(batch["dense"], batch["bags"])
        value = functional.binary_cross_entropy_with_logits(scores, batch["clicked"], reduction="sum")
        return rekindle.Sum(value, len(scores))

    return rekindle.Task(Recommender(), data=samples.Samples(make), collate=collate, loss=loss)
