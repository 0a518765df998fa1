"""Defines faults of the processes that run a user's own model. They happen in rounds whose job has one."""
import signal

from kinds.processes import Signalled
from model_processes import model_processes, warm_processes


class ModelProcessKilled(Signalled):
    name, weight, of_own_models = "model process killed", 3.0, True

    def pids(self):
        return model_processes(self.world.cluster.nodes[self.node])


class ModelProcessFrozen(ModelProcessKilled):
    """Stops a model process. Its trainer kills it, so that nothing is left to be continued."""

    name, weight, sends = "model process frozen", 1.0, signal.SIGSTOP


class WarmProcessKilled(Signalled):
    """Kills what model processes are forked from. Its agent starts another one."""

    name, of_own_models = "warm process killed", True

    def pids(self):
        return warm_processes(self.world.cluster.nodes[self.node])
