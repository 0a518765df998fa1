"""Fakes version 2 of Amazon EC2's instance metadata service on loopback.

It has tokens that expire, a spot interruption, a rebalance recommendation, and silence. Only the standard library is
used.

    with metadata.Ec2() as ec2:
        worker_flags = ec2.flags
        ec2.interrupt(120)
"""
import datetime
import http.server
import json
import secrets
import threading
import time


class Ec2:
    def __init__(self, token_seconds=21600):
        # A token lives at most `token_seconds`, so that a test need not wait six hours.
        self.token_seconds = token_seconds
        self.documents = {}
        # `tokens` maps a token to the time at which it ends.
        self.tokens = {}
        self.answers = True
        self.asked = 0
        self.released = threading.Event()

    def __enter__(self):
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_PUT(self):
                if service.silent():
                    return
                seconds = int(self.headers.get("X-aws-ec2-metadata-token-ttl-seconds", 0))
                if self.path != "/latest/api/token" or not 1 <= seconds <= 21600:
                    return self.reply(400)
                token = secrets.token_urlsafe(32)
                service.tokens[token] = time.monotonic() + min(seconds, service.token_seconds)
                self.reply(200, token)

            def do_GET(self):
                if service.silent():
                    return
                if service.tokens.get(self.headers.get("X-aws-ec2-metadata-token"), 0) < time.monotonic():
                    return self.reply(401)
                document = service.documents.get(self.path.removeprefix("/latest/meta-data/"))
                self.reply(200, json.dumps(document)) if document else self.reply(404, "Not Found")

            def reply(self, status, text=""):
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()

    @property
    def flags(self):
        return ["--notices", "aws", "--notice-endpoint", f"aws=http://127.0.0.1:{self.server.server_port}"]

    def silent(self):
        """Counts a request. Returns True, after a long while, when the request is not to be answered."""
        self.asked += 1
        answers = self.answers
        if not answers:
            self.released.wait()
        return not answers

    def interrupt(self, seconds, action="terminate"):
        when = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
        self.documents["spot/instance-action"] = {"action": action, "time": when.strftime("%Y-%m-%dT%H:%M:%SZ")}

    def recommend_rebalance(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        self.documents["events/recommendations/rebalance"] = {"noticeTime": now.strftime("%Y-%m-%dT%H:%M:%SZ")}

    def withdraw(self):
        self.documents.clear()
