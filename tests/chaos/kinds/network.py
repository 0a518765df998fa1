"""Defines faults that drop packets or make links slow."""
from kinds.fault import Fault
from kinds.processes import TrainerKilled


class Cut(Fault):
    """Cuts two nodes, or a node and the coordinator, off from each other. No connection is closed."""

    name, weight, longest, privileged, silences = "cut", 2.0, 6.0, True, True

    @staticmethod
    def draw(random, nodes):
        a = random.choice(nodes)
        return {"a": a, "b": random.choice([other for other in ["coordinator", *nodes] if other != a])}

    def begin(self):
        self.world.network.partition(self.a, self.b, "-A")
        return True

    def end(self):
        self.world.network.partition(self.a, self.b, "-D")


class CutOneWay(Fault):
    name, weight, longest, privileged, silences = "cut of one way", 1.5, 6.0, True, True

    draw = Cut.draw

    def begin(self):
        self.world.network.drop(self.a, self.b, "-A")
        return True

    def end(self):
        self.world.network.drop(self.a, self.b, "-D")


class NodeCutOff(Fault):
    """Cuts a node off so that it can send nothing to anybody."""

    name, weight, longest, privileged, silences = "node cut off", 1.0, 8.0, True, True

    draw = TrainerKilled.draw

    def begin(self):
        self.world.network.silence(self.node, "-A")
        return True

    def end(self):
        self.world.network.silence(self.node, "-D")


class SlowLink(Fault):
    name, weight, longest, privileged, silences = "slow link", 1.0, 6.0, True, True

    @staticmethod
    def draw(random, nodes):
        return {"node": random.choice(nodes), "kilobits": random.choice([200, 1000, 5000])}

    def begin(self):
        self.world.network.slow(self.node, self.kilobits)
        return True

    def end(self):
        self.world.network.end_slow(self.node)
