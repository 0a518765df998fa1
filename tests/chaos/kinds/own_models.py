"""Defines faults of the processes that run a user's own model. They happen in rounds whose job has one."""
import signal

from kinds.fault import Fault
from kinds.processes import Frozen
from live_processes import kill
from model_processes import model_processes, warm_processes


class ModelProcessKilled(Fault):
    name, weight, longest, of_own_models = "model process killed", 3.0, 0.0, True

    draw = Frozen.draw

    def begin(self):
        pids = model_processes(self.world.cluster.nodes[self.node])
        kill(pids)
        return bool(pids)


class WarmProcessKilled(Fault):
    """Kills what model processes are forked from. Its agent starts another one."""

    name, longest, of_own_models = "warm process killed", 0.0, True

    draw = Frozen.draw

    def begin(self):
        pids = warm_processes(self.world.cluster.nodes[self.node])
        kill(pids)
        return bool(pids)


class ModelProcessFrozen(Fault):
    """Stops a model process. Its trainer kills it, so that nothing is left to be continued."""

    name, longest, of_own_models = "model process frozen", 0.0, True

    draw = Frozen.draw

    def begin(self):
        pids = model_processes(self.world.cluster.nodes[self.node])
        kill(pids, signal.SIGSTOP)
        return bool(pids)
