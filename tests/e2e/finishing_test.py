"""Tests the end of jobs whose stores have broken before, with real trainers, services and stores.

A job is over when its final checkpoint is in its store. Until then the state waits in memory, on one node."""
import pathlib
import unittest

from base import ClusterTest, small_job, wait_until
from exchange import exchange
from hook import Hook

STEPS = 100
BREAKS_AT = 40
PATIENCE = 120


class FinishingTest(ClusterTest):
    def start(self, nodes, steps=STEPS, global_batch=12, **options):
        """Starts a job and breaks its store after some steps."""
        self.store = pathlib.Path(self.folder) / "store"
        self.away = pathlib.Path(self.folder) / "store.away"
        self.store.mkdir()
        self.running = self.cluster(nodes=nodes, **options)
        self.spec = small_job("job", self.text, steps=steps, workers=min(3, global_batch), global_batch=global_batch)
        self.spec["spec"]["checkpoint"].update(store=f"file://{self.store}")
        self.running.submit(self.spec)
        wait_until(lambda: self.running.status("job")["step"] >= BREAKS_AT, PATIENCE, "steps to be made", poll=0.05)
        self.break_store()

    def finish_in_vain(self, nodes, **options):
        """Makes all steps of a job whose store broke before the last."""
        self.start(nodes, **options)
        self.assert_finishing()

    def break_store(self):
        """Puts a file where the store's folder was, so that nothing can be read or written."""
        self.away.write_text("no folder")
        exchange(self.store, self.away)

    def heal_store(self):
        exchange(self.store, self.away)
        self.away.unlink()

    def kept(self):
        """Returns the step of the newest checkpoint in the store that was moved away."""
        return max([int(path.name.split("-")[1]) for path in self.away.rglob("*.json")
                    if path.name.split("-")[0].isdigit()], default=0)

    def assert_finishing(self):
        def past_the_steps():
            status = self.running.status("job")
            return status if status["state"] in ("FINISHING", "SUCCEEDED", "FAILED") else None
        status = wait_until(past_the_steps, PATIENCE, "the steps to be made", poll=0.05)
        kept = self.kept()
        self.assertFalse(status["state"] == "SUCCEEDED" and kept < STEPS,
                         f"SUCCEEDED at step {status['step']}, and the newest checkpoint is of step {kept}")
        self.assertEqual((status["state"], status["step"]), ("FINISHING", STEPS), status["reason"])
        self.assertIn("could not be saved", status["reason"])

    def holder(self):
        """Returns the name of the one node that still runs a trainer of the job."""
        def only():
            names = [name for name, node in self.running.nodes.items() if node.pids("trainer")]
            return names[0] if len(names) == 1 else None
        return wait_until(only, PATIENCE, "all nodes but one to be given back", poll=0.05)

    def kinds(self):
        return [event["kind"] for event in self.running.events("job")["events"]]

    def kinds_of_all(self):
        return [event["kind"] for event in self.running.cli("events")["events"]]

    def assert_saved(self, *place):
        status = self.await_end(self.running, "job")
        self.assert_undisturbed(status, self.spec)
        listed = self.running.cli("checkpoint", "ls", *place)["checkpoints"]
        self.assertEqual(max(c["step"] for c in listed), STEPS)
        self.running.cli("checkpoint", "verify", *place)
        return status

    def test_one_node_keeps_the_state_until_its_store_is_back(self):
        hook = self.enterContext(Hook())
        self.finish_in_vain(("n1", "n2", "n3"), coordinator_flags=["--alert-webhook", hook.url])
        self.holder()
        wait_until(lambda: hook.got, PATIENCE, "the webhook", poll=0.05)
        self.assertEqual([body["kind"] for _, body in hook.got], ["finishing"])
        for refused in (("pause", "job"), ("cancel", "job")):
            with self.assertRaisesRegex(RuntimeError, "resume job --store URI.*cancel job --discard"):
                self.running.cli(*refused)
        self.running.kill_coordinator()
        self.running.start_coordinator()
        self.assertEqual(self.running.status("job")["state"], "FINISHING")
        self.heal_store()
        # `rekindle resume` makes the final save begin at once, rather than at the end of the pause between tries.
        self.running.cli("resume", "job")
        self.assert_saved("job")

    def hand_on(self):
        """Lets another node take the final state over."""
        before = self.holder()
        self.running.add_node("n3")
        self.running.cli("drain", before)
        wait_until(lambda: self.holder() != before, PATIENCE, "the state to be handed on", poll=0.1)
        self.assertEqual(self.running.status("job")["state"], "FINISHING")

    def test_it_is_handed_on_where_a_step_has_one_micro_batch(self):
        self.finish_in_vain(("n1",), global_batch=1)
        self.hand_on()
        self.heal_store()
        self.running.cli("resume", "job")
        self.assertEqual(self.assert_saved("job")["steps_redone"], 0)

    def test_it_is_handed_on_and_saved_elsewhere(self):
        self.finish_in_vain(("n1", "n2"))
        self.hand_on()
        elsewhere = pathlib.Path(self.folder) / "elsewhere"
        elsewhere.mkdir()
        self.running.cli("resume", "job", "--store", f"file://{elsewhere}")
        self.await_end(self.running, "job")
        self.heal_store()
        status = self.assert_saved("job")
        self.assertEqual(status["final_store"], f"file://{elsewhere}")
        self.assertEqual(status["steps_redone"], 0)

    def test_without_the_machine_it_is_made_again(self):
        self.finish_in_vain(("n1", "n2"))
        self.running.nodes[self.holder()].kill()
        wait_until(lambda: "final_state_lost" in self.kinds(), PATIENCE, "the loss to be noticed", poll=0.1)
        self.heal_store()
        status = self.assert_saved("job")
        self.assertGreaterEqual(status["steps_redone"], STEPS - BREAKS_AT - 15)

    def test_it_is_discarded_only_if_the_user_says_so(self):
        self.finish_in_vain(("n1",))
        self.running.cli("cancel", "job", "--discard")
        status = self.await_end(self.running, "job", state="CANCELLED")
        self.assertIn("gave the final state up", status["reason"])
        wait_until(lambda: not self.running.nodes["n1"].pids("trainer"), PATIENCE, "the trainer to leave", poll=0.1)

    def test_the_last_that_has_the_state_of_a_job_stays_until_it_is_saved(self):
        self.start(("n1",), steps=4000)
        self.running.cli("drain", "n1")
        drained_at = self.running.status("job")["step"]

        def let_go_or_waits():
            gone = self.running.status("job")["state"] == "PENDING"
            return "gone" if gone else "drain_waits" in self.kinds() and "waits"
        outcome = wait_until(let_go_or_waits, PATIENCE, "the drain to end, or to wait", poll=0.05)
        self.assertEqual(outcome, "waits", f"the node left at step {drained_at} or later, and the newest checkpoint is "
                                           f"of step {self.kept()}")
        self.heal_store()
        wait_until(lambda: "node_drained" in self.kinds_of_all(), PATIENCE, "the node to leave", poll=0.1)
        status = self.running.status("job")
        self.assertEqual(status["state"], "PENDING")
        self.assertGreaterEqual(status["checkpoint_step"], max(status["step"], drained_at))
        self.assertNotIn("steps_lost", self.kinds())


if __name__ == "__main__":
    unittest.main()
