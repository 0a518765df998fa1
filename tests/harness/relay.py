"""Relays TCP connections over a network that can be cut.

While it is cut, what arrives is held back and nothing is closed, as where packets are dropped. Only the standard
library is used."""
import contextlib
import selectors
import socket
import threading

CHUNK = 1 << 16


class Relay:
    """Relays connections to 127.0.0.1:port on to `target`, a "host:port". A Relay is thread-safe."""

    def __init__(self, target):
        host, port = target.rsplit(":", 1)
        self.target = (host, int(port))
        self.lock = threading.Lock()
        self.cut_off = False
        # `pairs` maps a socket to the one that its bytes go to.
        self.pairs = {}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.selector = selectors.DefaultSelector()
        self.wake_out, self.wake_in = socket.socketpair()
        self.selector.register(self.wake_in, selectors.EVENT_READ)
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.closing = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def cut(self):
        with self.lock:
            self.cut_off = True
        self.wake_out.send(b"x")

    def heal(self):
        """Ends the cut. What was held back is lost, so that both sides connect anew, as after a long silence."""
        with self.lock:
            self.cut_off = False
        self.wake_out.send(b"h")

    def close(self):
        self.closing = True
        self.wake_out.send(b"x")
        self.thread.join()
        for one in (self.wake_in, self.wake_out):
            one.close()

    def run(self):
        while not self.closing:
            for key, _ in self.selector.select():
                if key.fileobj is self.wake_in:
                    if b"h" in self.wake_in.recv(64):
                        self.drop_all()
                    self.listen(not self.cut_off)
                elif key.fileobj is self.listener:
                    self.accept()
                elif key.fileobj in self.pairs:
                    self.forward(key.fileobj)
        self.drop_all()
        for one in (self.listener, self.selector):
            one.close()

    def listen(self, wanted):
        """Starts or stops reading from all sockets. While nothing is read, received bytes stay in the kernel."""
        for side in [self.listener, *self.pairs]:
            registered = side in self.selector.get_map()
            if wanted and not registered:
                self.selector.register(side, selectors.EVENT_READ)
            elif not wanted and registered:
                self.selector.unregister(side)

    def accept(self):
        with contextlib.suppress(OSError):
            near, _ = self.listener.accept()
            try:
                far = socket.create_connection(self.target, timeout=5)
            except OSError:
                near.close()
                return
            for a, b in ((near, far), (far, near)):
                a.settimeout(30)
                self.pairs[a] = b
                self.selector.register(a, selectors.EVENT_READ)

    def forward(self, side):
        try:
            data = side.recv(CHUNK)
            if data:
                self.pairs[side].sendall(data)
                return
        except OSError:
            pass
        self.drop(side)

    def drop(self, side):
        for one in (side, self.pairs.get(side)):
            if one is None or one not in self.pairs:
                continue
            if one in self.selector.get_map():
                self.selector.unregister(one)
            self.pairs.pop(one)
            one.close()

    def drop_all(self):
        for side in list(self.pairs):
            self.drop(side)
