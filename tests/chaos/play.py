"""Plays one round: a schedule of faults on a cluster, the end of the job, which has to succeed, and the judgement."""
import collections
import contextlib
import pathlib
import shutil
import tempfile
import time

from cluster import Cluster
from jobs import own_job, small_job, text_file
from kinds import kinds_for
from namespaces import Namespaces
from oracle import Found, judge, summary
from schedule import NODES, make_schedule, overlapping
from user import User
from waiting import wait_until
from world import CODE_ENVIRONMENT, CODE_FLAGS, POOLS, PRICES, World

STEPS = 250
# A step of the user's own model is shorter, and each new job has to import PyTorch.
OWN_TASK, OWN_STEPS = "models:deep", 500
# `TICK` is how many seconds pass from one look at the cluster to the next.
TICK = 0.05
# `PATIENCE` is how many seconds after the last fault the job has to succeed. A sound run takes a tenth of that.
PATIENCE = 240
START = 120
# When the job has succeeded, its trainers and the processes of its code have to end by themselves in `LEAVE` seconds.
LEAVE = 60
# `RESTART` is how many seconds a coordinator may take after its start until it counts costs again.
RESTART = 2.0

# `broken` has a sentence for each broken promise. If the job had not succeeded in time, `slow` says what it was doing,
# otherwise it is empty. `folder` is the round's folder if it is kept, or None.
Outcome = collections.namedtuple("Outcome", "seed broken slow counts folder")


class Undisturbed:
    """Trains the job of each model once on the CPU, on one worker that nothing disturbs, and keeps its digest."""

    def __init__(self):
        self.digests = {}

    def get(self, folder, model, spec):
        if model not in self.digests:
            with Cluster(folder / "undisturbed", nodes=("only",), device="cpu", worker_flags={"only": CODE_FLAGS},
                         worker_env={"only": CODE_ENVIRONMENT}) as cluster:
                cluster.start()
                alone = {**spec["spec"], "checkpoint": {"every_steps": 0}}
                cluster.submit({"name": "undisturbed", "spec": alone})
                self.digests[model] = cluster.await_end("undisturbed")["state_digest"]
        return self.digests[model]


class Round:
    def __init__(self, seed, device, model, network_reason, undisturbed, say):
        self.seed, self.device, self.model, self.network_reason = seed, device, model, network_reason
        self.kinds = kinds_for(model)
        self.undisturbed, self.say = undisturbed, say
        self.counts = {name: collections.Counter() for name in self.kinds}
        self.silences, self.damaged, self.away, self.clock_moved = [], False, 0.0, False
        self.zero = 0.0

    def play(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f"rekindle-chaos-{self.seed}-"))
        spec = self.spec(folder)
        digest = self.undisturbed.get(folder, self.model, spec)
        with contextlib.ExitStack() as stack:
            network = None
            if not self.network_reason:
                network = stack.enter_context(contextlib.closing(Namespaces(NODES)))
            world = World(folder, network, self.device, self.tell)
            stopped = stack.enter_context(contextlib.ExitStack())
            stopped.callback(world.stop)
            world.start()
            user = User(world.cluster, spec)
            slow = self.disturb(world, user)
            left = [] if slow else self.left_by_the_job(world)
            stopped.close()
            found = Found(
                marks=world.cluster.marks(), events=user.events, jobs=user.jobs, costs=user.costs,
                silences=self.silences, damaged=self.damaged, prices={name: PRICES[POOLS[name]] for name in NODES},
                uncounted=self.away if self.clock_moved else 0.0, digest=digest)
            self.tell(summary(found))
            broken = [*judge(found)]
            left += world.leftovers()
        left += network.leftovers() if network else []
        broken += [f"at the end there was still {what}" for what in left]
        if broken or slow:
            return Outcome(self.seed, broken, slow, self.counts, folder)
        shutil.rmtree(folder)
        return Outcome(self.seed, broken, slow, self.counts, None)

    def left_by_the_job(self, world):
        """Returns what of the job has not ended by itself, although the nodes' own programs are there to end it."""
        def has_ended():
            world.supervise()
            return not world.still_training()

        try:
            wait_until(has_ended, LEAVE, "the trainers to end", poll=TICK)
        except TimeoutError:
            return [f"{what}, which outlived its job" for what in world.still_training()]
        return []

    def spec(self, folder):
        if self.model == "own":
            spec = own_job("chaos", OWN_TASK, steps=OWN_STEPS, workers=len(NODES))
        else:
            spec = small_job("chaos", text_file(folder), steps=STEPS, workers=len(NODES))
        spec["spec"]["checkpoint"]["store"] = f"file://{folder}/mount/store"
        return spec

    def tell(self, text):
        self.say(f"{time.monotonic() - self.zero:7.2f} s  {text}")

    def disturb(self, world, user):
        """Plays the faults. Returns why the job had not succeeded in time, or ""."""
        self.zero = time.monotonic()
        user.start()
        try:
            wait_until(lambda: any(mark["event"] == "step" for mark in world.cluster.marks()), START, "the first step",
                       poll=0.1)
            self.zero = time.monotonic()
            self.play_faults(world, user)
            user.last.set()
            self.tell(f"all faults have ended; {user.in_one_line()}")
            try:
                wait_until(lambda: world.supervise() or user.stopped.is_set(), PATIENCE, "the job to succeed",
                           poll=TICK)
            except TimeoutError:
                return user.in_one_line()
            self.tell(user.in_one_line())
            return ""
        finally:
            user.stop()

    def play_faults(self, world, user):
        planned = make_schedule(self.seed, self.kinds)
        waiting = [*zip(planned, overlapping(planned))]
        # `active` has an entry for each fault that has begun and not ended: when it ends, the fault, and when it began.
        active = []
        try:
            while waiting or active:
                now = time.monotonic() - self.zero
                for entry in [entry for entry in active if entry[0] <= now]:
                    active.remove(entry)
                    self.end(*entry[1:])
                if waiting and waiting[0][0].at <= now:
                    plan, overlaps = waiting.pop(0)
                    if begun := self.begin(world, plan, overlaps):
                        active.append((plan.at + plan.seconds, *begun))
                world.supervise()
                time.sleep(TICK)
        finally:
            for entry in active:
                self.end(*entry[1:])

    def begin(self, world, plan, overlaps):
        """Begins a planned fault. Returns (fault, when it began), or None where there is nothing to end."""
        kind = self.kinds[plan.kind]
        words = " ".join(f"{name}={value}" for name, value in plan.drawn.items())
        if kind.privileged and self.network_reason:
            self.counts[plan.kind]["skipped"] += 1
            return None
        self.tell(f"{plan.kind} {words} for {plan.seconds} s" if plan.seconds else f"{plan.kind} {words}")
        fault, now = kind(world, **plan.drawn), time.monotonic()
        if not fault.begin():
            self.counts[plan.kind]["nothing there"] += 1
            return None
        self.damaged = self.damaged or kind.damages_store
        self.clock_moved = self.clock_moved or kind.moves_coordinators_clock(plan.drawn)
        self.counts[plan.kind]["overlapping" if overlaps else "alone"] += 1
        return fault, now

    def end(self, fault, begun):
        if fault.longest:
            self.tell(f"  ends: {fault.name} {' '.join(fault.nodes())}")
        fault.end()
        if fault.silences:
            self.silences.append((fault.nodes(), begun, time.monotonic()))
        if fault.stops_coordinator:
            self.away += time.monotonic() - begun + RESTART
