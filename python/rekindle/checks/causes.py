"""Says in words what was found, and orders it by how likely it is the cause."""

from __future__ import annotations

from rekindle.checks.entropy import Draw
from rekindle.checks.observed import Change
from rekindle.checks.report import Cause

# These texts say when something happened.
IN_IMPORT, IN_TASK, IN_DATA, IN_FORWARD = "while it is imported", "in the task's function", "in data[i]", "in forward"
_DRAW = ("draw with torch, numpy.random or random and no generator of your own, because Rekindle seeds these before "
         "every forward and every sample")
_FIXES = {
    "counter": "make it a buffer (self.register_buffer(name, torch.tensor(0))), which travels with the weights, or do "
               "without it",
    "tensor": "make it a buffer (self.register_buffer(name, tensor)), which travels with the weights, or compute it "
              "anew in each forward",
    "memo": "compute it anew each time, or keep only what depends on nothing but its key",
    "generator": _DRAW,
    "attribute": "compute it anew in each forward, or make it a buffer if it is a number",
    "entropy": _DRAW,
    "time": "do without it, or take a number that is the same in every process",
    "address": "do without it, or take a number that is the same in every process",
    "dataset": "let data[i] and collate depend on nothing but their argument and what torch, numpy.random and random "
               "draw",
    "import": "draw in the function of the task, which runs under the job's seed",
}
_WORDS = {"counter": "number", "tensor": "tensor that is no buffer", "memo": "store", "generator":
          "generator of random numbers", "attribute": "value"}
# What may differ between processes, and what may differ by the order within one, the most likely first.
_ORDERS = {
    "processes": ("entropy", "import", "time", "address", "generator", "dataset", "attribute", "memo", "tensor",
                  "counter"),
    "order": ("dataset", "generator", "counter", "tensor", "memo", "attribute", "entropy", "time", "import", "address"),
}


def _fix(kind: str, phase: str) -> str:
    """A Dataset has no buffers."""
    return _FIXES["dataset"] if phase == IN_DATA and kind != "generator" else _FIXES[kind]


def of_change(change: Change, phase: str, confirmed: list[Change]) -> Cause:
    """`phase` is when it changed. `confirmed` are the changes that an experiment has shown to be the cause together."""
    where = f" of {change.owner}" if change.owner else ""
    if change.path.startswith("functools."):
        said = f"{change.path} keeps results: it has {change.after} after {change.before}, {phase}"
    elif change.kind == "generator":
        said = (f"{change.path}{where} is a {_WORDS[change.kind]} of its own, which moves on {phase} and is not seeded "
                "again")
    else:
        said = f"{change.path}{where} is a {_WORDS[change.kind]} and changes {phase}"
        said += f", from {change.before} to {change.after}" if change.before != change.after else ""
    shown = any(change is one for one in confirmed)
    if shown:
        what = "it" if len(confirmed) == 1 else f"all {len(confirmed)} causes"
        said += f", and with {what} put back the micro-batch gave what it gives in a new process"
    return Cause(change.kind, change.path, phase, said, _fix(change.kind, phase), shown)


def of_draw(draw: Draw) -> Cause:
    said = f"{draw.line} asks for {draw.what} {draw.phase}, and each process gets another answer"
    return Cause(draw.kind, draw.line, draw.phase, said, _FIXES[draw.kind])


def of_dataset(subject: str, again: bool) -> Cause:
    """`subject` is what differs, and `again` says that it does although the same samples were read before it."""
    how = "though the same samples were read before" if again else "where others were read before"
    return Cause("dataset", subject, IN_DATA, f"{subject} gives something else in another process, {how}",
                 _FIXES["dataset"], True)


def of_import(module: str, generators: list[str]) -> Cause:
    said = f"importing {module} draws from {' and '.join(generators)}"
    return Cause("import", module, IN_IMPORT, f"{said}, so what it gets depends on what was imported and drawn before",
                 _FIXES["import"])


def is_note(cause: Cause) -> bool:
    """Returns whether something is worth a note where nothing differed."""
    return cause.kind in ("counter", "tensor", "memo", "generator", "import", "dataset")


def as_note(cause: Cause) -> str:
    return f"nothing differed by it here, but {cause.text()}"


def ranked(found: list[Cause], between: str) -> list[Cause]:
    """Returns what may be the cause, the most likely first. What an experiment has shown goes before all."""
    order = _ORDERS[between]
    # What was drawn while the task was made explains no difference within a process.
    kept = [cause for cause in found if between == "processes" or cause.kind not in ("entropy", "time", "address")
            or cause.phase in (IN_FORWARD, IN_DATA)]
    return sorted(kept, key=lambda cause: (not cause.confirmed, order.index(cause.kind)))
