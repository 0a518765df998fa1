"""Judges from what trainers, coordinator and user wrote down whether a round kept all promises.

All functions are pure. Each check yields a sentence for each promise that was broken.
"""
import collections
import re

from timelines import stray_steps

# `DEAF` is the sum of two times in seconds: until the coordinator counts a silent node as dead, and until it hears a
# node again once the node can send.
DEAF = 12.0
# The coordinator has to count as spent at least the share `COUNTED` of what the trainers' running time costs. The share
# is below 1 because trainers and coordinator measure that time by different clocks.
COUNTED = 0.98
# `BLURRED` is how many seconds of each trainer's time the coordinator may leave uncounted, at the begin and the end of
# the trainer's membership.
BLURRED = 1.5

# `HOLDS` finds the step of the checkpoint in the text of the event checkpoint_saved. The event's own step is the one
# that the job had reached when the event was written.
HOLDS = re.compile(r"^checkpoint \S+ holds step (\d+)")

# `Found` is what a round left behind. `marks` are the trainers' timelines, and `events` are the coordinator's. `jobs`
# and `costs` have what the user saw, by uid. `silences` are (nodes, begin, end) by the clock of the marks. `damaged`
# says whether bytes of the store were made wrong. `prices` has each node's lowest price of an hour. `uncounted` is the
# seconds for which the coordinator was away while its clock was set, so that it could not know them (docs/costs.md).
# `digest` is that of the undisturbed job.
Found = collections.namedtuple("Found", "marks events jobs costs silences damaged prices uncounted digest")


def judge(found):
    for check in (known_jobs, one_generation_steps, nothing_behind_durable, nothing_behind_the_living,
                  each_change_has_a_reason, same_result, all_is_counted):
        yield from check(found)


def steps_of(found):
    """Returns {(job uid, generation): the entries of steps in the trainers' timelines}, in order."""
    steps = collections.defaultdict(list)
    for mark in found.marks:
        if mark["event"] == "step":
            steps[mark["job"], mark["generation"]].append(mark)
    return dict(sorted(steps.items(), key=lambda item: item[0]))


def begins_at(marks):
    """Returns the last step that was complete when a generation began."""
    return min(mark["step"] for mark in marks) - 1


def node_of(mark):
    """Returns the node of the trainer whose timeline has `mark`. A trainer is called `NODE/SLOT` or `NODE/SLOT/...`."""
    return mark["trainer"].split("/")[0]


def name_of(found, uid):
    return found.jobs[uid]["name"] if uid in found.jobs else uid


def events_of(found, uid):
    name = name_of(found, uid)
    return [event for event in found.events if event.get("job") == name]


def known_jobs(found):
    for uid in sorted({mark["job"] for mark in found.marks} - {*found.jobs}):
        yield f"trainers worked on a job {uid} that its user was never told of"


def one_generation_steps(found):
    yield from stray_steps(found.marks)


def nothing_behind_durable(found):
    for (uid, generation), marks in steps_of(found).items():
        durable = 0
        for event in events_of(found, uid):
            if event["kind"] == "checkpoint_saved" and event.get("generation", 0) < generation:
                durable = max(durable, int(HOLDS.search(event["text"]).group(1)))
            elif event["kind"] == "checkpoint_damaged" and found.damaged:
                durable = 0
            elif event["kind"] == "checkpoint_damaged":
                yield f"{name_of(found, uid)}: nothing damaged the store, and yet: {event['text']}"
            elif event.get("generation", 0) >= generation:
                break
        if begins_at(marks) < durable:
            yield (f"{name_of(found, uid)}: generation {generation} began at step {begins_at(marks)}, "
                   f"and step {durable} was durable before it")


def nothing_behind_the_living(found):
    """Checks that no generation began at a lower step than that of a live trainer that the coordinator could hear."""
    alive_until = {}
    for mark in found.marks:
        alive_until[mark["pid"], mark["trainer"]] = mark["t"]
    for (uid, generation), marks in steps_of(found).items():
        at, begin = marks[0]["t"], begins_at(marks)
        newest = {}
        for mark in found.marks:
            if mark["event"] == "step" and mark["job"] == uid and mark["generation"] < generation and mark["t"] < at:
                newest[mark["pid"], mark["trainer"]] = mark
        for who, mark in newest.items():
            if mark["step"] > begin and alive_until[who] > at and not is_silent(found, node_of(mark), mark["t"], at):
                yield (f"generation {generation} of job {uid} began at step {begin}, and trainer {mark['trainer']} "
                       f"(pid {mark['pid']}) had step {mark['step']} and lived")


def is_silent(found, node, begin, end):
    return any(node in nodes and since - DEAF < end and until + DEAF > begin for nodes, since, until in found.silences)


def each_change_has_a_reason(found):
    for uid, generation in steps_of(found):
        if not any(event.get("generation") == generation and event.get("text") for event in events_of(found, uid)):
            yield f"{name_of(found, uid)}: no event says why there is generation {generation}"


def same_result(found):
    for uid, job in found.jobs.items():
        status = job["status"]
        if status["state"] in ("FAILED", "CANCELLED"):
            yield f"{job['name']} is {status['state']}: {status.get('reason')}"
        elif status["state"] == "SUCCEEDED" and status.get("state_digest") != found.digest:
            yield f"{job['name']} ended with {status.get('state_digest')}, undisturbed with {found.digest}"


def summary(found):
    """Returns a line that says how much there was to judge."""
    steps, least = steps_of(found), ran_for(found)
    saved = sum(event["kind"] == "checkpoint_saved" for event in found.events)
    spent = sum(cost.get("spent", 0) for cost in found.costs.values())
    return (f"judged {sum(map(len, steps.values()))} steps in {len(steps)} generations of {len(found.jobs)} jobs, "
            f"{len(found.events)} events, {saved} checkpoints, {spent:.1f} spent where at least "
            f"{sum(least[uid] for uid in found.costs):.1f} ran")


def ran_for(found):
    """Returns {job uid: what it cost at least}.

    Each trainer is paid for from its first to its last step."""
    spans = collections.defaultdict(list)
    for mark in found.marks:
        if mark["event"] == "step":
            spans[mark["job"], mark["pid"], node_of(mark)].append(mark["t"])
    least = collections.Counter()
    for (uid, _, node), times in spans.items():
        least[uid] += max(0.0, max(times) - min(times) - BLURRED) / 3600 * found.prices[node] * COUNTED
    return least


def all_is_counted(found):
    least = ran_for(found)
    unknown = found.uncounted * sum(found.prices.values()) / 3600
    for uid, cost in found.costs.items():
        spent, ran = cost.get("spent", 0), least[uid] - unknown
        if spent < ran:
            yield f"{name_of(found, uid)} spent {spent:.2f}, and ran for {ran:.2f} at least"
