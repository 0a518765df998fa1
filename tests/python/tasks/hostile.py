"""Tasks that break the rules of the conversation with the trainer. They patch the package in their own process."""

import gc
import sys

from rekindle import child, messages, model_process

from models import memory, perceptron


def running():
    """Returns the class that holds the conversation in this process."""
    return getattr(sys.modules["__main__"], "Child", child.Child)


def announces_twice():
    original = model_process.Model._announce_all

    def twice(self, numbers):
        original(self, numbers)
        original(self, numbers)

    model_process.Model._announce_all = twice
    return perceptron()


def announces_nothing():
    """Says without end that gradients are there, and names none."""
    def endless(self, asked):
        while True:
            self._channel.send(messages.Gradients(asked.request, ()))

    running()._compute = endless
    return perceptron()


def floods():
    """Sends notes without end."""
    def endless(self, asked):
        while True:
            self._channel.send(messages.Note({"text": "still here"}))

    running()._compute = endless
    return perceptron()


def counts_much():
    original = model_process.Model.compute

    def much(self, asked, batch, waited):
        done = original(self, asked, batch, waited)
        done.count = 1 << 60
        return done

    model_process.Model.compute = much
    return perceptron()


def hides_buffers():
    """Never says what the buffers are."""
    original = model_process.Model.__init__

    def hiding(self, *arguments):
        original(self, *arguments)
        self._buffer_numbers = ()

    model_process.Model.__init__ = hiding
    return memory()


def notes_much():
    """Says very often what it does before it describes its module."""
    conversation = next(one for one in gc.get_objects() if type(one) is running())
    for number in range(20_000):
        conversation._note(f"note {number}")
    return perceptron()
