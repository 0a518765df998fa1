"""Tests that the oracle reports each promise that a round can break, and is silent where all were kept."""
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "harness")]
from oracle import DEAF, Found, judge  # noqa: E402

UID, DIGEST = "f00d", "abc"


def mark(t, generation, step, node="n1", pid=1, event="step"):
    return {"t": t, "event": event, "trainer": f"{node}/0/{pid}", "job": UID, "pid": pid, "step": step,
            "generation": generation, "world": 1}


def event(kind, generation, step=0, text="because"):
    return {"kind": kind, "job": "job", "generation": generation, "step": step, "text": text}


def saved(generation, step):
    """Returns the event of the save of a checkpoint of `step`, during which the job has made three more steps."""
    return event("checkpoint_saved", generation, step + 3, f"checkpoint {generation}-{step}-n1_0_ab holds step {step}")


def found(marks, events=None, state="SUCCEEDED", digest=DIGEST, spent=1e6, silences=(), damaged=False, uncounted=0):
    if events is None:
        events = [event("started", generation) for generation in sorted({mark["generation"] for mark in marks})]
    job = {"name": "job", "status": {"state": state, "reason": "it is so", "state_digest": digest}}
    return Found(marks=marks, events=events, jobs={UID: job}, costs={UID: {"spent": spent}}, silences=list(silences),
                 damaged=damaged, prices={"n1": 3600, "n2": 3600}, uncounted=uncounted, digest=DIGEST)


class OracleTest(unittest.TestCase):
    def broken(self, *args, **options):
        return " | ".join(judge(found(*args, **options)))

    def test_a_sound_round(self):
        marks = [mark(0, 1, 1), mark(1, 1, 2), mark(2, 2, 3, pid=2)]
        events = [event("started", 1), saved(1, 2), event("trainer_killed", 2)]
        self.assertEqual(self.broken(marks, events), "")

    def test_an_older_generation_steps_on(self):
        marks = [mark(0, 1, 1), mark(1, 2, 2, "n2", 2), mark(2, 1, 2), mark(3, 1, 3)]
        self.assertIn("applied step 3 in generation 1", self.broken(marks))

    def test_back_behind_what_was_durable(self):
        marks = [mark(t, 1, t) for t in range(1, 21)] + [mark(30, 2, 10, pid=2)]
        before = [event("started", 1), saved(1, 15), event("all_killed", 2)]
        self.assertIn("began at step 9, and step 15 was durable", self.broken(marks, before))
        later = [event("started", 1), event("all_killed", 2), saved(2, 15)]
        self.assertEqual(self.broken(marks, later), "")

    def test_damage_is_an_excuse_only_where_there_was_some(self):
        marks = [mark(t, 1, t) for t in range(1, 21)] + [mark(30, 2, 10, pid=2)]
        events = [event("started", 1), saved(1, 15), event("checkpoint_damaged", 1), event("resumed", 2)]
        self.assertEqual(self.broken(marks, events, damaged=True), "")
        self.assertIn("nothing damaged the store", self.broken(marks, events))

    def test_a_living_replica_that_was_passed_over(self):
        marks = [mark(1, 1, 1), mark(2, 1, 2), mark(3, 2, 2, "n2", 2), mark(4, 3, 3)]
        self.assertIn("had step 2 and lived", self.broken(marks))
        self.assertEqual(self.broken(marks, silences=[(["n1"], 2, 3)]), "")
        self.assertIn("lived", self.broken(marks, silences=[(["n1"], 3 + 2 * DEAF, 4 + 2 * DEAF)]))
        self.assertIn("lived", self.broken(marks, silences=[(["n2"], 2, 3)]))
        # A trainer without an entry in its timeline after the newer generation began counts as dead, so no promise is
        # broken.
        self.assertEqual(self.broken(marks[:-1]), "")

    def test_a_change_without_a_reason(self):
        marks = [mark(0, 1, 1), mark(1, 2, 2, pid=2)]
        self.assertIn("why there is generation 2", self.broken(marks, [event("started", 1)]))
        self.assertIn("why there is generation 2", self.broken(marks, [event("started", 1), event("x", 2, text="")]))

    def test_another_result_or_a_failure(self):
        marks = [mark(0, 1, 1)]
        self.assertIn("undisturbed with abc", self.broken(marks, digest="def"))
        self.assertIn("FAILED: it is so", self.broken(marks, state="FAILED"))
        # A job that is only slow does not break a promise.
        self.assertEqual(self.broken(marks, state="RUNNING", digest=""), "")

    def test_a_job_that_nobody_submitted(self):
        self.assertIn("job beef that its user", self.broken([mark(0, 1, 1), {**mark(1, 1, 1, pid=2), "job": "beef"}]))

    def test_time_that_was_not_counted(self):
        marks = [mark(t, 1, t + 1) for t in range(100)]
        self.assertIn("spent 90.00", self.broken(marks, spent=90))
        self.assertEqual(self.broken(marks, spent=99), "")
        self.assertEqual(self.broken(marks, spent=90, uncounted=5), "")
        self.assertIn("spent 80.00", self.broken(marks, spent=80, uncounted=5))


if __name__ == "__main__":
    unittest.main()
