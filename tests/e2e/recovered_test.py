"""Tests `rekindle recover`: the coordinator's machine is lost, and only its jobs' stores are left."""
import pathlib
import shutil
import signal
import subprocess
import unittest

from base import Cluster, Injector, TakenOverTest, kill, small_job, wait_until

LISTENS = 3
FLAGS = [f"--listen-first={LISTENS}"]


class RecoveredTest(TakenOverTest):
    def start(self, steps):
        self.running = self.cluster(coordinator_flags=FLAGS)
        self.spec = small_job("job", self.text, steps=steps)
        # The store is outside the coordinator's folders, because the test moves those folders.
        self.store = f"file://{self.folder}/store"
        self.spec["spec"]["checkpoint"]["store"] = self.store
        self.running.submit(self.spec)
        self.inject = Injector(self.running, "job")
        self.inject.await_members(3)
        wait_until(lambda: self.running.status("job")["checkpoint_step"] > 0, 60, "a checkpoint", poll=0.1)

    def recover(self, cluster, *flags):
        return cluster.cli("recover", "--store", self.store, "--data", str(cluster.coordinator_data()), *flags)

    def lose_coordinator(self):
        """Loses all of the coordinator's machine, and starts a new one at its address."""
        told = {}
        self.running.swap_coordinator("lost", make=lambda data: told.update(self.recover(self.running)))
        return told

    def refused(self, *args):
        done = subprocess.run(self.running.command(*args), capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def test_while_all_live_nobody_stops_and_the_lost_one_may_come_back(self):
        self.start(steps=20_000)
        generation = self.running.status("job")["generation"]
        self.pids = self.running.trainer_pids()
        spent = self.running.status("job")["cost"]["node_hours"]
        [job] = self.lose_coordinator()["jobs"]
        self.assertEqual((job["name"], job["state"], job["awaits_trainers"]), ("job", "PAUSED", True))
        # The trainers step on while the new coordinator still waits to hear from them before it decides anything.
        self.assert_goes_on()
        taken_over, = self.await_event("membership_adopted")
        self.assertIn(f"generation {generation} of 3 workers is taken over", taken_over)
        self.assert_goes_on()
        self.assertEqual(self.running.status("job")["state"], "RUNNING")
        self.assertGreaterEqual(self.running.status("job")["cost"]["node_hours"], spent)

        self.running.swap_coordinator("new", back="lost", answers=False)
        self.await_superseded()
        self.assert_goes_on()
        self.running.swap_coordinator("old", back="new")
        self.assert_goes_on()
        self.assertEqual(self.running.status("job")["generation"], generation)
        made = [(mark["trainer"], mark["step"]) for mark in self.running.marks() if mark["event"] == "step"]
        self.assertEqual(len(made), len(set(made)))
        # A trainer is killed, so a new generation is formed. Its number is one above that of the generation that was
        # taken over. Yet another generation may follow at once.
        self.running.nodes["n1"].kill_trainers()
        wait_until(lambda: self.running.status("job")["generation"] > generation, 60, "the next one", poll=0.1)
        self.inject.await_steps(5)
        stepped = {mark["generation"] for mark in self.running.marks() if mark["event"] == "step"}
        self.assertEqual(min(stepped - {generation}), generation + 1)
        self.running.cli("cancel", "job")

    def test_on_an_empty_machine_when_all_is_gone(self):
        self.start(steps=150)
        self.inject.await_steps(50)
        spent = self.running.status("job")["cost"]["node_hours"]
        self.running.stop()
        shutil.rmtree(self.running.dir / "coordinator")

        self.running = self.guarded(Cluster(pathlib.Path(self.folder) / "again", nodes=("m1", "m2"),
                                            coordinator_flags=FLAGS))
        self.assertIn("give --old-is-gone", self.refused("recover", "--store", self.store, "--run", "job"))
        [job] = self.recover(self.running)["jobs"]
        self.assertGreater(job["checkpoint_step"], 0)
        self.running.start()
        status = wait_until(lambda: self.running.status("job"), 60, "the job to be listed")
        self.assertEqual(status["state"], "PAUSED")
        self.assertGreaterEqual(status["cost"]["node_hours"], spent)
        wait_until(lambda: len(self.running.cli("nodes").get("nodes", [])) == 2, 60, "the nodes to register", poll=0.1)
        self.assertIn("--old-is-gone", self.refused("resume", "job"))
        self.running.cli("resume", "job", "--old-is-gone")
        status = self.await_end(self.running, "job")
        self.assert_undisturbed(status, self.spec)

    def test_after_cancel_it_stays_cancelled(self):
        self.start(steps=20_000)
        late = self.running.nodes["n3"]
        frozen = late.kill_trainers(signal.SIGSTOP)
        others = late.pids("agent") + late.pids("init")
        kill(others, signal.SIGSTOP)
        self.running.cli("cancel", "job")
        wait_until(lambda: not [pid for name in ("n1", "n2") for pid in self.running.nodes[name].pids("trainer")], 60,
                   "the others to end", poll=0.1)
        [job] = self.lose_coordinator()["jobs"]
        self.assertEqual((job["state"], job["over"]), ("CANCELLED", True))
        kill([*others, *frozen], signal.SIGCONT)
        wait_until(lambda: not self.running.trainer_pids(), 60, "the late one to be told that it is over", poll=0.1)
        self.assertEqual(self.running.status("job")["state"], "CANCELLED")


if __name__ == "__main__":
    unittest.main()
