"""Prints the median microseconds of a control round trip to a model process, and the seconds of task(), as JSON.

usage: _round_trip.py TASK ROUND-TRIPS"""
import json
import statistics
import sys
import tempfile
import time

import torch

import _own_tasks
from rekindle import messages
from rekindle.peer import Peer


def main(name, count):
    torch.set_num_threads(1)
    begin = time.perf_counter()
    getattr(_own_tasks, name)()
    task_seconds = time.perf_counter() - begin
    with tempfile.TemporaryDirectory() as folder:
        peer = Peer({"protocol": 1, "task": f"_own_tasks:{name}", "folder": sys.path[0], "seed": 1,
                     "precision": "fp32", "device": "cpu", "threads": 1, "exact": False, "data_workers": 1,
                     "prefetch": 0}, folder, "program")
        told = peer.configure()
        seconds = []
        for number in range(int(count)):
            begin = time.perf_counter()
            peer.channel.send(messages.Ping(number))
            peer.receive()
            seconds.append(time.perf_counter() - begin)
        peer.close()
    parameters = sum(entry["size"] for entry in told["layout"] if entry["kind"] == "parameter")
    print(json.dumps({"microseconds": 1e6 * statistics.median(seconds), "task_seconds": task_seconds,
                      "parameters": parameters}))


if __name__ == "__main__":
    main(*sys.argv[1:])
