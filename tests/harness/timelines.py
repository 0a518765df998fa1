"""Reads the timelines that trainers write, and says what their steps show."""
import json


class Timelines:
    """Reads the timelines in a folder. Each call reads only the lines that are new."""

    def __init__(self, folder):
        self.folder = folder
        self.lines = []
        # `read_to` maps a file to the length that was read.
        self.read_to = {}

    def marks(self):
        """Returns all lines of the trainers' timelines, sorted by time."""
        for path in self.folder.glob("*.jsonl"):
            with open(path, "rb") as file:
                file.seek(self.read_to.get(path, 0))
                text = file.read()
            # The last line of a killed trainer may be torn, so only whole lines are read.
            whole = text.rfind(b"\n") + 1
            self.read_to[path] = self.read_to.get(path, 0) + whole
            self.lines += map(json.loads, text[:whole].splitlines())
        self.lines.sort(key=lambda m: m["t"])
        return list(self.lines)


def stray_steps(marks):
    """Returns a sentence for each step that a rank of an older generation applied after a newer one had stepped.
    The one step that the rank was in at that time is allowed."""
    # `newest` maps a job to its highest generation that has stepped and to the time of that generation's first step.
    newest, strays, in_flight = {}, [], set()
    for mark in marks:
        if mark["event"] != "step":
            continue
        job, generation = mark["job"], mark["generation"]
        highest, since = newest.get(job, (0, 0))
        if generation > highest:
            newest[job] = (generation, mark["t"])
        elif generation < highest:
            key = (mark["trainer"], generation)
            if key in in_flight:
                strays.append(f"{mark['trainer']} applied step {mark['step']} in generation {generation}, "
                              f"{mark['t'] - since:.2f} s after the first step of generation {highest}")
            in_flight.add(key)
    return strays


def completions(marks):
    """Returns {step: time}, where time is when every member of a generation had applied the step."""
    seen, done = {}, {}
    for mark in marks:
        if mark["event"] != "step":
            continue
        key = (mark["generation"], mark["step"])
        seen.setdefault(key, set()).add(mark["trainer"])
        if len(seen[key]) == mark["world"]:
            done.setdefault(mark["step"], mark["t"])
    return done
