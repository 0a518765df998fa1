"""Measures the rate of all-reduce between local processes, through shared memory and loopback TCP, beside Gloo."""
import functools
import json
import os
import statistics
import subprocess
import sys

from _bench_json import HIGHER, Report, peers_folder, program
from _options import Options

PROGRAM = "rekindle-bench-allreduce"
# The rate of our all-reduce has to be at least `RATIO` times that of Gloo, for sizes from 1 MiB on.
RATIO = {"shm": 2.0, "tcp": 1.2}
# `SIZES` are in MiB, and `WORLDS` are numbers of processes.
SIZES, WORLDS = "1,16,64,256", "2,4"
# With --smoke, each size is divided by `SMOKE_SHARE`.
SMOKE_SHARE = 64


def metrics(worlds, sizes):
    return {f"{transport}_{world}_processes_{size}_mib": HIGHER
            for transport in RATIO for world in worlds for size in sizes}


def numbers(text):
    return [int(word) for word in text.split(",")]


METRICS = metrics(numbers(WORLDS), numbers(SIZES))


def last_json(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "GLOO_SOCKET_IFNAME": "lo"})
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(command)} exited with {done.returncode}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def gloo(peers, world, sizes):
    """Returns the median seconds that an all-reduce takes with Gloo, by size in MiB."""
    got = last_json(sys.executable, str(peers / "allreduce.py"), "--worlds", str(world), "--rounds", "1",
                    "--sizes", ",".join(map(str, sizes)))
    return {size: got[f"world{world}"][f"{size}MiB"]["median_s"] for size in sizes}


def ours(world, transport, sizes, smoke):
    played = {size: max(1, size // SMOKE_SHARE) if smoke else size for size in sizes}
    got = last_json(program(PROGRAM), "--world", str(world), "--transport", transport,
                    "--mib", ",".join(map(str, sorted(set(played.values())))))
    return {size: statistics.median(got[str(played[size])]) for size in sizes}


def main():
    p = Options("allreduce", __doc__)
    p.add_argument("--sizes", default=SIZES, help="MiB, comma separated")
    p.add_argument("--worlds", default=WORLDS, help="processes, comma separated")
    p.size("rounds", 5, smoke=1, turn=1, text="interleaved repetitions of ours and the peer")
    args = p.parse()
    sizes, worlds = numbers(args.sizes), numbers(args.worlds)
    report, peers = Report("allreduce", metrics(worlds, sizes), args), args.peers and peers_folder()

    seconds, limits = {}, []
    for round_ in range(args.rounds):
        limits.append(last_json(program(PROGRAM), "--limits"))
        for world in worlds:
            runs = {name: functools.partial(ours, world, name, sizes, args.smoke) for name in RATIO}
            if peers:
                runs["gloo"] = lambda: gloo(peers, world, sizes)
            for name, run in runs.items():
                for size, median in run().items():
                    seconds.setdefault((name, world, size), []).append(median)
                print(f"round {round_ + 1}/{args.rounds}: {world} processes, {name}", file=sys.stderr)

    limit = {"shm": statistics.median(l["memcpy_gb_s"] for l in limits),
             "tcp": statistics.median(l["loopback_gb_s"] for l in limits)}

    def bus(name, world, size):
        """Returns the bytes a second that each process sends, which can be compared between numbers of processes."""
        if (name, world, size) not in seconds:
            return None
        return size * 2**20 * 2 * (world - 1) / world / statistics.median(seconds[name, world, size]) / 1e9

    for transport in RATIO:
        for world in worlds:
            for size in sizes:
                report.add(f"{transport}_{world}_processes_{size}_mib", bus(transport, world, size), "GB/s",
                           peer=bus("gloo", world, size), target_ratio=RATIO[transport], limit=limit[transport])
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
