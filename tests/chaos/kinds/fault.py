"""Defines what a kind of fault is."""


class Fault:
    """Defines what each kind of fault, a subclass, has to do.

    When the schedule is made, a fault draws what it breaks, from the names of the nodes alone. When the schedule is
    played, begin() breaks it in a `World` (world.py), and end() repairs it later. Other faults may break the same
    thing meanwhile."""

    # `name` is printed when a fault of the kind happens. A class without a name only serves as a base of other kinds.
    name = ""
    # `weight` says how often the kind is drawn, relative to others.
    weight = 1.0
    # The fault ends after at most `longest` seconds.
    longest = 3.0
    # A fault of a `privileged` kind needs rights that only root has.
    privileged = False
    # Where `silences` is true, the coordinator may hear nothing from the fault's nodes while it lasts, although their
    # processes live.
    silences = False
    stops_coordinator = False
    # Where `damages_store` is true, bytes of the store may become wrong, rather than be missing.
    damages_store = False
    # A fault `of_own_models` needs a job that trains a model of the user's own.
    of_own_models = False

    def __init__(self, world, **drawn):
        self.world, self.drawn = world, drawn
        self.__dict__.update(drawn)

    @staticmethod
    def draw(random, nodes):
        """Draws at random, from a `Draw` (schedule.py), what the fault breaks. Returns values that JSON can hold."""
        del random, nodes
        return {}

    @staticmethod
    def moves_coordinators_clock(drawn):
        """Returns whether a fault with these drawn values moves the coordinator's clock."""
        del drawn
        return False

    def nodes(self):
        """Returns the names of the nodes that the fault affects."""
        return [value for value in self.drawn.values() if value in self.world.cluster.nodes]

    def begin(self):
        """Breaks what the fault has drawn. Returns False where nothing is there to break. Then end() is not called."""
        raise NotImplementedError

    def end(self):
        """Repairs what begin() has broken, as far as that still exists."""
