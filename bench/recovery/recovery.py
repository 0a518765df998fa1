"""Measures seconds from kill -9 of one of three trainers to the first new step, beside torchrun elastic and torchft."""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import ballast
from _bench_json import HIGHER, LOWER, Report, peers_folder
from _options import Options
from cluster import Cluster
from live_processes import kill
from step import MODEL, SMALL, job, write_data
from timelines import completions
from waiting import wait_until

NODES = ("a", "b", "c")
METRICS = {"recovery_seconds": LOWER, "recovery_seconds_to_torchft": LOWER, "normal_step_seconds": LOWER,
           "completed_steps_redone": LOWER, "recovered": HIGHER, "rejoin_seconds": LOWER,
           "survivors_longest_step_while_rejoining": LOWER}
# `HELD` has the bytes that each trainer holds in small pages beside its own memory.
HELD = {"1gb": 10**9, "4gb": 4 * 10**9}
# `SMALL_HELD` takes the place of `HELD` in a run with --smoke.
SMALL_HELD = 10**8
NOTICED, STOPPED, STEPPED = "death_noticed_seconds_", "survivors_stopped_seconds_", "recovery_seconds_"
for held in HELD:
    METRICS.update({NOTICED + held: LOWER, STOPPED + held: LOWER, STEPPED + held: LOWER})


def await_world(cluster, world, after, steps=1):
    """Returns the time at which a generation of `world` members had completed `steps` steps after the time `after`."""
    def there():
        seen = {}
        for m in cluster.marks():
            if m["event"] == "step" and m["world"] == world and m["t"] > after:
                seen.setdefault((m["generation"], m["step"]), []).append(m["t"])
        whole = sorted(max(ts) for ts in seen.values() if len(ts) == world)
        return whole[steps - 1] if len(whole) >= steps else None
    return wait_until(there, 60, f"{world} members to step together", poll=0.02)


def median(rows, key):
    return statistics.median(row[key] for row in rows)


def one_kill(cluster, victim):
    """Kills the trainer of one of three nodes. Returns the figures of the recovery and of the trainer's return."""
    await_world(cluster, 3, time.monotonic(), steps=12)
    before = completions(cluster.marks())
    recent = [t for _, t in sorted(before.items())][-11:]
    normal = statistics.median(b - a for a, b in zip(recent, recent[1:]))
    # The pids of the trainer to kill are found before the clock starts, because finding them takes time.
    pids = cluster.nodes[victim].pids("trainer")
    killed, killed_unix = ballast.clocks()
    kill(pids)
    wait_until(lambda: any(t > killed and s > max(before) for s, t in completions(cluster.marks()).items()),
               60, "a new step", poll=0.005)
    back = await_world(cluster, 3, killed, steps=3)
    noticed = ballast.noticed(cluster, victim, killed_unix)
    stopped = ballast.stopped(cluster, [n for n in NODES if n != victim], "recovery", killed_unix)
    marks = cluster.marks()
    done = completions(marks)
    reached = max(s for s, t in done.items() if t <= killed)
    first = min(t for s, t in done.items() if s > reached)
    joined = min(m["t"] for m in marks if m["event"] == "step" and m["world"] == 3 and m["t"] > first)
    around = sorted(t for t in done.values() if first <= t <= back)
    redone = {m["step"] for m in marks if m["event"] == "step" and m["t"] > killed and m["step"] <= reached}
    # `rejoin` is the time from the kill to the first step with three trainers again. It begins at the kill, because the
    # agent starts a new trainer at once.
    return {"seconds": first - killed, "noticed": noticed - killed_unix, "stopped": stopped - killed_unix,
            "normal": normal, "redone": len(redone), "rejoin": joined - killed,
            "survivors_longest": max((b - a for a, b in zip(around, around[1:])), default=0.0)}


def ours(args, data, kills, held=0):
    rows = []
    with tempfile.TemporaryDirectory(prefix="rekindle-bench-") as folder:
        flags = ["--trainer-binary", str(ballast.trainer_program(folder, held))] if held else []
        with Cluster(folder, nodes=NODES, env={"REKINDLE_LOG_FORMAT": "json"},
                     worker_flags={node: flags for node in NODES}) as cluster:
            cluster.start()
            spec = job("recovery", data, 100_000, "exact", len(NODES), SMALL if args.smoke else MODEL)
            spec["spec"]["workers"]["min"] = 1
            spec["spec"]["training"]["micro_batch"] = 2
            cluster.submit(spec)
            for i in range(kills):
                rows.append(one_kill(cluster, NODES[i % len(NODES)]))
                print({k: round(v, 3) for k, v in rows[-1].items()}, file=sys.stderr)
            cluster.cli("cancel", "recovery")
    return rows


def peer(peers, script, *args):
    """Returns the last line of a peer's script, parsed from JSON, or None where it cannot run."""
    done = subprocess.run([sys.executable, str(peers / script), *args], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(f"{script} failed with {done.returncode}: left out", file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def add_held(report, args, data):
    """Measures the death of a large process. The kernel frees its memory first and then closes its connections."""
    rows = None
    for name, held in HELD.items():
        names = [NOTICED + name, STOPPED + name, STEPPED + name]
        held = SMALL_HELD if args.smoke else held
        missing = ballast.missing(held, len(NODES))
        if missing:
            report.leave_out(names, missing)
            continue
        # In a run with --smoke `SMALL_HELD` takes the place of every value of `HELD`, so one measurement serves for
        # all.
        if rows is None or not args.smoke:
            rows = ours(args, data, args.held_kills, held)
        report.add(names[0], median(rows, "noticed"), "s", target=0.05)
        report.add(names[1], median(rows, "stopped"), "s", target=0.1)
        report.add(names[2], median(rows, "seconds"), "s", target=median(rows, "normal") + 0.2)


def main():
    p = Options("recovery", __doc__)
    p.size("kills", 10, smoke=1, turn=3)
    p.size("held-kills", 6, smoke=1, turn=3)
    p.add_argument("--peer-repeats", type=int, default=5)
    args = p.parse()
    report = Report("recovery", METRICS, args)
    peers = args.peers and peers_folder()
    torchrun = torchft = None
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "data.txt"
        write_data(data)
        rows = ours(args, data, args.kills)
        if peers:
            repeats = ["--repeats", str(args.peer_repeats), "--data", str(data)]
            torchrun = peer(peers, "elastic_recovery.py", "--cases", "A", *repeats)
            torchft = peer(peers, "torchft_recovery.py", "--settings", "1000:1000", *repeats)
        add_held(report, args, data)
    seconds = median(rows, "seconds")
    elastic = torchrun and torchrun["A"]["recover"]["seconds"]["median"]
    heartbeat = torchft and torchft["settings"][0]["recover"]["seconds"]["median"]
    report.add("recovery_seconds", seconds, "s", target=median(rows, "normal") + 0.2, peer=elastic, target_ratio=0.08)
    report.add("recovery_seconds_to_torchft", seconds, "s", peer=heartbeat, target_ratio=0.25)
    report.add("normal_step_seconds", median(rows, "normal"), "s")
    report.add("completed_steps_redone", max(r["redone"] for r in rows), "steps", target=0,
               peer=torchrun and torchrun["A"]["recover"]["redone"]["median"])
    report.add("recovered", len(rows), "kills", target=args.kills)
    report.add("rejoin_seconds", median(rows, "rejoin"), "s", target=2,
               peer=torchft and torchft["settings"][0]["rejoin"]["seconds"]["median"])
    longest = statistics.median(r["survivors_longest"] / r["normal"] for r in rows)
    report.add("survivors_longest_step_while_rejoining", longest, "normal steps", target=1.5)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
