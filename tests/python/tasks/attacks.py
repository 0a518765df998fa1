"""Tries what code of a user must not be able to do, and writes what came of it: the attacks of isolation_test.

The file attacks.json beside this one has what to attack."""

import json
import os
import pathlib
import signal
import socket
import time

from models import perceptron

TARGETS = json.loads((pathlib.Path(__file__).parent / "attacks.json").read_text())


def outcome(attack, *arguments):
    """Says what stopped the attack, or that nothing did."""
    try:
        attack(*arguments)
    except (OSError, MemoryError) as error:
        return type(error).__name__
    return "nothing"


def read(path):
    with open(path, "rb") as file:
        file.read(1)


def connect(path):
    with socket.socket(socket.AF_UNIX) as end:
        end.connect(path)


def fork_many():
    pids = []
    try:
        for _ in range(10_000):
            pid = os.fork()
            if pid == 0:
                time.sleep(600)
                os._exit(0)
            pids.append(pid)
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        for pid in pids:
            os.waitpid(pid, 0)


def run_away():
    """Leaves a process that has left its group and its parent."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                time.sleep(1)
        os._exit(0)


def quick():
    """Tries everything that fails at once."""
    for path in TARGETS["files"]:
        print(f"attack read {path}: {outcome(read, path)}", flush=True)
    for path in TARGETS["folders"]:
        print(f"attack list {path}: {outcome(os.listdir, path)}", flush=True)
    for path in TARGETS["sockets"]:
        print(f"attack connect {path}: {outcome(connect, path)}", flush=True)
    for pid in TARGETS["pids"]:
        for name in ("environ", "mem", "fd/0"):
            print(f"attack read /proc/{pid}/{name}: {outcome(read, f'/proc/{pid}/{name}')}", flush=True)
        print(f"attack kill {pid}: {outcome(os.kill, pid, signal.SIGKILL)}", flush=True)
    print(f"attack fork: {outcome(fork_many)}", flush=True)
    print(f"value {os.environ['TEST_TOKEN']}", flush=True)
    run_away()
    print("attacks done", flush=True)
    return perceptron()


def disk():
    """Writes files until something stops it."""
    number = 0
    while True:
        with open(os.path.join(os.environ["TMPDIR"], f"big{number}"), "wb") as file:
            for _ in range(64):
                file.write(b"x" * (1 << 20))
        number += 1


def log():
    """Writes 1 GB of log."""
    line = "x" * 1023
    for _ in range(1 << 20):
        print(line)
    print("log done", flush=True)
    return perceptron()


def secret():
    raise ValueError(f"the token {os.environ['TEST_TOKEN']} is wrong")
