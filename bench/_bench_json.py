"""The common form of every bench's result: one JSON object (see docs/benchmarks.md)."""
import json
import os
import pathlib
import platform
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parents[1]


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
    def __init__(self, bench):
        self.result = {"bench": bench, "commit": commit(), "machine": machine(), "ok": True, "metrics": {}}

    def add(self, name, value, unit, target=None, peer=None, target_ratio=None, limit=None, lower_is_better=False):
        """A figure. `target` is for the value, `target_ratio` for its ratio to the peer's figure of the same run."""
        metric = {"value": round(value, 5), "unit": unit}
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
        metric["ok"] = ok
        self.result["ok"] = self.result["ok"] and ok
        self.result["metrics"][name] = metric

    def fail(self, why):
        """A figure could not be had: the others are printed all the same."""
        print(f"error: {why}", file=sys.stderr)
        self.result["ok"] = False

    def finish(self, path=None):
        """Prints it; the exit code: 0 when every target was met."""
        text = json.dumps(self.result, indent=1)
        print(text)
        if path:
            pathlib.Path(path).write_text(text + "\n")
        return 0 if self.result["ok"] else 1
