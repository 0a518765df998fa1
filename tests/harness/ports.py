"""Finds a free port, and reads the metrics that a program serves on one."""
import socket
import urllib.request


def free_port():
    """Returns a port that was free a moment ago. Another process can still take it before our program does."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def metrics_page(port):
    """Returns what a program serves to Prometheus on loopback."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return answer.read().decode()


def metric(port, name):
    """Returns the sum of a metric over its labels."""
    lines = metrics_page(port).splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.split("{")[0].split(" ")[0] == name)
