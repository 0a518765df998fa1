"""Copies gradients into a slot while backward runs, and tells which of them are complete.

A hook of Python for every parameter would cost more than the copies. So only a few parameters, the marks, have one. It
copies all gradients that are there by then, in one call. They are complete: within one backward, PyTorch sums the
parts of a gradient before it stores it. This does not hold where backward calls itself, as reentrant checkpoints do.
Therefore the first backward counts how often each gradient is stored, and those that come several times are copied
only at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from rekindle.errors import Refused

# There is a mark each time so many elements of the flat memory have passed.
ELEMENTS_PER_MARK = 256 * 1024


class Gradients:
    """Takes the gradients of one backward after another. `announce` is called with the numbers of parameters whose
    gradients are in the slot."""

    def __init__(self, parameters: Sequence[torch.nn.Parameter], names: Sequence[str],
                 announce: Callable[[list[int]], None]) -> None:
        self._parameters = list(parameters)
        self._names = list(names)
        self._announce = announce
        self._targets: Sequence[torch.Tensor] = ()
        # `_left` has the parameters whose gradients have not been seen. Backward delivers the last ones first.
        self._left: list[int] = []
        self._taken: list[int] = []
        self._late: set[int] = set()
        self._stored = [0] * len(parameters)
        self._learned = False
        self._running = False

    def check_none(self) -> None:
        """Refuses gradients from before our backward. They would not be scaled, and be announced too early."""
        for number, parameter in enumerate(self._parameters):
            if parameter.grad is not None:
                self.forget()
                raise Refused(f"the loss has called backward() itself: {self._names[number]} has a gradient; return "
                              "the loss without calling backward(), because Rekindle calls it", kind="loss",
                              parameter=self._names[number])

    def run(self, loss: torch.Tensor, scale: torch.Tensor, targets: Sequence[torch.Tensor]) -> None:
        """Runs backward from `loss` and puts each gradient, times `scale`, into its part of `targets`."""
        self._targets = targets
        self._taken = []
        self._left = [number for number in reversed(range(len(self._parameters))) if number not in self._late]
        counting = [] if self._learned else self._count_stores()
        self._running = self._learned
        try:
            torch.autograd.backward(loss, scale)
            self._running = False
            if not self._learned:
                self._learn()
            self._check_once()
            self._left += sorted(self._late, reverse=True)
            self._take()
        except BaseException:
            self._running = False
            self.forget()
            raise
        finally:
            counting.clear()

    def forget(self) -> None:
        """Drops all gradients that PyTorch holds."""
        for parameter in self._parameters:
            parameter.grad = None

    def _count_stores(self) -> list[torch.autograd.graph.Node]:
        """Has every storing of a gradient counted, as long as the returned nodes live.

        A hook of the parameter itself would cost time in every later backward, even after it was removed."""
        def counter(number: int) -> Callable[..., None]:
            def count(*_: object) -> None:
                self._stored[number] += 1
            return count

        self._stored = [0] * len(self._parameters)
        nodes = []
        for number, parameter in enumerate(self._parameters):
            nodes.append(torch.autograd.graph.get_gradient_edge(parameter).node)
            nodes[-1].register_hook(counter(number))
        return nodes

    def _learn(self) -> None:
        """Notes which gradients were stored several times, and sets the marks among the others."""
        self._learned = True
        self._late = {number for number, stored in enumerate(self._stored) if stored > 1}
        self._left = [number for number in self._left if number not in self._late]
        passed = 0
        for number in reversed(range(len(self._parameters))):
            passed += self._parameters[number].numel()
            if passed >= ELEMENTS_PER_MARK and number and number not in self._late:
                passed = 0
                mark = self._parameters[number]
                mark.register_post_accumulate_grad_hook(self._at_mark)  # type: ignore[no-untyped-call]

    def _at_mark(self, _: torch.Tensor) -> None:
        if self._running:
            self._take()

    def _take(self) -> None:
        """Copies the gradients that are there and have not been copied."""
        left, numbers, gradients = [], [], []
        for number in self._left:
            gradient = self._parameters[number].grad
            if gradient is None:
                left.append(number)
            else:
                numbers.append(number)
                gradients.append(gradient)
        if not numbers:
            return
        self._left = left
        try:
            torch._foreach_copy_([self._targets[number] for number in numbers], gradients)
        except RuntimeError:
            self._refuse_sparse(numbers, gradients)
            raise
        for number in numbers:
            self._parameters[number].grad = None
        self._taken += numbers
        self._announce(numbers)

    def _refuse_sparse(self, numbers: list[int], gradients: list[torch.Tensor]) -> None:
        for number, gradient in zip(numbers, gradients):
            if gradient.layout != torch.strided:
                raise Refused(f"the gradient of {self._names[number]} is sparse; make its module with sparse=False",
                              kind="exception", parameter=self._names[number]) from None

    def _check_once(self) -> None:
        """Refuses a gradient that came again after it was announced. The next attempt copies it at the end."""
        for number in self._taken:
            if self._parameters[number].grad is not None:
                self._late.add(number)
                raise Refused(f"{self._names[number]} got a gradient again after it was complete, as it did not in the "
                              "first micro-batch; call torch.utils.checkpoint with use_reentrant=False",
                              parameter=self._names[number], kind="exception")
