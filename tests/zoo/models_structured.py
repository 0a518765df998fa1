"""Models of graphs, sets, formulas and distributions, and losses that compare samples with each other."""

import math

import torch
from torch import nn
from torch.nn import functional

import rekindle
import samples
from registry import model


@model("graph_convolutions")
def graph_convolutions():
    class Graph(nn.Module):
        """Works on one graph for all samples, whose sparse matrix is a buffer that is not in the state."""

        def __init__(self, nodes=10):
            super().__init__()
            ring = torch.arange(nodes)
            edges = torch.stack([ring.repeat(3), torch.cat([ring, (ring + 1) % nodes, (ring + 3) % nodes])])
            weights = torch.full((3 * nodes,), 1 / 3)
            with torch.sparse.check_sparse_tensor_invariants():
                matrix = torch.sparse_coo_tensor(edges, weights, (nodes, nodes)).coalesce()
            self.register_buffer("matrix", matrix, persistent=False)
            self.first, self.second, self.last = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 3)

        def forward(self, x):
            for layer in (self.first, self.second):
                mixed = torch.sparse.mm(self.matrix, x.transpose(0, 1).flatten(1))
                x = functional.relu(layer(mixed.unflatten(1, (len(x), -1)).transpose(0, 1)))
            return self.last(x.amax(1))

    return rekindle.Task(Graph(), data=samples.series(length=10), loss=samples.classify)


@model("message_passing")
def message_passing():
    class Messages(nn.Module):
        """Sums messages along edges. A batch is one large graph, so its size depends on the samples."""

        def __init__(self):
            super().__init__()
            self.edge, self.node = nn.Linear(8, 8), nn.GRUCell(8, 4)
            self.last = nn.Linear(4, 1)

        def forward(self, nodes, edges, owners, graphs):
            for _ in range(2):
                sent = functional.silu(self.edge(torch.cat([nodes[edges[0]], nodes[edges[1]]], 1)))
                nodes = self.node(torch.zeros(len(nodes), 8).index_add(0, edges[1], sent), nodes)
            pooled = torch.zeros(graphs, 4).scatter_reduce(0, owners[:, None].expand(-1, 4), nodes, "mean",
                                                           include_self=False)
            return self.last(pooled)[:, 0]

    def make(number, generator):
        nodes = 3 + number % 5
        edges = torch.randint(0, nodes, (2, 2 * nodes), generator=generator)
        return {"nodes": torch.randn(nodes, 4, generator=generator), "edges": edges, "y": float(nodes)}

    def collate(items):
        begins = torch.tensor([0, *(len(item["nodes"]) for item in items)]).cumsum(0).tolist()
        return {"nodes": torch.cat([item["nodes"] for item in items]), "graphs": len(items),
                "edges": torch.cat([item["edges"] + begin for item, begin in zip(items, begins)], 1),
                "owners": torch.repeat_interleave(torch.tensor([len(item["nodes"]) for item in items])),
                "y": torch.tensor([item["y"] for item in items])}

    def loss(module, batch):
        made = module(batch["nodes"], batch["edges"], batch["owners"], batch["graphs"])
        return rekindle.Sum(functional.smooth_l1_loss(made, batch["y"], reduction="sum"), batch["graphs"])

    return rekindle.Task(Messages(), data=samples.Samples(make), collate=collate, loss=loss)


@model("point_set")
def point_set():
    class Points(nn.Module):
        """Looks at the nearest neighbours of each point, and takes the largest of what it sees."""

        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16))
            self.last = nn.Linear(16, 3)

        def forward(self, x):
            near = torch.cdist(x, x).topk(3, dim=2, largest=False).indices
            others = x[torch.arange(len(x))[:, None, None], near]
            pairs = torch.cat([others, others - x[:, :, None]], 3)
            return self.last(self.layers(pairs).amax((1, 2)))

    return rekindle.Task(Points(), data=samples.series(), loss=samples.classify)


@model("variational_autoencoder")
def variational_autoencoder():
    class Variational(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder, self.decoder = nn.Linear(8, 8), nn.Linear(4, 8)

        def forward(self, x):
            mean, spread = self.encoder(x).chunk(2, 1)
            drawn = torch.distributions.Normal(mean, (0.5 * spread).exp()).rsample()
            return self.decoder(drawn), mean, spread

    def loss(module, batch):
        made, mean, spread = module(batch["x"])
        divergence = -0.5 * (1 + spread - mean.square() - spread.exp()).sum()
        return rekindle.Sum((made - batch["x"]).square().sum() + 0.1 * divergence, len(made))

    return rekindle.Task(Variational(), data=samples.vectors(), loss=loss)


@model("mixture_density")
def mixture_density():
    def loss(module, batch):
        weights, means, spreads = module(batch["x"][:, :7]).chunk(3, 1)
        spreads = functional.softplus(spreads) + 0.1
        score = -0.5 * ((batch["x"][:, 7:] - means) / spreads).square() - spreads.log() - 0.5 * math.log(2 * math.pi)
        return rekindle.Sum(-torch.logsumexp(weights.log_softmax(1) + score, 1).sum(), len(weights))

    module = nn.Sequential(nn.Linear(7, 16), nn.Tanh(), nn.Linear(16, 12))
    return rekindle.Task(module, data=samples.vectors(), loss=loss)


@model("contrastive")
def contrastive():
    class Two(nn.Module):
        """Compares each sample with all others of its micro-batch. Its temperature has no dimensions."""

        def __init__(self):
            super().__init__()
            self.left, self.right = nn.Linear(4, 8), nn.Linear(4, 8)
            self.temperature = nn.Parameter(torch.tensor(1.0))

        def forward(self, x):
            left = functional.normalize(self.left(x[:, :4]), dim=1)
            right = functional.normalize(self.right(x[:, 4:]), dim=1)
            return self.temperature.exp() * left @ right.t()

    def loss(module, batch):
        scores = module(batch["x"])
        wanted = torch.arange(len(scores))
        both = (functional.cross_entropy(each, wanted, reduction="sum") for each in (scores, scores.t()))
        return rekindle.Sum(sum(both) / 2, len(scores))

    return rekindle.Task(Two(), data=samples.vectors(), loss=loss, couples_samples=True)


@model("triplets")
def triplets():
    def make(number, generator):
        return {name: torch.randn(8, generator=generator) + shift for name, shift in
                (("anchor", number % 3), ("near", number % 3), ("far", (number + 1) % 3))}

    def loss(module, batch):
        made = [module(batch[name]) for name in ("anchor", "near", "far")]
        return rekindle.Sum(functional.triplet_margin_loss(*made, margin=2.0, reduction="sum"), len(made[0]))

    module = nn.Sequential(nn.Linear(8, 16), nn.PReLU(), nn.Linear(16, 4))
    return rekindle.Task(module, data=samples.Samples(make), loss=loss)


@model("state_space")
def state_space():
    class Scan(nn.Module):
        """Runs a diagonal state space model, whose states are complex numbers held as real and imaginary parts."""

        def __init__(self, states=6):
            super().__init__()
            self.decay = nn.Parameter(torch.linspace(-2.0, 0.5, states))
            self.angle = nn.Parameter(torch.linspace(0.0, 3.0, states))
            self.into, self.out = nn.Linear(4, states), nn.Linear(2 * states, 3)

        def forward(self, x):
            size = torch.exp(-self.decay.exp())
            real, imaginary = size * self.angle.cos(), size * self.angle.sin()
            one = other = torch.zeros(len(x), len(size))
            for drive in self.into(x).unbind(1):
                one, other = real * one - imaginary * other + drive, real * other + imaginary * one
            return self.out(torch.cat([one, other], 1))

    return rekindle.Task(Scan(), data=samples.series(), loss=samples.classify)


@model("differential_equation")
def differential_equation():
    class Flow(nn.Module):
        """Solves an equation by four steps of Runge and Kutta through the same two layers."""

        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(9, 16), nn.Tanh(), nn.Linear(16, 8))
            self.last = nn.Linear(8, 3)

        def slope(self, time, x):
            return self.layers(torch.cat([x, x.new_full((len(x), 1), time)], 1))

        def forward(self, x, step=0.25):
            for at in range(4):
                one = self.slope(at * step, x)
                two = self.slope((at + 0.5) * step, x + 0.5 * step * one)
                three = self.slope((at + 0.5) * step, x + 0.5 * step * two)
                four = self.slope((at + 1) * step, x + step * three)
                x = x + step / 6 * (one + 2 * two + 2 * three + four)
            return self.last(x)

    return rekindle.Task(Flow(), data=samples.vectors(), loss=samples.classify)


@model("random_field")
def random_field():
    class Field(nn.Module):
        """Scores all taggings of a series of unequal length, as a conditional random field does."""

        def __init__(self, tags=4):
            super().__init__()
            self.scores = nn.Linear(4, tags)
            self.change = nn.Parameter(torch.zeros(tags, tags))

        def forward(self, x, tags):
            scores = self.scores(x)
            chosen = scores.gather(1, tags[:, None]).sum() + self.change[tags[:-1], tags[1:]].sum()
            total = scores[0]
            for score in scores[1:]:
                total = torch.logsumexp(total[:, None] + self.change, 0) + score
            return torch.logsumexp(total, 0) - chosen

    def make(number, generator):
        length = 2 + number % 5
        return torch.randn(length, 4, generator=generator), torch.randint(0, 4, (length,), generator=generator)

    def loss(module, batch):
        return rekindle.Sum(torch.stack([module(x, tags) for x, tags in batch]).sum(), sum(len(x) for x, _ in batch))

    return rekindle.Task(Field(), data=samples.Samples(make), collate=list, loss=loss)


@model("connectionist_classes")
def connectionist_classes():
    def make(number, generator):
        return {"x": torch.randn(4, 16, generator=generator), "letters": 1 + torch.arange(3) * number % 5}

    def loss(module, batch):
        scores = module(batch["x"]).permute(2, 0, 1).log_softmax(2)
        count = len(batch["x"])
        value = functional.ctc_loss(scores, batch["letters"], torch.full((count,), len(scores)),
                                    torch.full((count,), 3), reduction="sum")
        return rekindle.Sum(value, count)

    module = nn.Sequential(nn.Conv1d(4, 12, 3, padding=1), nn.GELU(), nn.Conv1d(12, 6, 3, padding=1))
    return rekindle.Task(module, data=samples.Samples(make), loss=loss)


@model("hypernetwork")
def hypernetwork():
    class Hyper(nn.Module):
        """Makes the weights of another network, one for each sample, and calls it by torch.func."""

        def __init__(self):
            super().__init__()
            self.maker = nn.Linear(8, 8 * 3 + 3)

        def forward(self, x):
            made = self.maker(x)

            def one(weights, point):
                return functional.linear(point, weights[:24].view(3, 8), weights[24:])

            return torch.func.vmap(one)(made, x)

    return rekindle.Task(Hyper(), data=samples.vectors(), loss=samples.classify)


@model("fourier_operator")
def fourier_operator():
    class Spectrum(nn.Module):
        """Weighs frequencies by complex factors, whose real and imaginary parts are parameters of their own."""

        def __init__(self, modes=5):
            super().__init__()
            self.real = nn.Parameter(torch.randn(4, 4, modes) * 0.3)
            self.imaginary = nn.Parameter(torch.randn(4, 4, modes) * 0.3)
            self.beside, self.last = nn.Conv1d(4, 4, 1), nn.Linear(4, 3)

        def forward(self, x):
            x = x.transpose(1, 2)
            spectrum = torch.fft.rfft(x)
            factors = torch.complex(self.real, self.imaginary)
            low = torch.einsum("bik,iok->bok", spectrum[:, :, :factors.shape[2]], factors)
            x = functional.gelu(torch.fft.irfft(low, n=x.shape[2]) + self.beside(x))
            return self.last(x.mean(2))

    return rekindle.Task(Spectrum(), data=samples.series(length=16), loss=samples.classify)
