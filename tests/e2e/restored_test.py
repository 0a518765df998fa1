"""Tests that a coordinator restored from a backup takes over live trainers: none stops, and no step is redone."""
import json
import pathlib
import signal
import unittest

from base import Injector, TakenOverTest, kill, small_job, steps_done, wait_until

LISTENS = 3


class RestoredTest(TakenOverTest):
    def start(self, steps=20_000, submitted=True, **checkpoint):
        self.running = self.cluster(coordinator_flags=[f"--listen-first={LISTENS}"])
        self.spec = small_job("job", self.text, steps=steps)
        # The store is outside the coordinator's folders, because the test moves those folders.
        self.spec["spec"]["checkpoint"].update(store=f"file://{self.folder}/store", **checkpoint)
        self.inject = Injector(self.running, "job")
        if submitted:
            self.submit()

    def submit(self):
        self.running.submit(self.spec)
        self.inject.await_members(3)
        self.inject.await_steps(20)

    def backup(self):
        self.file = f"{self.folder}/backup"
        self.running.cli("backup", self.file)

    def restore(self, aside):
        """Kills the coordinator and starts it on the data folder that is restored from the backup."""
        self.running.swap_coordinator(
            aside, make=lambda data: self.running.cli("restore", self.file, "--data", str(data)))

    def await_generation_after(self, generation):
        """Waits for a newer generation of three members that step, and returns it."""
        def grown():
            status = self.running.status("job")
            return status["generation"] > generation and len(status["members"]) == 3
        wait_until(grown, 60, "a newer generation of three", poll=0.1)
        self.inject.await_steps(5)
        return self.running.status("job")["generation"]

    def assert_nothing_redone_in(self, generation):
        """Checks that the job goes on in `generation`, and that no trainer has made a step twice."""
        self.assertEqual(self.running.status("job")["generation"], generation)
        made = [(mark["trainer"], mark["step"]) for mark in self.running.marks()
                if mark["event"] == "step" and mark["generation"] == generation]
        self.assertEqual(len(made), len(set(made)))
        self.running.cli("cancel", "job")

    def test_five_changes_of_membership_after_the_backup(self):
        self.start()
        generation = self.running.status("job")["generation"]
        self.backup()
        for name in ("n1", "n2", "n3"):
            self.running.nodes[name].kill_trainers()
            generation = self.await_generation_after(generation)
        node = self.running.nodes["n2"]
        node.kill()
        wait_until(lambda: self.running.status("job")["generation"] > generation, 60, "the others to go on", poll=0.1)
        generation = self.running.status("job")["generation"]
        node.start()
        generation = self.await_generation_after(generation)
        self.pids = self.running.trainer_pids()
        self.restore(aside="lost")
        # The trainers step on while the restored coordinator still waits to hear from them before it decides anything.
        self.assert_goes_on()
        taken_over, = self.await_event("membership_adopted")
        self.assertIn(f"generation {generation} of 3 workers is taken over", taken_over)
        self.assert_goes_on()
        self.assert_nothing_redone_in(generation)

    def test_the_coordinator_of_before_comes_back(self):
        self.start()
        self.backup()
        generation = self.running.status("job")["generation"]
        self.running.nodes["n1"].kill_trainers()
        generation = self.await_generation_after(generation)
        self.pids = self.running.trainer_pids()
        self.restore(aside="old")
        self.await_event("membership_adopted")
        # The old coordinator comes back after the new one was killed. If both ran, the old one would be told at once
        # that it is superseded.
        self.running.swap_coordinator(aside="new", back="old", answers=False)
        self.await_superseded()
        self.assert_goes_on()
        self.running.swap_coordinator(aside="old", back="new")
        self.assert_goes_on()
        self.assertEqual(len(self.events("membership_adopted")), 1)
        self.assert_nothing_redone_in(generation)

    def submit_after_the_backup(self, **checkpoint):
        self.start(steps=400, submitted=False, **checkpoint)
        self.backup()
        self.submit()
        self.generation = self.running.status("job")["generation"]
        self.pids = self.running.trainer_pids()

    def assert_goes_on_to_the_end(self):
        """Checks that the job goes on in its generation to the undisturbed result."""
        wait_until(lambda: self.running.status("job")["state"] == "RUNNING", 60, "the job to be taken over", poll=0.1)
        self.assertEqual(self.running.trainer_pids(), self.pids)
        status = self.await_end(self.running, "job")
        self.assertEqual(status["generation"], self.generation)
        self.assert_undisturbed(status, self.spec)

    def test_a_job_of_after_the_backup_is_proven_by_its_store(self):
        self.submit_after_the_backup()
        self.restore(aside="lost")
        text, = self.await_event("job_adopted")
        self.assertIn("the record in its store is this cluster's", text)
        self.assert_goes_on_to_the_end()

    def test_a_job_that_was_cancelled_after_the_backup_does_not_train_again(self):
        self.start()
        self.backup()
        self.running.cli("cancel", "job")
        file, = pathlib.Path(self.folder, "store").glob("*/job.json")
        wait_until(lambda: json.loads(file.read_text())["job"].get("over"), 60, "its store to know that it is over",
                   poll=0.1)
        wait_until(lambda: not self.running.trainer_pids(), 60, "its trainers to end", poll=0.1)
        done = steps_done(self.running)
        self.restore(aside="lost")
        text, = self.await_event("job_was_over")
        self.assertIn("cancelled by the user", text)
        self.assertEqual(self.running.status("job")["state"], "CANCELLED")
        wait_until(lambda: not self.running.trainer_pids(), 60, "the trainer that looked to end", poll=0.1)
        self.assertEqual(steps_done(self.running), done)

    def test_a_job_of_after_the_backup_without_a_store(self):
        self.submit_after_the_backup(every_steps=0)
        self.restore(aside="lost")
        self.await_event("job_found")
        self.assertEqual(self.running.status("job")["state"], "FOUND")
        self.assert_goes_on()
        self.running.cli("adopt", "job")
        self.assert_goes_on_to_the_end()

    def test_a_job_of_after_the_backup_that_has_ended(self):
        """Tests a job whose end a frozen node has not heard of."""
        self.submit_after_the_backup()
        frozen = self.running.nodes["n3"].all_pids()
        kill(frozen, signal.SIGSTOP)
        self.addCleanup(kill, frozen, signal.SIGCONT)
        self.await_end(self.running, "job")
        self.restore(aside="lost")
        kill(frozen, signal.SIGCONT)
        text, = self.await_event("job_was_over")
        self.assertIn("is over, as the record in its store says", text)
        wait_until(lambda: self.running.nodes["n3"].pids("trainer") == [], 60, "its last trainer to be stopped",
                   poll=0.1)
        self.assertEqual(self.running.status("job")["state"], "SUCCEEDED")


if __name__ == "__main__":
    unittest.main()
