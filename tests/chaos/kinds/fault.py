"""Defines what a kind of fault is."""


class Fault:
    """Defines what each kind of fault, a subclass, has to do.

    A fault draws what it breaks when the schedule is made, from the names of the nodes alone. When it is played, it
    breaks that in a world, and puts it right later. Other faults may be at work on the same thing meanwhile."""

    # `name` is printed. A class without a name is not a kind of its own.
    name = ""
    # `weight` says how often the kind is drawn, relative to others.
    weight = 1.0
    # The fault ends after at most `longest` seconds.
    longest = 3.0
    # A privileged kind needs what only root may do.
    privileged = False
    # Where `silences` is true, the fault's nodes may not be heard meanwhile, though what runs there lives.
    silences = False
    stops_coordinator = False
    # Where `damages_store` is true, bytes of the store may be wrong, rather than missing.
    damages_store = False

    def __init__(self, world, **drawn):
        self.world, self.drawn = world, drawn
        self.__dict__.update(drawn)

    @staticmethod
    def draw(random, nodes):
        """Draws what is broken from a `Draw` (schedule.py). Returns values that JSON can hold."""
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
        """Breaks what was drawn. Returns False where there was nothing to break, and then end() is not called."""
        raise NotImplementedError

    def end(self):
        """Puts right what was broken, even where it does not exist any more."""
