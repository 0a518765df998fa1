"""Defines faults of machines that disappear: without a word, after a notice, or because they were asked to leave."""
from kinds.fault import Fault
from kinds.processes import TrainerKilled


class NodeLost(Fault):
    """Ends all processes of a node at once, with its disk and its memory. Another machine takes its name later."""

    name, weight, longest, silences = "node lost", 2.0, 4.0, True

    draw = TrainerKilled.draw

    def begin(self):
        self.world.hold("node", self.node)
        self.world.lose(self.node)
        return True

    def end(self):
        self.world.release("node", self.node)


class AllNodesLost(Fault):
    """Ends all nodes, so that nothing is left of the job except what is in the store."""

    name, weight, longest, silences = "all nodes lost", 0.6, 4.0, True

    def begin(self):
        for node in self.world.cluster.nodes:
            self.world.hold("node", node)
            self.world.lose(node)
        return True

    def end(self):
        for node in self.world.cluster.nodes:
            self.world.release("node", node)

    def nodes(self):
        return list(self.world.cluster.nodes)


class Noticed(Fault):
    """Announces to a node that its machine will be taken. When the fault ends, the notice is withdrawn or the node has
    left."""

    name, weight, longest = "notice", 1.0, 8.0

    @staticmethod
    def draw(random, nodes):
        return {"node": random.choice(nodes), "seconds": 5 + int(10 * random.random())}

    def begin(self):
        self.world.hold("worker", self.node)
        # The file of the notice gets its name only once it is whole, because the agent would take half a line for a
        # notice, too.
        file = self.world.notice_file(self.node)
        whole = file.with_suffix(".new")
        whole.write_text(f"{self.seconds}s the rack is moved")
        whole.rename(file)
        return True

    def end(self):
        self.world.notice_file(self.node).unlink(missing_ok=True)
        self.world.release("worker", self.node)


class Taken(Noticed):
    """Ends a machine as the market of a local pool does.

    First the machine gets a notice. When the time of the notice is over, everything that runs on the machine is killed,
    and its disk is lost. Another machine takes its name."""

    name, silences = "machine taken after a notice", True

    def end(self):
        self.world.lose(self.node)
        super().end()


class Drained(Fault):
    """Drains a node for its user, who then puts another machine in its place."""

    name, weight, longest, silences = "drain", 1.0, 8.0, True

    draw = TrainerKilled.draw

    def begin(self):
        self.world.hold("worker", self.node)
        self.world.ask("drain", self.node)
        return True

    def end(self):
        self.world.lose(self.node)
        self.world.release("worker", self.node)


class PriceChanged(Fault):
    """Writes another price into the fleet file, and makes the coordinator read that file again."""

    name, weight, longest = "price changed", 1.0, 5.0

    @staticmethod
    def draw(random, nodes):
        del nodes
        return {"pool": random.choice(["cheap", "dear"]), "factor": 2 + 8 * random.random()}

    def begin(self):
        self.world.multiply_price(self.pool, self.factor)
        return True

    def end(self):
        self.world.multiply_price(self.pool, 1 / self.factor)
