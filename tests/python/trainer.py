"""Plays the trainer's side of the protocol with a model process. It is a rekindle.peer.Peer with what tests need: short
deadlines, gradients by the name of the parameter, and failures that are returned and not raised."""

import os
import pathlib
import time

from rekindle import messages
from rekindle.peer import Failure, Peer, await_end, new_memory

__all__ = ["TASKS", "Failure", "Trainer", "await_end", "memory", "processes_below"]
TASKS = pathlib.Path(__file__).resolve().parent / "tasks"
# Nothing here takes so long unless it hangs.
DEADLINE = 60
memory = new_memory


def processes_below(pid, ended=False):
    """Returns the processes that `pid` has forked and that are still there, or that it has not waited for."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                stat = pathlib.Path(f"/proc/{name}/stat").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue
            state, parent = stat.rpartition(")")[2].split()[:2]
            if int(parent) == pid and (state == "Z") == ended:
                found.append(int(name))
    return found


class Answer:
    """Holds what the model process answered to Compute. `gradients` has what it named, by name."""

    def __init__(self, done, gradients, order):
        self.done = done
        self.gradients = gradients
        self.order = order
        self.loss = done.loss_sum


class Trainer(Peer):
    """Is a Peer that names parameters, and waits only as long as a test may."""

    def __init__(self, task, scratch, start="fork", **settings):
        """`scratch` is a folder for the files of the process, and `settings` are those of Configure."""
        super().__init__({"protocol": 1, "task": task, "folder": str(TASKS), "seed": 7, "precision": "fp32",
                          "device": "cpu", "threads": 1, "exact": False, "data_workers": 1, "prefetch": 2,
                          **settings}, scratch, start)

    def receive(self, seconds=DEADLINE):
        return super().receive(seconds)

    def configure(self):
        """Returns what Ready says, or else what Failed says."""
        try:
            return super().configure()
        except Failure as failure:
            return failure.fields

    def begin(self):
        """Configures, and binds slots and the initial weights."""
        told = self.configure()
        if "layout" not in told:
            raise Failure(told)
        self.bind(self.initial())
        return self

    def part(self, flat, name):
        entry = self.layout[self.names.index(name)]
        return flat[entry["offset"]:entry["offset"] + entry["size"]].view(entry["shape"])

    def compute(self, samples, slot=0, **options):
        self.ask(samples, slot=slot, **options)
        answer = self.answer()
        order = [self.names[number] for number in answer.numbers]
        return Answer(answer.done, {name: self.part(self.slots[slot], name).clone() for name in order}, order)

    def failure(self, samples, **options):
        """Returns what the process says of a micro-batch that it cannot compute."""
        try:
            self.compute(samples, **options)
        except Failure as failure:
            return failure.fields
        raise AssertionError("the micro-batch was computed")

    def evaluate(self, samples, index=0):
        self.requests += 1
        self.channel.send(messages.Evaluate(self.requests, index, tuple(samples)))
        return self.receive()

    def expect(self, batches, step=0, first=0):
        self.channel.send(messages.Expect(step, tuple(
            messages.Expected(index, first, tuple(samples)) for index, samples in batches)))

    def ping(self, token=5):
        self.channel.send(messages.Ping(token))
        pong = self.receive()
        assert isinstance(pong, messages.Pong) and pong.token == token, pong
        return pong

    def await_state(self, state):
        """Waits until the main thread of the process is in `state`."""
        end = time.monotonic() + DEADLINE
        while self.ping().state != state:
            if time.monotonic() > end:
                raise TimeoutError(f"the model process does not come into state {state}; it wrote: {self.output()}")
