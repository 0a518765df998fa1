"""Tasks of the usual parts of PyTorch, whose result depends on weights and samples alone."""

import torch
from torch.nn import functional

import rekindle
from models import Points, entropy


def normed():
    module = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.ReLU(),
                                 torch.nn.Dropout(0.5), torch.nn.Linear(16, 3))
    return rekindle.Task(module, data=Points(draws=True), loss=entropy)


class Texts(torch.utils.data.Dataset):
    def __init__(self):
        self.texts = torch.randint(1, 50, (32, 12))

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, sample):
        hidden = torch.rand(12) < 0.3
        return {"input": self.texts[sample].masked_fill(hidden, 0),
                "target": self.texts[sample].masked_fill(~hidden, -100)}


class Encoder(torch.nn.Module):
    """Predicts hidden words, as BERT does."""

    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(50, 16)
        self.places = torch.nn.Parameter(torch.zeros(12, 16))
        layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, activation="gelu", batch_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = torch.nn.Linear(16, 50, bias=False)
        self.head.weight = self.words.weight

    def forward(self, words):
        return self.head(self.layers(self.words(words) + self.places))


def encoder():
    def loss(module, batch):
        scores = module(batch["input"])
        summed = functional.cross_entropy(scores.flatten(0, 1), batch["target"].flatten(), reduction="sum")
        return rekindle.Sum(summed, (batch["target"] >= 0).sum())

    return rekindle.Task(Encoder(), data=Texts(), loss=loss)
