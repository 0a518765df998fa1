"""The object stores that the checkpoint bench starts."""
import contextlib
import threading


class Servers:
    """A full run has one server at a time; a small one, which does all at once, keeps those that it has started."""

    def __init__(self, args, folder):
        self.shared, self.folder, self.lock = args.smoke, folder, threading.Lock()
        self.kept, self.running = contextlib.ExitStack(), {}

    @contextlib.contextmanager
    def running_in(self, folder, kind):
        """A server of that kind."""
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
