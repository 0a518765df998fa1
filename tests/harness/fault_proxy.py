"""Runs an HTTP proxy between a client and an object store that spoils answers on command.

    with FaultProxy(upstream_port) as proxy:
        proxy.spoil("reset", times=2, method="PUT", path=r"partNumber=2")
        ... the client talks to 127.0.0.1:proxy.port ...

Requests pass unchanged, Host included, so that signatures hold. A fault is for the next `times` requests that match, or
for all until heal() where `times` is None. These are the kinds of fault:

    status   answers with `status` and `code` in the clouds' XML, and sends nothing on
    slowdown answers 503 with SlowDown
    reset    resets the connection in the middle of the request's body, or of the answer's where there is none
    short    breaks the answer off half-way, with the length of the whole
    endless  sends an answer without a length that never ends
    hang     does not answer until heal()
    etag     answers with another ETag
    lost     says that the object is stored, but does not send it on
    flip     changes one bit of the request's body
    call     calls `before()`, sends the request on, then calls `after()`; False from either ends the answer

The first `skip` requests that match pass unspoiled. Only the standard library is used.
"""
import collections
import http.client
import re
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOP = {"connection", "keep-alive", "transfer-encoding", "te", "upgrade", "proxy-connection"}
PIECE = 1 << 16
ENDLESS_PIECES_A_SECOND = 200

Fault = collections.namedtuple("Fault", "kind method path options skip left")


class FaultProxy:
    def __init__(self, upstream_port, upstream_host="127.0.0.1"):
        self.upstream = (upstream_host, upstream_port)
        self.lock = threading.Lock()
        self.faults, self.requests, self.spoiled = [], [], []
        self.healed = threading.Event()
        self.calling, self.called = 0, threading.Condition(self.lock)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), SpoilingHandler)
        self.server.proxy = self
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.heal()
        self.server.shutdown()
        self.server.server_close()

    def spoil(self, kind, times=1, method="", path="", skip=0, **options):
        with self.lock:
            self.healed.clear()
            self.faults.append(Fault(kind, re.compile(method), re.compile(path), options, [skip], [times]))

    def heal(self):
        with self.lock:
            self.faults.clear()
            self.healed.set()

    def await_calls(self):
        """Waits until no request is left whose before() or after() may still be called. Call heal() first."""
        with self.called:
            self.called.wait_for(lambda: self.calling == 0)

    def take(self, method, path):
        """Returns the fault for a request with this method and path, or None."""
        with self.lock:
            self.requests.append((method, path))
            for fault in self.faults:
                if fault.left[0] != 0 and fault.method.search(method) and fault.path.search(path):
                    if fault.skip[0] > 0:
                        fault.skip[0] -= 1
                        continue
                    if fault.left[0] is not None:
                        fault.left[0] -= 1
                    self.spoiled.append((fault.kind, method, path))
                    self.calling += fault.kind == "call"
                    return fault
        return None

    def end(self, fault):
        """Notes that the request with this fault is over, however it went."""
        if fault and fault.kind == "call":
            with self.called:
                self.calling -= 1
                self.called.notify_all()


class ForwardingHandler(BaseHTTPRequestHandler):
    """Reads a request, sends it on and answers it."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True

    def length(self):
        return int(self.headers.get("Content-Length") or 0)

    def body(self):
        # If the client expects "100-continue", http.server has sent it that answer already.
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(self.length())
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        # The trailers of a chunked body are dropped. The server still accepts the content, whose parts have signatures.
        return b"".join(parts)

    def forward(self, body):
        connection = http.client.HTTPConnection(*self.server.proxy.upstream, timeout=60)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in HOP | {"content-length", "expect"}:
                connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        content = answer.read()
        headers = [(n, v) for n, v in answer.getheaders() if n.lower() not in HOP | {"content-length"}]
        length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
        connection.close()
        return answer.status, headers, content, length

    def start(self, status, headers, length):
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        if length is not None:
            self.send_header("Content-Length", length)
        self.end_headers()

    def answer(self, status, headers, content, length):
        self.start(status, headers, length)
        self.wfile.write(b"" if self.command == "HEAD" else content)

    def reset(self):
        # With a linger time of 0 the kernel sends a reset instead of closing the connection properly.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()


class SpoilingHandler(ForwardingHandler):
    """Answers a request with what the upstream server answers, spoiled by the fault that the proxy has for it, if any.

    The method `spoil_KIND` makes faults of that kind. `server.proxy` is the proxy."""

    def do(self):
        fault = self.server.proxy.take(self.command, self.path)
        try:
            self.serve(fault)
        finally:
            self.server.proxy.end(fault)

    def serve(self, fault):
        spoil = getattr(self, f"spoil_{fault.kind}") if fault else None
        if fault and fault.kind == "reset" and self.length() > 0:
            self.rfile.read(self.length() // 2)
            return self.reset()
        body = self.body()
        if spoil is None:
            return self.answer(*self.forward(body))
        return spoil(body, **fault.options)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = do_PATCH = do

    def spoil_status(self, _, status=503, code="ServiceUnavailable", headers=()):
        content = f"<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()
        self.answer(status, [("Content-Type", "application/xml"), *headers], content, str(len(content)))

    def spoil_slowdown(self, body):
        self.spoil_status(body, 503, "SlowDown")

    def spoil_reset(self, body):
        status, headers, content, length = self.forward(body)
        self.start(status, headers, length)
        self.wfile.write(content[:len(content) // 2])
        self.wfile.flush()
        self.reset()

    def spoil_short(self, body):
        status, headers, content, length = self.forward(body)
        self.answer(status, headers, content[:len(content) // 2], length)
        self.close_connection = True

    def spoil_endless(self, body):
        status, headers, content, _ = self.forward(body)
        self.close_connection = True
        self.start(status, [*headers, ("Connection", "close")], None)
        self.wfile.write(content)
        while not self.server.proxy.healed.wait(1 / ENDLESS_PIECES_A_SECOND):
            self.wfile.write(b"x" * PIECE)

    def spoil_hang(self, _):
        self.server.proxy.healed.wait(600)
        self.close_connection = True

    def spoil_etag(self, body):
        status, headers, content, length = self.forward(body)
        headers = [(n, '"0123456789abcdef0123456789abcdef"' if n.lower() == "etag" else v) for n, v in headers]
        self.answer(status, headers, content, length)

    def spoil_lost(self, _):
        self.answer(200, [("ETag", '"0123456789abcdef0123456789abcdef"')], b"", "0")

    def spoil_call(self, body, before=None, after=None):
        if before and before() is False:
            return self.reset()
        answer = self.forward(body)
        if after and after() is False:
            return self.reset()
        return self.answer(*answer)

    def spoil_flip(self, body):
        spoiled = bytearray(body)
        if spoiled:
            spoiled[len(spoiled) // 2] ^= 1
        self.answer(*self.forward(bytes(spoiled)))
