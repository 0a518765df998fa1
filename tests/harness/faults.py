"""Breaks a running job in one way at a time, and measures what that cost from the trainers' own timelines."""
import statistics
import time

from live_processes import kill
from timelines import completions
from waiting import wait_until
import signal

# Injector.every_fault() injects one fault of each of these kinds, in this order.
KINDS = ["trainer_killed", "coordinator_killed", "trainer_frozen", "agent_killed", "checkpoint_killed", "node_killed",
         "drained", "node_added", "node_added", "all_killed"]


def steps_done(cluster):
    """Returns the newest step that every member of a generation has applied."""
    return max(completions(cluster.marks()), default=0)


def median_step(done, before):
    """Returns the median seconds of a step among the last 30 completions before a time."""
    times = [t for _, t in sorted(done.items()) if t < before][-31:]
    gaps = [b - a for a, b in zip(times, times[1:])]
    return statistics.median(gaps) if gaps else 0.0


class Injector:
    """Injects faults into one job of a cluster. Each method returns when the job has recovered from its fault."""

    def __init__(self, cluster, job, on_fault=lambda kind, text: None, patience=60):
        self.cluster, self.job, self.on_fault, self.patience = cluster, job, on_fault, patience
        self.rows = []

    def await_steps(self, more, what="the job to go on"):
        """Waits until the job has completed `more` steps beyond those done now."""
        target = steps_done(self.cluster) + more
        wait_until(lambda: steps_done(self.cluster) >= target, self.patience, what, poll=0.05)

    def await_members(self, count):
        """Waits until a generation of `count` members has completed a step."""
        def there():
            steps = [m for m in self.cluster.marks() if m["event"] == "step"]
            return steps and steps[-1]["world"] == count
        wait_until(there, self.patience, f"{count} members to step together", poll=0.05)

    def await_fault(self, kind, known):
        """Waits for the coordinator's record of a fault that was not among the `known` ones, and returns it."""
        def there():
            faults = self.cluster.status(self.job)["faults"]
            return next((f for f in faults[known:] if f["kind"] == kind), None)
        return wait_until(there, self.patience, f"the coordinator's record of {kind}", poll=0.1)

    def measured(self, kind, act, recovered):
        """Runs act(), waits for recovered(), and appends the fault's row to the results."""
        known = len(self.cluster.status(self.job)["faults"])
        before = completions(self.cluster.marks())
        start = time.monotonic()
        self.on_fault(kind, "")
        act()
        recovered()
        record = self.await_fault(kind, known)
        marks = self.cluster.marks()
        done = completions(marks)
        times = sorted(t for t in done.values() if t > start)
        last = max((t for t in done.values() if t <= start), default=start)
        gaps = [b - a for a, b in zip([last, *times], times)]
        normal = median_step(done, start)
        redone = {m["step"] for m in marks if m["event"] == "step" and m["t"] > start and m["step"] in before}
        row = {"kind": kind, "reason": record["reason"],
               "pause_seconds": round(max(0.0, max(gaps, default=0.0) - normal), 3),
               "steps_redone": len(redone), "micro_batches_redone": record["micro_batches_redone"],
               "normal_step_seconds": round(normal, 3)}
        self.rows.append(row)
        self.on_fault(kind, record["reason"])
        return row

    def every_fault(self):
        """Injects each kind of fault in turn, on a cluster of n1, n2 and n3, as the demo does. Nodes n4 and n5 join."""
        self.await_members(3)
        self.await_steps(12)
        self.trainer_killed("n1")
        self.coordinator_killed()
        self.trainer_frozen("n2")
        self.agent_killed("n1")
        self.checkpoint_killed("n2")
        self.node_killed("n3")
        self.drained("n2")
        self.node_added("n4")
        self.node_added("n5")
        self.all_killed()

    def trainer_killed(self, node):
        members = self.cluster.status(self.job)["members"]
        return self.measured("trainer_killed", self.cluster.nodes[node].kill_trainers,
                             lambda: (self.await_steps(2), self.await_members(len(members)), self.await_steps(3)))

    def trainer_frozen(self, node):
        members = len(self.cluster.status(self.job)["members"])
        frozen = []

        def freeze():
            frozen.extend(self.cluster.nodes[node].kill_trainers(signal.SIGSTOP))

        def recovered():
            self.await_members(members - 1)
            self.await_steps(3)
        row = self.measured("trainer_frozen", freeze, recovered)
        kill(frozen, signal.SIGCONT)
        self.await_members(members)
        self.await_steps(2)
        return row

    def node_killed(self, node):
        members = len(self.cluster.status(self.job)["members"])
        return self.measured("node_killed", self.cluster.nodes.pop(node).kill,
                             lambda: (self.await_members(members - 1), self.await_steps(3)))

    def node_added(self, node):
        members = len(self.cluster.status(self.job)["members"])
        return self.measured("node_added", lambda: self.cluster.add_node(node),
                             lambda: (self.await_members(members + 1), self.await_steps(3)))

    def drained(self, node):
        members = len(self.cluster.status(self.job)["members"])
        row = self.measured("drained", lambda: self.cluster.cli("drain", node),
                            lambda: (self.await_members(members - 1), self.await_steps(3)))
        wait_until(lambda: not self.cluster.nodes[node].pids("trainer"), 10, "the drained trainer to leave")
        self.cluster.nodes.pop(node).kill()
        return row

    def coordinator_killed(self):
        def act():
            self.cluster.kill_coordinator()
            self.await_steps(3, "steps without a coordinator")
            self.cluster.start_coordinator()
        return self.measured("coordinator_killed", act, lambda: self.await_steps(3))

    def agent_killed(self, node):
        return self.measured("agent_killed", lambda: kill(self.cluster.nodes[node].pids("agent")),
                             lambda: self.await_steps(5))

    def checkpoint_killed(self, node):
        def act():
            self.cluster.nodes[node].kill_checkpoint()
            self.cluster.nodes[node].start_checkpoint()
        return self.measured("checkpoint_killed", act, lambda: self.await_steps(5))

    def all_killed(self):
        nodes = list(self.cluster.nodes.values())
        reached = []

        def act():
            for node in nodes:
                node.kill()
            # The nodes that are killed last may have made steps while the first ones were being killed.
            reached.append(steps_done(self.cluster))
            for node in nodes:
                node.start()

        def recovered():
            wait_until(lambda: steps_done(self.cluster) > reached[0], self.patience, "the job to resume", poll=0.05)
            self.await_members(len(nodes))
        return self.measured("all_killed", act, recovered)
