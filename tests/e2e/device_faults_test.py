"""Tests that a device which fails or hangs costs no more than a killed trainer: on a fake device, at chosen operations.

The trainer ends itself with an exit code that says what happened, an event has its words, no other process dies, no
step is lost, and the final weights are those of an undisturbed run on the CPU."""
import pathlib
import unittest

from base import ClusterTest, small_job, steps_done, wait_until

STEPS = 120
# The fault comes after so many operations of its kind.
COUNT = 20


class DeviceFaultsTest(ClusterTest):
    def run_with(self, fault, point):
        """Runs a job of three trainers, of which the one of n2 meets a fault. Returns the texts of the events."""
        happened = pathlib.Path(self.folder) / "happened"
        cluster = self.cluster(device="fake", worker_env={
            "n2": {"REKINDLE_FAKE_FAULT": f"{fault} at {COUNT} of {point} once in {happened}"}})
        spec = small_job("job", self.text, steps=STEPS)
        # Two workers at least begin, so that another one has the state when the fault comes.
        cluster.submit({**spec, "spec": {**spec["spec"], "workers": {"min": 2, "max": 3}}})
        wait_until(happened.exists, 60, "the fault", poll=0.01)
        others, done = self.others(cluster), steps_done(cluster)
        wait_until(lambda: steps_done(cluster) > done + 5, 60, "the others to go on", poll=0.01)
        self.assertEqual(self.others(cluster), others)
        status = self.await_end(cluster, "job")
        self.assert_undisturbed(status, spec)
        self.assertEqual(status["steps_redone"], 0)
        return [event["text"] for event in cluster.cli("events")["events"]]

    @staticmethod
    def others(cluster):
        return [cluster.nodes[name].pids("trainer") for name in ("n1", "n3")]

    def assert_said(self, events, *words):
        self.assertTrue(any(all(word in text for word in words) for text in events), events)

    def test_a_context_lost_in_backward(self):
        self.assert_said(self.run_with("lose-context", "backward"), "code 75", "a test has broken 'backward'")

    def test_a_context_lost_in_the_update(self):
        self.assert_said(self.run_with("lose-context", "update"), "code 75", "a test has broken 'update'")

    def test_a_lost_device(self):
        self.assert_said(self.run_with("lose-device", "accumulate"), "code 76", "a test has broken 'accumulate'")

    def test_a_device_that_hangs(self):
        self.run_with("hang", "backward")

    def test_a_fault_that_does_not_exist_is_refused(self):
        cluster = self.cluster(nodes=("n1",), device="fake", worker_env={"n1": {"REKINDLE_FAKE_FAULT": "nonsense"}})
        cluster.submit(small_job("job", self.text, steps=STEPS))
        wait_until(lambda: any("is not 'FAULT at COUNT of POINT once in FILE'" in path.read_text(errors="replace")
                               for path in cluster.dir.rglob("*.log")), 60, "an error in a log", poll=0.1)


if __name__ == "__main__":
    unittest.main()
