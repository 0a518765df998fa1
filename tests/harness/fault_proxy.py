"""An HTTP proxy between a client and an object store that spoils answers on command. Standard library only.

    with FaultProxy(upstream_port) as proxy:
        proxy.spoil("reset", times=2, method="PUT", path=r"partNumber=2")
        ... the client talks to 127.0.0.1:proxy.port ...

Requests pass unchanged, Host included, so that signatures hold. Kinds of fault, each for the next `times` requests that
match (None: until heal()):

    status   an answer of `status` with `code` in the clouds' XML, and nothing sent on
    slowdown 503 with SlowDown
    reset    the connection is reset in the middle of the request's body, or of the answer's where there is none
    short    an answer that breaks off half-way, with the length of the whole
    endless  an answer without a length that never ends
    hang     no answer until heal()
    etag     an answer with another ETag
    lost     said to be stored, but not sent on
    flip     one bit of the request's body changed
    call     `before()` is called, then the request is sent on, then `after()`; False of either: no (more) answer

The first `skip` requests that match pass unspoiled.
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
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
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
        """Until no request is left whose before() or after() may still be called. After heal()."""
        with self.called:
            self.called.wait_for(lambda: self.calling == 0)

    def take(self, method, path):
        """The fault of this request, or None."""
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
        """However that request went."""
        if fault and fault.kind == "call":
            with self.called:
                self.calling -= 1
                self.called.notify_all()

    def handler(proxy):  # noqa: N805 the handler's own self is another one
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def handle_one_request(self):
                try:
                    super().handle_one_request()
                except OSError:
                    self.close_connection = True

            def do(self):
                fault = proxy.take(self.command, self.path)
                try:
                    self.serve(fault)
                finally:
                    proxy.end(fault)

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

            def length(self):
                return int(self.headers.get("Content-Length") or 0)

            def body(self):
                if self.headers.get("Expect", "").lower() == "100-continue":
                    pass  # http.server has answered it.
                if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
                    return self.rfile.read(self.length())
                parts = []
                while size := int(self.rfile.readline().split(b";")[0], 16):
                    parts.append(self.rfile.read(size))
                    self.rfile.readline()
                while self.rfile.readline().strip():
                    pass    # Trailers. Content that has them is signed by its parts.
                return b"".join(parts)

            def forward(self, body):
                connection = http.client.HTTPConnection(*proxy.upstream, timeout=60)
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
                # Linger of 0: the kernel sends a reset instead of the usual farewell.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                self.connection.close()

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
                while not proxy.healed.wait(1 / ENDLESS_PIECES_A_SECOND):
                    self.wfile.write(b"x" * PIECE)

            def spoil_hang(self, _):
                proxy.healed.wait(600)
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

        return Handler
