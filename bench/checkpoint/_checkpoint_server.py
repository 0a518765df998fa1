"""Starts the object stores that the checkpoint bench writes to."""
import contextlib
import threading


class Servers:
    """Starts object stores on demand. A full run has one at a time, a small run keeps all of them until its end."""

    def __init__(self, args, folder):
        self.shared, self.folder, self.lock = args.smoke, folder, threading.Lock()
        self.kept, self.running = contextlib.ExitStack(), {}

    @contextlib.contextmanager
    def running_in(self, folder, kind):
        """Yields a running server of the class `kind`."""
        if not self.shared:
            with kind(folder) as server:
                yield server
            return
        with self.lock:
            if kind not in self.running:
                self.running[kind] = self.kept.enter_context(kind(self.folder / kind.__name__))
        yield self.running[kind]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kept.close()
