"""The JSON that every bench prints: what was measured, where, beside what, and whether the targets hold.

    bench = Bench("allreduce")
    bench.metric("shm_bus_16MiB", 2.9, "GB/s", target=2.0, peer=0.9, limit=8.1)
    sys.exit(bench.finish(args.report))

{bench, commit, machine, ok, metrics: {NAME: {value, unit, target, ok, peer, ratio, limit}}}: `peer` is the peer's figure
of the same run, `ratio` ours to it, `limit` the physical one; absent where there is none. A figure that could not be
measured is not left out but carries `skipped` with the reason.
"""
import json
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def shared_folder():
    """The folder with the peers, beside the checkout; None where it is absent."""
    folder = pathlib.Path(os.environ.get("REKINDLE_SHARED", ROOT.parent / "shared"))
    return folder if folder.is_dir() else None


def build_folder():
    """Where the built programs are (scripts/bench sets it)."""
    folder = os.environ.get("REKINDLE_BUILD")
    if not folder or not pathlib.Path(folder, "bin").is_dir():
        sys.exit("REKINDLE_BUILD does not name a build folder; run the bench by scripts/bench NAME")
    return pathlib.Path(folder)


def commit():
    """The checked-out commit, with -dirty when files differ from it; "unknown" outside a repository."""
    try:
        run = lambda *a: subprocess.run(["git", "-C", str(ROOT), *a], capture_output=True, text=True, check=True).stdout
        head = run("rev-parse", "--short=12", "HEAD").strip()
        return head + ("-dirty" if run("status", "--porcelain", "--untracked-files=no").strip() else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def machine():
    """What matters for a figure, without a name or address."""
    info = {"cores": os.cpu_count(), "arch": platform.machine(), "kernel": platform.release().split("-")[0]}
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
        fields = dict(line.split(":", 1) for line in text.split("\n\n")[0].splitlines() if ":" in line)
        fields = {k.strip(): v.strip() for k, v in fields.items()}
        info["cpu"] = fields.get("model name", "unknown")
        known = ("avx2", "avx512f", "avx512_bf16", "amx_tile", "f16c", "fma")
        info["cpu_flags"] = [f for f in known if f in fields.get("flags", "").split()]
        memory = pathlib.Path("/proc/meminfo").read_text().split("MemTotal:", 1)[1].split()[0]
        info["memory_gib"] = round(int(memory) / 2**20, 1)
    except (OSError, IndexError, ValueError):
        pass
    info["load_1m"] = round(os.getloadavg()[0], 2)  # At the start: other work on the machine disturbs.
    return info


def _rounded(value):
    return float(f"{value:.4g}") if isinstance(value, float) else value


class Bench:
    def __init__(self, name):
        self.result = {"bench": name, "commit": commit(), "machine": machine(), "ok": True, "metrics": {}}

    def metric(self, name, value, unit, *, target=None, peer=None, limit=None, at_most=False, of=None):
        """`target` bounds `of` ("value" or "ratio"; by default the ratio when there is a peer) from below, or from above
        with at_most. Returns whether it holds."""
        ratio = value / peer if peer else None
        of = of or ("ratio" if peer else "value")
        judged = ratio if of == "ratio" else value
        ok = None
        if target is not None and judged is not None:
            ok = judged <= target if at_most else judged >= target
            self.result["ok"] &= ok
        fields = dict(value=value, unit=unit, target=target, ok=ok, peer=peer, ratio=ratio, limit=limit)
        self.result["metrics"][name] = {k: _rounded(v) for k, v in fields.items() if v is not None}
        return ok

    def skip(self, name, unit, reason):
        """A figure that could not be measured here. It does not count as a failure, but it is seen."""
        self.result["metrics"][name] = {"unit": unit, "skipped": reason}

    def fail(self, reason):
        """Something is wrong apart from the figures (a wrong result, a lost process)."""
        self.result["ok"] = False
        self.result.setdefault("failures", []).append(reason)

    def finish(self, report=None):
        """Prints the JSON, writes it to `report`; the exit status."""
        text = json.dumps(self.result, indent=2)
        print(text)
        if report:
            pathlib.Path(report).write_text(text + "\n")
        return 0 if self.result["ok"] else 1
