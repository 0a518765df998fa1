"""Writes every bench's result in one form: a JSON object with each metric that the bench declares.

docs/benchmarks.md describes the form."""
import json
import math
import os
import pathlib
import platform
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parents[1]
# `SKIPPED` is a bench's exit code where the machine has nothing to measure with.
SKIPPED = 77
# A bench declares for each metric which direction is better. NEITHER marks a metric that only describes the run.
HIGHER, LOWER, NEITHER = "higher", "lower", "neither"


def peers_folder():
    """Returns the folder of scripts that measure other systems, beside the checkout, or None where it is absent."""
    folder = REPO.parent / "shared" / "peers"
    if (folder / "gpt.py").exists():
        return folder
    print("no peers' scripts beside the checkout: their figures are left out", flush=True, file=sys.stderr)
    return None


def program(name):
    """Returns the path of a bench's C++ program in the build that scripts/bench made."""
    build = os.environ.get("REKINDLE_BUILD", "")
    path = pathlib.Path(build, "bin", name)
    if not build or not path.exists():
        sys.exit(f"error: REKINDLE_BUILD does not name a build with {name}; "
                 f"use scripts/bench {pathlib.Path(sys.argv[0]).stem}")
    return str(path)


def commit():
    # A bundle that scripts/gpu-check made has no git repository. Its file `COMMIT` contains the commit from which the
    # bundle was made.
    bundled = REPO / "COMMIT"
    if bundled.exists():
        return bundled.read_text().strip()
    done = subprocess.run(["git", "-C", str(REPO), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def machine():
    """Describes the machine by what matters to a measurement, without its name."""
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    wide = next((name for name in ("avx512f", "avx2", "sse4_2") if f" {name} " in flags), platform.machine())
    return {"cores": os.cpu_count(), "memory_gb": round(memory / 1e9, 1), "cpu": wide,
            "kernel": platform.release().split("-")[0]}


class Report:
    """Collects the figures of one run.

    `metrics` is {name: HIGHER, LOWER or NEITHER} and names all that a run reports. `args` are parsed by
    _options.Options."""

    def __init__(self, bench, metrics, args):
        self.args, self.declared = args, dict(metrics)
        self.result = {"bench": bench, "commit": commit(), "machine": machine(), "ok": True, "metrics": {}}
        if args.smoke:
            self.result["smoke"] = True

    def expect(self, metrics):
        """Replaces the declared metrics, if a bench's options or its data change what the bench measures."""
        self.declared = dict(metrics)

    def add(self, name, value, unit, target=None, peer=None, target_ratio=None, limit=None):
        """Adds a figure. `peer` is the same figure of another system.

        `target` is the goal for `value`, and `target_ratio` the goal for value / peer."""
        if not math.isfinite(value):
            return self.fail(f"the metric {name} is {value}")
        lower_is_better = self.declared.get(name) == LOWER
        metric = {"value": round(value, 5), "unit": unit, "better": self.declared.get(name, NEITHER)}
        better = (lambda a, b: a <= b) if lower_is_better else (lambda a, b: a >= b)
        ok = True
        if target is not None:
            metric["target"] = round(target, 5)
            ok = better(value, target)
        if peer:
            metric["peer"] = round(peer, 5)
            metric["ratio"] = round(value / peer, 4)
            if target_ratio is not None:
                metric["target_ratio"] = round(target_ratio, 4)
                ok = ok and better(value / peer, target_ratio)
        if limit is not None:
            metric["limit"] = round(limit, 5)
        if self.args.judged:
            metric["ok"] = ok
            self.result["ok"] = self.result["ok"] and ok
        self.result["metrics"][name] = metric

    def leave_out(self, names, missing):
        """Records metrics that cannot be measured on this machine, and what is missing for them."""
        print(f"left out, {missing}: {', '.join(names)}", file=sys.stderr)
        self.result.setdefault("left_out", {}).update(dict.fromkeys(names, missing))

    def fail(self, why):
        """Marks the run as failed because a figure could not be measured. The other figures are still printed."""
        print(f"error: {why}", file=sys.stderr)
        self.result["ok"] = False

    def skip(self, missing):
        """Records that this machine can measure nothing, prints the result and returns the exit code."""
        print(f"skipped: {missing}", file=sys.stderr)
        self.result["skipped"] = missing
        self.print()
        return SKIPPED

    def finish(self):
        """Prints the result. Returns 0 if every declared metric is there and a full run met all targets, else 1."""
        there, left_out = self.result["metrics"].keys(), self.result.get("left_out", {})
        for name in self.declared:
            if name not in there and name not in left_out:
                self.fail(f"the metric {name} is declared, and was not measured")
        for name in there - self.declared.keys():
            self.fail(f"the metric {name} was measured, and is not declared")
        self.print()
        return 0 if self.result["ok"] else 1

    def print(self):
        print(json.dumps(self.result, indent=1))
        self.write()

    def keep(self):
        """Writes to the file of --report what there is so far. The file says that it is not complete."""
        self.write(complete=False)

    def write(self, complete=True):
        """Replaces the file of --report as a whole, so that it is valid JSON at any moment."""
        if not self.args.report:
            return
        text = json.dumps({**({} if complete else {"complete": False}), **self.result}, indent=1) + "\n"
        if os.path.exists(self.args.report) and not os.path.isfile(self.args.report):
            # A file must not replace a pipe or a device. Its reader is to get one result, so that has to be the last.
            if complete:
                pathlib.Path(self.args.report).write_text(text)
            return
        path = pathlib.Path(os.path.realpath(self.args.report))
        part = path.with_name(f"{path.name}.part")
        part.write_text(text)
        part.replace(path)
