"""Finds a free port, and reads the metrics that a program serves on one."""
import pathlib
import random
import socket
import urllib.request

# The system gives connections their local ports from this range.
RANGE = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")
LOWEST = 10240
# `GIVEN` has the ports that this process was given. Some of them have no listener yet.
GIVEN = set()


def free_port():
    """Returns a port on which nobody listened a moment ago, and which it has not returned before.

    Where the system leaves room below the ports of connections, it is from there. Else a connection, often one of the
    very program that is to listen, could take the port first."""
    candidates = range(LOWEST, int(RANGE.read_text().split()[0]))
    while True:
        port = random.SystemRandom().choice(candidates) if len(candidates) >= 1000 else 0
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
            port = s.getsockname()[1]
        if port not in GIVEN:
            GIVEN.add(port)
            return port


def metrics_page(port):
    """Returns what a program serves to Prometheus on loopback."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return answer.read().decode()


def metric(port, name):
    """Returns the sum of a metric over its labels."""
    lines = metrics_page(port).splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.split("{")[0].split(" ")[0] == name)
