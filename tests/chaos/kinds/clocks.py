"""Defines faults that make wall clocks wrong."""
from kinds.fault import Fault


class ClockShifted(Fault):
    """Shifts the clock of a node or of the coordinator by minutes or days, ahead or back."""

    name, longest = "clock shifted", 8.0

    @staticmethod
    def draw(random, nodes):
        seconds = random.choice([-86400, -3600, -60, 60, 7200, 86400])
        return {"whose": random.choice(["coordinator", *nodes]), "seconds": seconds}

    @staticmethod
    def moves_coordinators_clock(drawn):
        return drawn["whose"] == "coordinator"

    def begin(self):
        self.world.shift_clock(self.whose, self.seconds)
        return True

    def end(self):
        self.world.shift_clock(self.whose, -self.seconds)
