"""Tests mixed precision with real processes: equal digests on 1, 2 and 3 workers, and through kills."""
import unittest

from base import ClusterTest, Injector, small_job


class PrecisionTest(ClusterTest):
    def test_bf16_is_bit_identical_on_any_number_of_workers(self):
        digests = set()
        for workers in (1, 2, 3):
            nodes = [f"n{i}" for i in range(workers)]
            cluster = self.cluster(nodes, name=f"cluster{workers}")
            spec = small_job("job", self.text, workers=workers, steps=40, precision="bf16")
            cluster.submit(spec)
            status = self.await_end(cluster, "job")
            digests.add(status["state_digest"])
            cluster.stop()
        self.assertEqual(len(digests), 1, digests)
        # The undisturbed run is on the CPU, whatever device this test is about.
        self.assert_undisturbed(status, spec)

    def test_fp16_survives_kills_with_its_loss_scale(self):
        cluster = self.cluster()
        spec = small_job("job", self.text, steps=400, precision="fp16")
        cluster.submit(spec)
        inject = Injector(cluster, "job")
        inject.await_members(3)
        inject.await_steps(8)
        inject.trainer_killed("n1")
        status = self.await_end(cluster, "job")
        self.assertGreaterEqual(status["loss_scale"], 2 ** -6)
        self.assert_undisturbed(status, spec)

    def test_auto_is_resolved_once_and_says_why(self):
        cluster = self.cluster(("n1",))
        cluster.submit(small_job("job", self.text, steps=12, precision="auto"))
        status = self.await_end(cluster, "job")
        resolved = status["resolved_spec"]["training"]["precision"]
        self.assertIn(resolved, ("bf16", "fp32"))
        told = [e["text"] for e in cluster.events("job")["events"] if e["kind"] == "precision"]
        self.assertEqual(len(told), 1)
        self.assertIn(f"precision auto is {resolved}", told[0])


if __name__ == "__main__":
    unittest.main()
