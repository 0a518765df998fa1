"""Runs a cluster whose nodes the coordinator orders itself, from local pools that have a spot market of their own."""
import json
import pathlib
import threading
import time

from cluster import Cluster


def local_pool(name, price, nodes, capacity="spot", most=4, boot_seconds=0.0, **rest):
    """Returns a pool of a fleet file. `nodes` is how many nodes its market lets run at first."""
    return {"name": name, "provider": "local", "zone": name, "instance_type": "here", "capacity": capacity,
            "price": price,
            "max": most, "machines": {"poll_seconds": 0.5, "start_seconds": 60, "boot_seconds": boot_seconds,
                                      "market": {"nodes": nodes}}, **rest}


class FleetCluster(Cluster):
    def __init__(self, folder, pools, teams=(), **options):
        self.fleet = pathlib.Path(folder) / "fleet.yaml"
        self.fleet.parent.mkdir(parents=True, exist_ok=True)
        self.write_fleet(pools, teams)
        super().__init__(folder, nodes=(),
                         coordinator_flags=["--fleet", str(self.fleet), *options.pop("coordinator_flags", ())],
                         **options)

    def write_fleet(self, pools, teams=()):
        self.fleet.write_text(json.dumps({"pools": list(pools), **({"teams": list(teams)} if teams else {})}))

    def market(self, pool, nodes, notice=0.0):
        self.cli("market", pool, str(nodes), "--notice", f"{notice}s")


class Meter:
    """Measures how long machines exist, from the first to the last poll that finds them running."""

    def __init__(self, cluster, period=0.1):
        self.cluster, self.period = cluster, period
        # `seen` maps a node to [first, last], the monotonic times at which it was seen first and last.
        self.seen = {}
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        while not self.stopped.is_set():
            now = time.monotonic()
            for node in self.cluster.machines():
                self.seen.setdefault(node, [now, now])[1] = now
            self.stopped.wait(self.period)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()

    def node_seconds(self, begin, end):
        return sum(max(0.0, min(last, end) - max(first, begin)) for first, last in self.seen.values())
