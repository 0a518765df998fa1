"""Holds what the model process does at the moment, for the thread that answers pings."""

IDLE, FORWARD, BACKWARD, WAITS_FOR_DATA, LOADING = range(5)


class State:
    """`code` is one of the numbers above. The main thread writes it, and any thread reads it."""

    __slots__ = ("code",)

    def __init__(self) -> None:
        self.code = LOADING
