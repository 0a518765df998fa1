"""Drives a test program by one JSON command and one JSON answer per line (checkpoint/testing/probe_commands.h).

Only the standard library is used."""
import json
import os
import select
import subprocess

from programs import program


class Died(Exception):
    """Says that the probe ended without an answer."""


class Probe:
    def __init__(self, name, *args, env=None):
        self.process = subprocess.Popen([program(name), *map(str, args)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, **(env or {})})
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for end in (self.process.stdin, self.process.stdout):
            try:
                end.close()
            # If the probe died before it read the last command, close() tries to write that command again and fails.
            except BrokenPipeError:
                pass

    def send(self, do, **options):
        try:
            self.process.stdin.write(json.dumps({"do": do, **options}) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Died(f"the probe died of {self.process.wait()}") from None

    def answered(self):
        """Returns whether receive() would return without waiting."""
        return bool(select.select([self.process.stdout], [], [], 0)[0])

    def receive(self):
        line = self.process.stdout.readline()
        if not line:
            raise Died(f"the probe died of {self.process.wait()}")
        return json.loads(line)

    def ask(self, do, **options):
        self.send(do, **options)
        return self.receive()
