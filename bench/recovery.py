"""Seconds from kill -9 of one of three trainers to the first new step, beside torchrun elastic and torchft."""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from _bench_json import HIGHER, LOWER, REPO, Report, peers_folder
from _options import Options

sys.path.insert(0, str(REPO / "tests" / "harness"))
from cluster import Cluster, completions, wait_until  # noqa: E402
from step import MODEL, SMALL, job, write_data  # noqa: E402

NODES = ("a", "b", "c")
METRICS = {"recovery_seconds": LOWER, "recovery_seconds_to_torchft": LOWER, "normal_step_seconds": LOWER,
           "completed_steps_redone": LOWER, "recovered": HIGHER, "rejoin_seconds": LOWER,
           "survivors_longest_step_while_rejoining": LOWER}


def await_world(cluster, world, after, steps=1):
    """The time at which a generation of `world` members had completed `steps` steps after a moment."""
    def there():
        seen = {}
        for m in cluster.marks():
            if m["event"] == "step" and m["world"] == world and m["t"] > after:
                seen.setdefault((m["generation"], m["step"]), []).append(m["t"])
        whole = sorted(max(ts) for ts in seen.values() if len(ts) == world)
        return whole[steps - 1] if len(whole) >= steps else None
    return wait_until(there, 60, f"{world} members to step together", poll=0.02)


def one_kill(cluster, victim):
    """Kills the trainer of a node among three; the figures of recovery and of its return."""
    await_world(cluster, 3, time.monotonic(), steps=12)
    before = completions(cluster.marks())
    recent = [t for _, t in sorted(before.items())][-11:]
    normal = statistics.median(b - a for a, b in zip(recent, recent[1:]))
    killed = time.monotonic()
    cluster.nodes[victim].kill_trainers()
    wait_until(lambda: any(t > killed and s > max(before) for s, t in completions(cluster.marks()).items()),
               60, "a new step", poll=0.005)
    back = await_world(cluster, 3, killed, steps=3)
    marks = cluster.marks()
    done = completions(marks)
    reached = max(s for s, t in done.items() if t <= killed)
    first = min(t for s, t in done.items() if s > reached)
    joined = min(m["t"] for m in marks if m["event"] == "step" and m["world"] == 3 and m["t"] > first)
    around = sorted(t for t in done.values() if first <= t <= back)
    redone = {m["step"] for m in marks if m["event"] == "step" and m["t"] > killed and m["step"] <= reached}
    return {"seconds": first - killed, "normal": normal, "redone": len(redone), "rejoin": joined - killed,   # The agent relaunches at once.
            "survivors_longest": max((b - a for a, b in zip(around, around[1:])), default=0.0)}


def ours(args, data):
    rows = []
    with tempfile.TemporaryDirectory(prefix="rekindle-bench-") as folder:
        with Cluster(folder, nodes=NODES) as cluster:
            cluster.start()
            spec = job("recovery", data, 100_000, "exact", len(NODES), SMALL if args.smoke else MODEL)
            spec["spec"]["workers"]["min"] = 1
            spec["spec"]["training"]["micro_batch"] = 2
            cluster.submit(spec)
            for i in range(args.kills):
                rows.append(one_kill(cluster, NODES[i % len(NODES)]))
                print({k: round(v, 3) for k, v in rows[-1].items()}, file=sys.stderr)
            cluster.cli("cancel", "recovery")
    return rows


def peer(peers, script, *args):
    """The last line of a peer's script, as JSON; None where it cannot run."""
    done = subprocess.run([sys.executable, str(peers / script), *args], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(f"{script} failed with {done.returncode}: left out", file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    p = Options("recovery", __doc__)
    p.size("kills", 10, smoke=1, turn=3)
    p.add_argument("--peer-repeats", type=int, default=5)
    args = p.parse()
    report = Report("recovery", METRICS, args)
    peers = args.peers and peers_folder()
    torchrun = torchft = None
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "data.txt"
        write_data(data)
        rows = ours(args, data)
        if peers:
            repeats = ["--repeats", str(args.peer_repeats), "--data", str(data)]
            torchrun = peer(peers, "elastic_recovery.py", "--cases", "A", *repeats)
            torchft = peer(peers, "torchft_recovery.py", "--settings", "1000:1000", *repeats)
    middle = lambda key: statistics.median(r[key] for r in rows)
    seconds = middle("seconds")
    elastic = torchrun and torchrun["A"]["recover"]["seconds"]["median"]
    heartbeat = torchft and torchft["settings"][0]["recover"]["seconds"]["median"]
    report.add("recovery_seconds", seconds, "s", target=middle("normal") + 0.2, peer=elastic, target_ratio=0.08)
    report.add("recovery_seconds_to_torchft", seconds, "s", peer=heartbeat, target_ratio=0.25)
    report.add("normal_step_seconds", middle("normal"), "s")
    report.add("completed_steps_redone", max(r["redone"] for r in rows), "steps", target=0,
               peer=torchrun and torchrun["A"]["recover"]["redone"]["median"])
    report.add("recovered", len(rows), "kills", target=args.kills)
    report.add("rejoin_seconds", middle("rejoin"), "s", target=2,
               peer=torchft and torchft["settings"][0]["rejoin"]["seconds"]["median"])
    longest = statistics.median(r["survivors_longest"] / r["normal"] for r in rows)
    report.add("survivors_longest_step_while_rejoining", longest, "normal steps", target=1.5)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
