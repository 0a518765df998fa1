"""What a kind of fault is."""


class Fault:
    """One kind. It draws what it breaks when the schedule is made, from the names of the nodes alone; when it is
    played it breaks that in a world, and puts it right later. Others may be at work on the same thing meanwhile."""

    name = ""           # Of the kind, as it is printed; a class without one is no kind.
    weight = 1.0        # How often it is drawn, beside others.
    longest = 3.0       # Seconds until it ends, at most.
    privileged = False  # Needs what only root may do.
    silences = False    # Its nodes may not be heard meanwhile, though what runs there lives.
    stops_coordinator = False
    damages_store = False    # Bytes of the store may be wrong, rather than missing.

    def __init__(self, world, **drawn):
        self.world, self.drawn = world, drawn
        self.__dict__.update(drawn)

    @staticmethod
    def draw(random, nodes):
        """What is broken, as values that JSON can hold, from a `Draw` (schedule.py)."""
        del random, nodes
        return {}

    @staticmethod
    def moves_coordinators_clock(drawn):
        """Whether it does, with what was drawn."""
        del drawn
        return False

    def nodes(self):
        """Names of the nodes that it is about."""
        return [value for value in self.drawn.values() if value in self.world.cluster.nodes]

    def begin(self):
        """False where there was nothing to break; then end() is not called."""
        raise NotImplementedError

    def end(self):
        """Puts it right: also where what was broken is not there any more."""
