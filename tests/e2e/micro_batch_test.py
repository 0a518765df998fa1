"""Tests `micro_batch: auto` with real processes.

The size is found by trials, fits into memory and is remembered. The result is as if the job file had named the size."""
import os
import resource
import shutil
import unittest

from base import ClusterTest, small_job, wait_until
from live_processes import processes


def auto_job(name, text, **training):
    return small_job(name, text, steps=12, micro_batch="auto", **{"global_batch": 24, **training})


def trials(cluster):
    """Returns the pids of the processes that are trying a size of the micro-batch."""
    return [pid for node in cluster.nodes.values() for pid, argv in processes(str(node.dir))
            if "--try-micro-batch" in argv]


def data_bytes(pid):
    """Returns how many bytes of a process the kernel counts against the limit RLIMIT_DATA."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmData:"))


class MicroBatchTest(ClusterTest):
    def found(self, cluster, job):
        status = cluster.status(job)
        told = [e["text"] for e in cluster.events(job)["events"] if e["kind"] == "micro_batch"]
        self.assertEqual(len(told), 1, told)
        return status["resolved_spec"]["training"]["micro_batch"], told[0]

    def test_the_size_is_found_once_and_the_result_is_as_if_it_had_been_named(self):
        cluster = self.cluster()
        cluster.submit(auto_job("first", self.text))
        status = self.await_end(cluster, "first")
        size, told = self.found(cluster, "first")
        # With a micro-batch of 1, 2, 3, 4 or 6, each of three workers and each of four gets at least one micro-batch.
        self.assertIn(size, (1, 2, 3, 4, 6))
        self.assertIn(f"micro_batch auto is {size}: ", told)
        self.assertEqual(status["resolved_spec"]["workers"]["max"], 3)
        named = auto_job("named", self.text)
        named["spec"]["training"]["micro_batch"] = size
        self.assert_undisturbed(status, named)
        lever = [lever for lever in status["levers"] if lever["lever"] == "micro_batch"]
        self.assertEqual(len(lever), 1)

        cluster.submit(auto_job("second", self.text, evaluate_every=5))
        self.await_end(cluster, "second")
        again, told = self.found(cluster, "second")
        self.assertEqual(again, size)
        self.assertIn("as job first found on the same kind of device", told)

    def test_a_killed_search_begins_again_and_leaves_no_trial_behind(self):
        cluster = self.cluster(("n1", "n2"))
        cluster.submit(auto_job("job", self.text))
        wait_until(lambda: trials(cluster), 60, "a size to be tried")
        cluster.nodes["n1"].kill_trainers()
        cluster.kill_coordinator()
        cluster.start_coordinator()
        self.await_end(cluster, "job")
        size, _ = self.found(cluster, "job")
        self.assertEqual(24 % size, 0)
        self.assertEqual(trials(cluster), [])

    def test_sizes_beyond_the_memory_are_not_taken(self):
        cluster = self.cluster(("n1",), worker_flags={"n1": ["--memory", "284MiB"]})
        job = auto_job("job", self.text, global_batch=8, reduce="fp32", evaluate_every=0, evaluate_micro_batches=1)
        job["spec"]["model"].update(width=128, heads=4, layers=4, context=1024)
        job["spec"]["training"]["steps"] = 2
        job["spec"]["schedule"]["warmup_steps"] = 0
        cluster.submit(job)
        self.await_end(cluster, "job")
        size, told = self.found(cluster, "job")
        self.assertEqual(size, 1, told)
        self.assertRegex(told, r": 2 (would need .* of 26\d MB|ran out of memory)")

    def test_where_not_one_sample_fits_the_job_fails_and_says_why(self):
        cluster = self.cluster(("n1",), worker_flags={"n1": ["--memory", "130MiB"]})
        cluster.submit(auto_job("job", self.text))
        status = self.await_end(cluster, "job", state="FAILED")
        self.assertIn("training.micro_batch auto: one sample a micro-batch", status["reason"])
        self.assertIn("give the node more memory", status["reason"])

    def test_bad_data_is_told_as_such(self):
        cluster = self.cluster(())
        gone = os.path.join(self.folder, "gone.txt")
        shutil.copy(self.text, gone)
        cluster.submit(auto_job("job", gone))
        os.unlink(gone)
        cluster.add_node("n1")
        status = self.await_end(cluster, "job", state="FAILED")
        self.assertIn("data.text", status["reason"])

    def endless(self, name, micro_batch, workers):
        job = small_job(name, self.text, steps=100_000, workers=workers, global_batch=32, micro_batch=micro_batch,
                        reduce="fp32")
        job["spec"]["model"].update(width=128, heads=8, layers=2, context=256)
        return job

    def needed(self, cluster, micro_batch):
        """Returns the bytes of data that a trainer has once it steps. The trainer keeps what it has allocated."""
        name = f"size-{micro_batch}"
        cluster.submit(self.endless(name, micro_batch, workers=1))
        wait_until(lambda: cluster.status(name)["step"] >= 3, 120, "the first steps")
        [pid] = cluster.nodes["n1"].pids("trainer")
        bytes_ = data_bytes(pid)
        cluster.cli("cancel", name)
        wait_until(lambda: not cluster.nodes["n1"].pids("trainer"), 30, "the trainer to leave")
        return bytes_

    @unittest.skipIf(os.environ.get("REKINDLE_TEST_DEVICE") == "fake",
                     "the limit counts each page that the fake device opens for an operation")
    def test_a_step_that_runs_out_of_memory_goes_on_with_half_the_micro_batch(self):
        cluster = self.cluster(("n1",))
        most, half = self.needed(cluster, 16), self.needed(cluster, 8)
        self.assertGreater(most - half, 20e6)
        n2 = cluster.add_node("n2")
        for pid in wait_until(lambda: n2.pids("init") + n2.pids("agent") if n2.pids("agent") else None, 20,
                              "its agent"):
            # The trainers inherit the memory limit of init and agent. It lies between the measured needs of
            # micro-batches of 8 and of 16 samples, nearer to that of 16, because other threads need memory, too.
            resource.prlimit(pid, resource.RLIMIT_DATA, (half + (most - half) * 2 // 3,) * 2)
        job = self.endless("job", 16, workers=2)
        job["spec"]["workers"]["min"] = 2
        cluster.submit(job)

        def halved():
            return cluster.status("job")["resolved_spec"]["training"]["micro_batch"] < 16
        wait_until(halved, 60, "a smaller micro-batch")
        [pid] = n2.pids("trainer")
        wait_until(lambda: cluster.status("job")["step"] > 3, 120, "steps with it")
        status = cluster.status("job")
        self.assertEqual(n2.pids("trainer"), [pid])
        self.assertEqual(status["steps_redone"], 0)
        self.assertEqual(status["resolved_spec"]["training"]["global_batch"], 32)
        self.assertEqual(status["resolved_spec"]["training"]["micro_batch"], 8)
        told = [e["text"] for e in cluster.events("job")["events"] if e["kind"] == "micro_batch"]
        self.assertRegex(told[0], "micro_batch goes from 16 to 8 after step .* trainer n2/0 ran out of memory")
        cluster.cli("cancel", "job")


if __name__ == "__main__":
    unittest.main()
