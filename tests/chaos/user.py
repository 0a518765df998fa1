"""Acts as the cluster's user: submits one job after the other, and records what the cluster says of them."""
import contextlib
import json
import subprocess
import threading

from cluster import ENDED

PAUSE = 0.3  # Seconds between two rounds of requests.


class User(threading.Thread):
    """Acts as the user until stop(). A field may be read only after stop(), or in a method that takes the lock."""

    def __init__(self, cluster, spec):
        super().__init__(daemon=True)
        self.cluster, self.spec = cluster, spec
        self.lock, self.stopped, self.last = threading.Lock(), threading.Event(), threading.Event()
        self.number, self.revision = 1, 0
        # `current` is the newest status of the job that runs.
        self.current = None
        # `events` has the events of the cluster in order.
        self.events = []
        # `jobs` maps the uid of each job to its newest description.
        self.jobs = {}
        # `costs` maps a uid to the job's cost when it was over.
        self.costs = {}
        # `failure` is the exception that ended the thread.
        self.failure = None

    def name(self):
        return f"chaos-{self.number}"

    def run(self):
        try:
            while not self.stopped.is_set():
                # A request that fails while faults are at work is made again later.
                with contextlib.suppress(subprocess.TimeoutExpired, json.JSONDecodeError):
                    self.look()
                self.stopped.wait(PAUSE)
        except Exception as failure:
            # The exception ends this thread, and stop() raises it again in the thread that calls stop().
            self.failure = failure
            self.stopped.set()

    def look(self):
        self.take_events()
        known = self.cluster.cli("jobs", check=False)
        if known is None:
            return
        if self.name() not in [job["name"] for job in known.get("jobs", [])]:
            if self.last.is_set() and self.number > 1:
                self.stopped.set()
            else:
                self.submit()
            return
        job = self.cluster.cli("get", self.name(), check=False)
        if job is None:
            return
        uid, status = job["uid"], job["status"]
        with self.lock:
            self.jobs[uid], self.current = job, status
        if status["state"] not in ENDED:
            return
        cost = self.cluster.cli("cost", self.name(), check=False)
        if cost is None:
            return
        self.take_events()
        self.costs[uid] = cost["cost"]
        if self.last.is_set():
            self.stopped.set()
        else:
            self.number += 1

    def submit(self):
        path = self.cluster.dir / f"{self.name()}.yaml"
        path.write_text(json.dumps({**self.spec, "name": self.name()}))
        self.cluster.cli("submit", str(path), check=False)

    def take_events(self):
        told = self.cluster.cli("events", "--after", str(self.revision), check=False)
        for event in (told or {}).get("events", []):
            if event["revision"] > self.revision:
                self.events.append(event)
                self.revision = event["revision"]

    def in_one_line(self):
        with self.lock:
            status = self.current or {}
        return f"{self.name()} is {status.get('state', 'not known')} at step {status.get('step', 0)}: " \
               f"{status.get('reason', '')}"

    def stop(self):
        self.stopped.set()
        self.join()
        if self.failure:
            raise self.failure
