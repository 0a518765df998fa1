"""Has the models that are measured, each with data that are made from the number of a sample alone."""
import torch
from torch import nn
from torch.nn import functional

import rekindle

CONTEXT, VOCABULARY = 128, 256


class Tokens(torch.utils.data.Dataset):
    def __init__(self, count=4096, context=CONTEXT):
        self.tokens = torch.randint(VOCABULARY, (count, context + 1), generator=torch.Generator().manual_seed(1))

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, number):
        return self.tokens[number]


class Images(torch.utils.data.Dataset):
    def __init__(self, count=512, size=64):
        self.images = torch.randint(256, (count, 3, size, size), dtype=torch.uint8,
                                    generator=torch.Generator().manual_seed(1))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, number):
        return {"x": self.images[number].float().div(255).sub(0.5), "y": number % 10}


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.merge = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        rows, length, width = x.shape
        q, k, v = self.qkv(self.before(x)).view(rows, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.merge(seen.transpose(1, 2).reshape(rows, length, width))
        return x + self.down(functional.gelu(self.up(self.between(x)), approximate="tanh"))


class Gpt(nn.Module):
    """Has the sizes of the built-in model `gpt` with which kills are compared."""

    def __init__(self, layers, heads, width):
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, width), nn.Embedding(CONTEXT, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.last = nn.LayerNorm(width)
        for parameter in self.parameters():
            if parameter.ndim == 2:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, ids):
        x = self.tokens(ids) + self.places.weight[:ids.shape[1]]
        return self.last(self.blocks(x)) @ self.tokens.weight.T


def entropy(logits, wanted):
    return rekindle.Sum(functional.cross_entropy(logits, wanted, reduction="sum"), wanted.numel())


def next_token(module, batch):
    return entropy(module(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())


def gpt():
    return rekindle.Task(Gpt(layers=4, heads=4, width=128), data=Tokens(), loss=next_token)


def small():
    """Takes the place of every model in a run with --smoke."""
    return rekindle.Task(Gpt(layers=1, heads=1, width=16), data=Tokens(count=64), loss=next_token)


def llama():
    """A Llama of Hugging Face with 5 million parameters and random weights."""
    import transformers

    made = transformers.LlamaConfig(vocab_size=VOCABULARY, hidden_size=256, intermediate_size=688, num_hidden_layers=6,
                                    num_attention_heads=8, num_key_value_heads=8, max_position_embeddings=CONTEXT)
    module = transformers.AutoModelForCausalLM.from_config(made)
    return rekindle.Task(module, data=Tokens(), loss=lambda m, batch: entropy(
        m(input_ids=batch[:, :-1], use_cache=False).logits.flatten(0, 1), batch[:, 1:].flatten()))


def resnet():
    import torchvision

    return rekindle.Task(torchvision.models.resnet18(num_classes=10), data=Images(),
                         loss=lambda m, batch: entropy(m(batch["x"]), batch["y"]))
