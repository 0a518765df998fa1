"""Defines faults that kill processes or stop them for a while."""
import signal

from kinds.fault import Fault
from live_processes import kill


class TrainerKilled(Fault):
    name, weight, longest = "trainer killed", 3.0, 0.0

    @staticmethod
    def draw(random, nodes):
        return {"node": random.choice(nodes)}

    def begin(self):
        return bool(self.world.cluster.nodes[self.node].kill_trainers())


class Signalled(Fault):
    """Sends processes of a node a signal after which others have to start them again."""

    longest, sends = 0.0, signal.SIGKILL

    draw = TrainerKilled.draw

    def pids(self):
        raise NotImplementedError

    def begin(self):
        pids = self.pids()
        kill(pids, self.sends)
        return bool(pids)


class AgentKilled(Signalled):
    """Kills a node's agent. Its init starts it again."""

    name, weight = "agent killed", 1.5

    def pids(self):
        return self.world.cluster.nodes[self.node].pids("agent")


class InitKilled(Signalled):
    """Kills a node's init, which runs the agent and its trainers. The machine's supervisor starts another init."""

    name, silences = "init killed", True

    def pids(self):
        return self.world.cluster.nodes[self.node].pids("init")


class CheckpointKilled(Fault):
    name, weight = "checkpoint service killed", 2.0

    draw = TrainerKilled.draw

    def begin(self):
        self.world.hold("checkpoint", self.node)
        self.world.cluster.nodes[self.node].kill_checkpoint()
        return True

    def end(self):
        self.world.release("checkpoint", self.node)


class CoordinatorKilled(Fault):
    name, weight, stops_coordinator = "coordinator killed", 2.0, True

    def begin(self):
        self.world.hold("coordinator")
        self.world.cluster.kill_coordinator()
        return True

    def end(self):
        self.world.release("coordinator")


class AllTrainersKilled(Fault):
    name, weight, longest = "all trainers killed", 0.5, 0.0

    def begin(self):
        pids = self.world.cluster.trainer_pids()
        kill(pids)
        return bool(pids)


class Frozen(Fault):
    """Stops processes, as a machine that swaps or a busy hypervisor does, and continues them later."""

    longest, silences = 6.0, True

    draw = TrainerKilled.draw

    def pids(self):
        raise NotImplementedError

    def begin(self):
        self.stopped = self.pids()
        kill(self.stopped, signal.SIGSTOP)
        return bool(self.stopped)

    def end(self):
        kill(self.stopped, signal.SIGCONT)


class TrainerFrozen(Frozen):
    name, weight = "trainer frozen", 2.0

    def pids(self):
        return self.world.cluster.nodes[self.node].pids("trainer")


class AgentFrozen(Frozen):
    name = "agent frozen"

    def pids(self):
        return self.world.cluster.nodes[self.node].pids("agent")


class InitFrozen(Frozen):
    """Stops a node's init. Its agent lives on, and nobody reaps the processes that end meanwhile."""

    name = "init frozen"

    def pids(self):
        return self.world.cluster.nodes[self.node].pids("init")


class CheckpointFrozen(Frozen):
    name, silences = "checkpoint service frozen", False

    def pids(self):
        return self.world.cluster.nodes[self.node].pids("checkpoint")


class CoordinatorFrozen(Frozen):
    name, weight, silences = "coordinator frozen", 1.5, False

    @staticmethod
    def draw(random, nodes):
        return {}

    def pids(self):
        coordinator = self.world.cluster.coordinator
        return [coordinator.pid] if coordinator.poll() is None else []


class NodeFrozen(Frozen):
    """Stops all processes of a node at once, as if its whole machine were paused."""

    name = "node frozen"

    def pids(self):
        return self.world.cluster.nodes[self.node].all_pids()
