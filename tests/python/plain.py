"""Computes micro-batches without Rekindle, for comparison."""

from rekindle import data_worker, randomness


class Plain:
    """Computes micro-batches as a script does: one process, one loop, ordinary tensors.

    `count` is that of the micro-batch that was computed last."""

    def __init__(self, task, seed=7):
        randomness.seed_task(seed)
        self.seed = seed
        self.task = task()
        self.count = 0

    def compute(self, samples, step=0, index=0, first=0):
        module = self.task.module
        module.zero_grad()
        batch = data_worker.Reader(self.task, self.seed, ".").batch(False, first, samples)
        randomness.seed_all(randomness.forward_key(self.seed, step, index))
        result = self.task.loss(module, batch)
        self.count = int(result.count)
        result.loss_sum.backward()
        gradients = {name: parameter.grad for name, parameter in module.named_parameters()
                     if parameter.grad is not None}
        return float(result.loss_sum.detach()), gradients
