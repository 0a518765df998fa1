"""Kills processes of running jobs, and says what that cost."""
import json
import os
import pathlib
import signal
import statistics
import subprocess
import tempfile
import time

import recovery
from _bench_json import REPO
from _own_cluster import (MICRO_BATCHES, PlainLoop, cluster, environment, interpreter, job, model_process, of_model)
from live_processes import kill
from step import MODEL, write_data
from timelines import completions
from waiting import wait_until

NODES = recovery.NODES


def median(rows, key):
    return statistics.median(row[key] for row in rows)


def trainer_kills(args, task, built_in=False):
    """Kills trainers of three, one after another. Returns what `recovery` measures, and how many processes of the
    survivors were restarted. `built_in` takes the model of Rekindle that has the sizes of `gpt`."""
    rows = []
    with cluster(NODES) as running:
        spec = job(task, len(NODES), 1_000_000, "exact")
        # As many micro-batches as `recovery` has, so that three workers have work.
        spec["spec"]["training"].update(micro_batch=2, global_batch=4 * MICRO_BATCHES)
        if built_in:
            write_data(running.dir / "data.txt")
            spec["spec"].update(model=MODEL, data={"text": [str(running.dir / "data.txt")],
                                                   "validation_fraction": 0.05})
        running.submit({**spec, "name": "recovery"})
        for number in range(args.kills):
            victim = NODES[number % len(NODES)]
            survivors = [node for node in NODES if node != victim]
            recovery.await_world(running, len(NODES), time.monotonic())
            before = {pid for node in survivors for pid in of_model(running, node)}
            row = recovery.one_kill(running, victim)
            after = {pid for node in survivors for pid in of_model(running, node)}
            rows.append({**row, "restarted": len(before - after)})
        running.cli("cancel", "recovery")
    return rows


def torchrun_kills(args, task):
    """Kills one of two workers of torchrun, one after another. Returns the seconds until a new step each time."""
    seconds = []
    with tempfile.TemporaryDirectory() as folder, PlainLoop(folder, task, "", world=2, checkpoint=True) as loop:
        for _ in range(args.torchrun_kills):
            newest = wait_until(lambda: [e for e in loop.events()[-2:] if e["step"] % 5 == 2] or None, 300,
                                "torchrun's workers to step", poll=0.01)
            reached, killed = max(e["step"] for e in loop.events()), time.monotonic()
            known = {event["pid"] for event in loop.events()}
            os.kill(newest[-1]["pid"], 9)
            new = wait_until(lambda: [e for e in loop.events() if e["pid"] not in known and e["step"] > reached], 300,
                             "torchrun's workers to go on", poll=0.01)
            seconds.append(new[0]["t"] - killed)
    return seconds


def child_kills(args, task):
    """Kills the model process of one of two workers. Returns {"pause", "redone", "normal"} of each kill."""
    rows = []
    with cluster(NODES[:2]) as running:
        spec = job(task, 2, 1_000_000, "exact")
        spec["spec"]["workers"]["min"] = 2
        running.submit(spec)
        for _ in range(args.kills):
            recovery.await_world(running, 2, time.monotonic(), steps=12)
            before = completions(running.marks())
            times = [t for _, t in sorted(before.items())][-11:]
            normal = statistics.median(b - a for a, b in zip(times, times[1:]))
            trainer, child = running.nodes["a"].pids("trainer"), model_process(running, "a")
            killed = time.monotonic()
            kill([child])
            wait_until(lambda: sum(t > killed for t in completions(running.marks()).values()) > 5, 120, "new steps",
                       poll=0.01)
            after = completions(running.marks())
            around = sorted(t for t in after.values() if t > times[-1] - normal)
            steps = {m["step"] for m in running.marks() if m["event"] == "step" and m["t"] > killed}
            rows.append({"normal": normal, "redone": len(steps & {s for s, t in after.items() if t <= killed}),
                         "pause": max(b - a for a, b in zip(around, around[1:])) - normal,
                         "trainers": len(set(trainer) - set(running.nodes["a"].pids("trainer")))})
    return rows


def first_mark(folder):
    """Returns the time of the first step in the timelines of a folder, or None."""
    times = []
    for path in folder.glob("*.jsonl"):
        text = path.read_text()
        marks = map(json.loads, text[:text.rfind("\n") + 1].splitlines())
        times += [mark["t"] for mark in marks if mark["event"] == "step"]
    return min(times, default=None)


def environment_with_torch(folder):
    """Makes a virtual environment that finds the PyTorch of this machine. Returns its folder."""
    subprocess.run([interpreter(), "-m", "venv", str(folder)], check=True)
    torch = subprocess.run([interpreter(), "-c", "import torch; print(torch.__path__[0])"], check=True,
                           capture_output=True, text=True).stdout.strip()
    [site] = folder.glob("lib/python3*/site-packages")
    (site / "torch.pth").write_text(os.path.dirname(torch) + "\n")
    return folder


def first_step(args):
    """Returns the seconds from a wheel to the first step of examples/python/train.py.

    A run with --smoke installs no wheel, because it takes long to make one."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "timeline").mkdir()
        build = os.environ["REKINDLE_BUILD"]
        env = {"PATH": os.environ["PATH"], "HOME": scratch, "XDG_STATE_HOME": scratch,
               "REKINDLE_TIMELINE": str(folder / "timeline")}
        python = interpreter()
        if args.smoke:
            env.update(REKINDLE_BIN=f"{build}/bin", PYTHONPATH=str(REPO / "python"))
        else:
            made = subprocess.run(["/usr/bin/python3", str(REPO / "scripts" / "lib" / "wheel.py"), build, scratch],
                                  capture_output=True, text=True, check=True).stdout.strip()
            here = environment_with_torch(folder / "environment") / "bin"
            python = str(here / "python")
        begin = time.monotonic()
        if not args.smoke:
            subprocess.run([str(here / "pip"), "install", "--no-index", "--disable-pip-version-check", "-q", made],
                           check=True)
        run = subprocess.Popen([python, str(REPO / "examples" / "python" / "train.py")], env=env,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: run.poll() is not None or first_mark(folder / "timeline"), 120, "a step", poll=0.02)
        finally:
            run.send_signal(signal.SIGINT)
            run.wait(120)
        stepped = first_mark(folder / "timeline")
        if stepped is None:
            raise RuntimeError(f"examples/python/train.py ended with {run.returncode} before its first step")
        return stepped - begin


def parity(args, kind, limit):
    """Returns what _parity.py prints for PyTorch's optimizer `kind`."""
    program = str(pathlib.Path(__file__).with_name("_parity.py"))
    done = subprocess.run([interpreter(), program, kind, str(limit), args.zoo],
                          stdout=subprocess.PIPE, text=True, env={**os.environ, **environment(),
                                                                  "PYTHONHASHSEED": "0"})
    if done.returncode != 0:
        raise RuntimeError(f"_parity.py {kind} {args.zoo} ended with {done.returncode}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def round_trip(args, task):
    """Returns what _round_trip.py prints."""
    done = subprocess.run([interpreter(), str(pathlib.Path(__file__).with_name("_round_trip.py")), task,
                           str(args.round_trips)], check=True, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, **environment(args.packages)})
    return json.loads(done.stdout.strip().splitlines()[-1])
