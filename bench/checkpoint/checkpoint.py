"""Measures stall, write, restore and memory of a checkpoint, beside PyTorch's DCP, boto3 and memcpy in the same run."""
import functools
import importlib.util
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import servers
from _bench_json import HIGHER, LOWER, Report, peers_folder
from _checkpoint_node import MemoryWatch, Service, Trainer, evict, fill_page_cache, settle
from _checkpoint_server import Servers
from _checkpoint_tiers import TIERS, tiers
from _options import Options, run_all
from _run import command

S3_SERVERS = {"seaweedfs": servers.S3, "versitygw": servers.VersityGw}
# The metrics of `PLANES` come from scripts/bench planes.
PLANES = {"exact_split_and_merge_to_memcpy": HIGHER, "exact_plane0_share": LOWER}
PARTS = {"save": {"stall": LOWER, "stall_without_overlap": LOWER, "speed_while_writing": HIGHER, "first_save": LOWER,
                  "write": HIGHER, "write_while_training": HIGHER},
         "restore": dict.fromkeys(("restore_from_memory", "restore_from_disk", "restore_from_page_cache"), HIGHER),
         "s3": {f"write_to_s3_{name}": HIGHER for name in S3_SERVERS},
         "memory": {"memory_peak": LOWER, "memory_beyond_two_shards": LOWER},
         "planes": {f"planes_{name}": better for name, better in PLANES.items()},
         "tiers": TIERS}
METRICS = {name: better for part in PARTS.values() for name, better in part.items()}
KINDS = ("dcp_async_thread", "dcp_async_process")


def middle(rows, key):
    return statistics.median(row[key] for row in rows)


def say(what, row):
    shown = {k: round(v, 3) if isinstance(v, float) else v for k, v in row.items() if k != "digest"}
    print(what, shown, file=sys.stderr, flush=True)


class Local:
    """Runs rounds of saves to a folder and of restores from it, and measures the machine's limits between them."""

    def __init__(self, folder, args, service, trainer):
        self.folder, self.service, self.trainer = folder, service, trainer
        self.elements = args.params_mib << 18
        self.settle, self.rest, self.quiet = args.settle, args.disk_rest, args.quiet
        self.bytes = 12 * self.elements
        self.store = f"file://{folder}/store"
        self.raw = str(folder / "raw")
        self.rows = {name: [] for name in ("memcpy", "write", "read", "quiet", "training", "memory", "cold", "warm")}
        # The trainer's command `memcpy` makes the copy of the state that its command `write` writes.
        trainer.ask("memcpy")
        # A virtual machine is slow to hand out memory that it has never used, so the first write is not measured.
        trainer.ask("write", path=self.raw)
        self.first = self.save()["durable"]
        self.save()
        unit = statistics.median(trainer.ask("work", quiet=self.quiet)["units"])
        self.step_units = max(1, round(args.step_seconds / unit))

    def save(self, **options):
        self.saved = self.trainer.ask("save", socket=self.service.socket, store=self.store, **options)
        return self.saved

    def keep(self, name, row):
        self.rows[name].append(row)
        say(name, {k: v for k, v in row.items() if not isinstance(v, list)})

    def save_rounds(self, count):
        for _ in range(count):
            self.keep("memcpy", self.trainer.ask("memcpy"))
            settle(self.settle)
            self.keep("write", self.trainer.ask("write", path=self.raw))
            settle(self.settle)
            self.keep("quiet", self.save())
            settle(self.settle)
            row = self.save(step_units=self.step_units, quiet=self.quiet)
            quiet, during = row.pop("quiet_units"), row.pop("units")
            self.keep("training", {**row, "speed": statistics.mean(quiet) / statistics.mean(during)})

    def restore_rounds(self, count):
        """Measures restores by a second process: from the service's memory, then from disk and from page cache."""
        with Trainer(self.elements) as other:
            def restore(tier, settled):
                row = other.ask("restore", socket=self.service.socket, store=self.store)
                if row["digest"] != self.saved["digest"] or set(row["bytes_from"]) != {tier}:
                    sys.exit(f"error: restored another state, or not from the {tier}: {row['bytes_from']}")
                self.keep(settled, row)
            for _ in range(count):
                restore("memory", "memory")
            for _ in range(count):
                self.service.restart()
                self.keep("memcpy", self.trainer.ask("memcpy"))
                evict(self.folder)
                settle(self.rest)
                restore("store", "cold")
                settle(self.rest)
                self.keep("read", self.trainer.ask("read", path=self.raw))
                self.service.restart()
                fill_page_cache(self.folder / "store")
                restore("store", "warm")
        # The restores have restarted the service, so its memory is empty. Two saves fill it with two checkpoints again.
        for _ in range(2):
            self.save()

    def speed(self, name, key="seconds"):
        return self.bytes / middle(self.rows[name], key) / 1e9


def run_peer(args, folder):
    """Returns the figures of dcp_stall.py, or None where it cannot run."""
    if not args.peers:
        return None
    peers = peers_folder()
    if not peers or not (peers / "dcp_stall.py").exists():
        print("dcp_stall.py is not there: PyTorch's DCP is left out", file=sys.stderr)
        return None
    done = subprocess.run([sys.executable, str(peers / "dcp_stall.py"), "--params-mib", str(args.params_mib),
                           "--rounds", str(args.rounds), "--dir", str(folder)], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(f"dcp_stall.py failed with {done.returncode}: left out", file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def local(report, args, folder, _):
    with Service(folder) as service, Trainer(args.params_mib << 18) as trainer:
        here = Local(folder, args, service, trainer)
        first = (args.rounds + 1) // 2
        for count, then in ((first, True), (args.rounds - first, False)):
            if "save" in args.only:
                here.save_rounds(count)
            if "restore" in args.only and count:
                here.restore_rounds(count)
            if then and {"save", "restore"} & set(args.only):
                dcp = run_peer(args, folder)
        if "memory" in args.only:
            memory(report, here)
    if "save" in args.only:
        report_save(report, here, dcp)
    if "restore" in args.only:
        report_restore(report, here, dcp)


def report_save(report, here, dcp):
    best = lambda key, of: of(dcp[kind][key]["median"] for kind in KINDS) if dcp else None
    memcpy = middle(here.rows["memcpy"], "seconds")
    report.add("stall", middle(here.rows["training"], "blocked"), "s", peer=best("blocked_s", min), target_ratio=0.1,
               limit=memcpy)
    report.add("stall_without_overlap", middle(here.rows["quiet"], "blocked"), "s", peer=best("blocked_s", min),
               limit=memcpy)
    report.add("speed_while_writing", middle(here.rows["training"], "speed"), "of quiet", target=0.9,
               peer=dcp and 1 / best("work_slowdown", min))
    raw = here.speed("write")
    report.add("first_save", here.first, "s")
    report.add("write", here.speed("quiet", "durable"), "GB/s", target=0.9 * raw, limit=raw)
    report.add("write_while_training", here.speed("training", "durable"), "GB/s", limit=raw,
               peer=dcp and max(dcp[kind]["durable_gb_s"] for kind in KINDS), target_ratio=3)


def report_restore(report, here, dcp):
    loads = lambda key: dcp and here.bytes / 1e9 / min(dcp[k][key]["median"] for k in ("dcp_save", *KINDS))
    memcpy, read = here.speed("memcpy"), here.speed("read")
    report.add("restore_from_memory", here.speed("memory"), "GB/s", target=0.5 * memcpy, limit=memcpy)
    report.add("restore_from_disk", here.speed("cold"), "GB/s", peer=loads("load_cold_s"), target_ratio=1, limit=read)
    report.add("restore_from_page_cache", here.speed("warm"), "GB/s", peer=loads("load_warm_s"), target_ratio=1,
               limit=memcpy)


def memory(report, here):
    with MemoryWatch(here.service, here.trainer) as watch:
        # The saves follow each other without a pause, so that the service still holds one checkpoint while the trainer
        # stages the next one.
        for _ in range(3):
            here.save()
    say("memory", {"segments_mb": watch.segments / 1e6, "grown_mb": watch.grown / 1e6})
    report.add("memory_peak", watch.peak / here.bytes, "of a shard", limit=1)
    report.add("memory_beyond_two_shards", max(0, watch.peak - 2 * here.bytes) / 1e6, "MB", target=64)


def s3(report, args, folder, started):
    boto3 = args.peers and importlib.util.find_spec("boto3") and __import__("boto3")
    if args.peers and not boto3:
        print("boto3 is not there: left out", file=sys.stderr)
    for name, kind in S3_SERVERS.items():
        here = folder / name
        here.mkdir(parents=True)
        try:
            with started.running_in(here / "server", kind) as server, Service(here, server.env) as service, \
                    Trainer(args.params_mib << 18) as trainer:
                s3_rounds(report, args, name, here, server, service, trainer, boto3)
        except servers.Missing as why:
            report.leave_out([f"write_to_s3_{name}"], str(why))
        shutil.rmtree(here)


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def s3_rounds(report, args, name, folder, server, service, trainer, boto3):
    file, rows, peer = folder / "raw", [], []
    trainer.ask("memcpy")
    trainer.ask("write", path=str(file))
    client = boto3 and boto3.client(
        "s3", endpoint_url=f"http://127.0.0.1:{server.port}", region_name="us-east-1",
        aws_access_key_id=server.env["AWS_ACCESS_KEY_ID"], aws_secret_access_key=servers.SECRET)
    # The first round of saves is not counted, because in it the object server creates the volumes in which it keeps
    # objects.
    for i in range(args.rounds + 1):
        work = lambda: (cpu_seconds(server.process.pid), cpu_seconds(service.process.pid), time.process_time())
        before = work()
        row = trainer.ask("save", socket=service.socket, store=server.uri("ours"))
        row["server"], row["client"], _ = (after - then for after, then in zip(work(), before))
        say(name, {key: row[key] for key in ("durable", "server", "client")})
        settle(args.settle)
        if client:
            before, start = work(), time.monotonic()
            client.upload_file(str(file), servers.BUCKET, f"boto3/{i}")
            seconds = time.monotonic() - start
            of_server, _, of_client = (after - then for after, then in zip(work(), before))
            say(f"boto3 to {name}", {"durable": seconds, "server": of_server, "client": of_client})
            client.delete_object(Bucket=servers.BUCKET, Key=f"boto3/{i}")
            settle(args.settle)
        if i > 0:
            rows.append(row)
            peer += [seconds] if client else []
    size = file.stat().st_size / 1e9
    # The object server runs on this machine, so no client can write faster than the server would write with all cores.
    # This rate is reported as the limit, unless the kernel has counted no CPU time of the server, as happens for a
    # small file.
    busy = middle(rows, "server")
    report.add(f"write_to_s3_{name}", size / middle(rows, "durable"), "GB/s",
               peer=peer and size / statistics.median(peer), target_ratio=1.5,
               limit=size * os.cpu_count() / busy if busy else None)


def planes(report, args, folder, _):
    """Takes the figures of the precision `exact` from a run of scripts/bench planes."""
    out = folder / "planes.json"
    size = ["--smoke"] if args.smoke else ["--rounds", "5"]
    subprocess.run(command("planes", *size, "--report", str(out)), stdout=subprocess.DEVNULL)
    metrics = json.loads(out.read_text())["metrics"]
    for name in PLANES:
        report.add(f"planes_{name}", metrics[name]["value"], metrics[name]["unit"], target=metrics[name]["target"])


def in_folder(measure, report, args, folder, started):
    folder.mkdir()
    measure(report, args, folder, started)


def main():
    p = Options("checkpoint", __doc__)
    p.size("rounds", 3, smoke=1, turn=1)
    p.size("params-mib", 256, smoke=1, text="FP32 parameters; the state is three times this")
    p.size("step-seconds", 0.6, smoke=0.3, text="of forward and backward between the hand-over and the optimizer")
    # A rented disk allows bursts, so a pause between measurements keeps one from using up the burst of another.
    p.size("disk-rest", 2.0, smoke=0.0, text="seconds between what reads or writes the disk")
    p.size("settle", 0.3, smoke=0.0, text="seconds between what reads or writes memory")
    p.size("quiet", 250, smoke=10, text="units of work without a checkpoint, to compare with")
    p.add_argument("--dir", default=tempfile.gettempdir(), help="a folder on the disk to measure")
    p.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    args = p.parse()
    report = Report("checkpoint", METRICS, args)
    report.expect({name: better for part in args.only for name, better in PARTS[part].items()})
    with tempfile.TemporaryDirectory(prefix="rekindle-bench-", dir=args.dir) as name, \
            Servers(args, pathlib.Path(name) / "servers") as started:
        folder = pathlib.Path(name)
        measures = {local: ("save", "restore", "memory"), s3: ("s3",), planes: ("planes",), tiers: ("tiers",)}
        run_all(args, (functools.partial(in_folder, measure, report, args, folder / parts[0], started)
                       for measure, parts in measures.items() if set(parts) & set(args.only)))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
