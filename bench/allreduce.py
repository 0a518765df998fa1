"""Bytes a second of an all-reduce between local processes, through shared memory and loopback TCP, beside Gloo."""
import argparse
import json
import os
import statistics
import subprocess
import sys

from _bench_json import Report, peers_folder, program

PROGRAM = "rekindle-bench-allreduce"
RATIO = {"shm": 2.0, "tcp": 1.2}   # To Gloo, from 1 MiB on.


def last_json(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "GLOO_SOCKET_IFNAME": "lo"})
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(command)} exited with {done.returncode}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def gloo(peers, world, sizes):
    """Median seconds by size, and the peer's own figures of the limits."""
    got = last_json(sys.executable, str(peers / "allreduce.py"), "--worlds", str(world), "--rounds", "1",
                    "--sizes", ",".join(map(str, sizes)))
    return {size: got[f"world{world}"][f"{size}MiB"]["median_s"] for size in sizes}


def ours(world, transport, sizes):
    got = last_json(program(PROGRAM), "--world", str(world), "--transport", transport, "--mib", ",".join(map(str, sizes)))
    return {size: statistics.median(got[str(size)]) for size in sizes}


def main():
    p = argparse.ArgumentParser(prog="scripts/bench allreduce", description=__doc__)
    p.add_argument("--report", metavar="FILE")
    p.add_argument("--sizes", default="1,16,64,256", help="MiB, comma separated")
    p.add_argument("--worlds", default="2,4", help="processes, comma separated")
    p.add_argument("--rounds", type=int, default=5, help="interleaved repetitions of ours and the peer")
    args = p.parse_args()
    sizes = [int(s) for s in args.sizes.split(",")]
    worlds = [int(w) for w in args.worlds.split(",")]
    report, peers = Report("allreduce"), peers_folder()

    seconds, limits = {}, []
    for round_ in range(args.rounds):
        limits.append(last_json(program(PROGRAM), "--limits"))
        for world in worlds:
            runs = {"shm": lambda: ours(world, "shm", sizes), "tcp": lambda: ours(world, "tcp", sizes)}
            if peers:
                runs["gloo"] = lambda: gloo(peers, world, sizes)
            for name, run in runs.items():
                for size, median in run().items():
                    seconds.setdefault((name, world, size), []).append(median)
                print(f"round {round_ + 1}/{args.rounds}: {world} processes, {name}", file=sys.stderr)

    limit = {"shm": statistics.median(l["memcpy_gb_s"] for l in limits),
             "tcp": statistics.median(l["loopback_gb_s"] for l in limits)}

    def bus(name, world, size):
        """The rate at which each process's link carries an all-reduce, independent of the number of processes."""
        if (name, world, size) not in seconds:
            return None
        return size * 2**20 * 2 * (world - 1) / world / statistics.median(seconds[name, world, size]) / 1e9

    for transport in ("shm", "tcp"):
        for world in worlds:
            for size in sizes:
                report.add(f"{transport}_{world}_processes_{size}_mib", bus(transport, world, size), "GB/s",
                           peer=bus("gloo", world, size), target_ratio=RATIO[transport], limit=limit[transport])
    return report.finish(args.report)


if __name__ == "__main__":
    sys.exit(main())
