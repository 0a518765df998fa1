"""The common form of every bench's result: one JSON object with each metric it declares (see docs/benchmarks.md)."""
import json
import math
import os
import pathlib
import platform
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parents[1]
SKIPPED = 77    # Exit code where there is nothing to measure with.
# What is better of a metric, as its bench declares it; NEITHER: it describes the run.
HIGHER, LOWER, NEITHER = "higher", "lower", "neither"


def peers_folder():
    """Scripts that measure today's peers, beside the checkout; None where they are absent."""
    folder = REPO.parent / "shared" / "peers"
    if (folder / "gpt.py").exists():
        return folder
    print("no peers' scripts beside the checkout: their figures are left out", flush=True, file=sys.stderr)
    return None


def program(name):
    """A bench's C++ program, in the build that scripts/bench made."""
    build = os.environ.get("REKINDLE_BUILD", "")
    path = pathlib.Path(build, "bin", name)
    if not build or not path.exists():
        sys.exit(f"error: REKINDLE_BUILD does not name a build with {name}; use scripts/bench {pathlib.Path(sys.argv[0]).stem}")
    return str(path)


def commit():
    bundled = REPO / "COMMIT"  # Of a folder that scripts/gpu-check made.
    if bundled.exists():
        return bundled.read_text().strip()
    done = subprocess.run(["git", "-C", str(REPO), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def machine():
    """What matters of the machine, without its name."""
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    wide = next((name for name in ("avx512f", "avx2", "sse4_2") if f" {name} " in flags), platform.machine())
    return {"cores": os.cpu_count(), "memory_gb": round(memory / 1e9, 1), "cpu": wide, "kernel": platform.release().split("-")[0]}


class Report:
    """`metrics`: {name: HIGHER, LOWER or NEITHER}, all that a run reports. `args`: of _options.Options."""

    def __init__(self, bench, metrics, args):
        self.args, self.declared = args, dict(metrics)
        self.result = {"bench": bench, "commit": commit(), "machine": machine(), "ok": True, "metrics": {}}
        if args.smoke:
            self.result["smoke"] = True

    def expect(self, metrics):
        """Of a run of a part, or on other data, as its options ask."""
        self.declared = dict(metrics)

    def add(self, name, value, unit, target=None, peer=None, target_ratio=None, limit=None):
        """A figure. `target` is for the value, `target_ratio` for its ratio to the peer's figure of the same run."""
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
        """What cannot be measured on this machine, and what is missing for it."""
        print(f"left out, {missing}: {', '.join(names)}", file=sys.stderr)
        self.result.setdefault("left_out", {}).update(dict.fromkeys(names, missing))

    def fail(self, why):
        """A figure could not be had: the others are printed all the same."""
        print(f"error: {why}", file=sys.stderr)
        self.result["ok"] = False

    def skip(self, missing):
        """Nothing can be measured on this machine: the exit code."""
        print(f"skipped: {missing}", file=sys.stderr)
        self.result["skipped"] = missing
        self.print()
        return SKIPPED

    def finish(self):
        """Prints it; the exit code: 0 when every declared metric is there, and a full run met every target."""
        there, left_out = self.result["metrics"].keys(), self.result.get("left_out", {})
        for name in self.declared:
            if name not in there and name not in left_out:
                self.fail(f"the metric {name} is declared, and was not measured")
        for name in there - self.declared.keys():
            self.fail(f"the metric {name} was measured, and is not declared")
        self.print()
        return 0 if self.result["ok"] else 1

    def print(self):
        text = json.dumps(self.result, indent=1)
        print(text)
        if self.args.report:
            pathlib.Path(self.args.report).write_text(text + "\n")
