"""Tests what must never happen: a wrong result without a word, and a job that loses steps that were durable."""
import copy
import pathlib
import shutil
import subprocess
import unittest

from base import ClusterTest, Injector, small_job, wait_until
from programs import program


def alone(spec):
    """Returns a copy of the job for one worker. Its result does not depend on the number of workers."""
    spec = copy.deepcopy(spec)
    spec["spec"]["workers"] = {"min": 1, "max": 1}
    return spec


class DataTest(ClusterTest):
    def test_nodes_with_different_text_train_nothing_until_they_are_alike(self):
        cluster = self.cluster(nodes=())
        spec = small_job("job", self.text, steps=40, workers=2)
        spec["spec"]["workers"]["min"] = 2
        cluster.submit(spec)
        cluster.add_node("n1")
        wait_until(lambda: "has 1" in cluster.status("job")["reason"], 60, "the first worker to be ready", poll=0.1)
        text = self.text.read_text()
        # n1 has read the text already. Before n2 reads it, the text is replaced by another one of the same length.
        self.text.write_text(text.replace("rank", "node"))
        cluster.add_node("n2")
        status = wait_until(lambda: self.decided(cluster), 90, "a decision", poll=0.1)
        self.assertEqual(status["state"], "PENDING", f"two texts under one path: {status['state']}, {status['reason']}")
        for word in ("n1/0", "n2/0", "data.fingerprint"):
            self.assertIn(word, status["reason"])
        self.assertTrue([e for e in cluster.events("job")["events"] if e["kind"] == "data_differs"])
        # Both nodes have the new text now. n1, which had read the old one, notices that by itself, because trainers
        # that wait read their data again now and then.
        self.assert_undisturbed(self.await_end(cluster, "job"), alone(spec))

    @staticmethod
    def decided(cluster):
        status = cluster.status("job")
        return status if status["state"] in ("SUCCEEDED", "FAILED") or "fingerprint" in status["reason"] else None


class StoreTest(ClusterTest):
    def started(self, steps):
        cluster = self.cluster(nodes=("n1", "n2"))
        store = pathlib.Path(self.folder) / "mount" / "store"
        store.mkdir(parents=True)
        spec = small_job("job", self.text, steps=steps, workers=2)
        spec["spec"]["checkpoint"]["store"] = f"file://{store}"
        cluster.submit(spec)
        inject = Injector(cluster, "job")
        inject.await_members(2)
        wait_until(lambda: cluster.status("job")["checkpoint_step"] >= 30, 90, "checkpoints", poll=0.1)
        return cluster, spec, store

    def lose_all(self, cluster, store):
        """Loses every node. The new nodes come without the store mounted, so an empty folder is in its place."""
        for node in cluster.nodes.values():
            node.kill()
        wait_until(lambda: all(node["state"] == "lost" for node in cluster.cli("nodes")["nodes"]), 60,
                   "the job to have lost all", poll=0.1)
        status = cluster.status("job")
        durable, before = status["checkpoint_step"], status["generation"]
        aside = store.parent / "aside"
        store.rename(aside)
        store.mkdir()
        for node in cluster.nodes.values():
            node.start()

        def decided():
            status = cluster.status("job")
            return status if "mounted" in status["reason"] or status["generation"] > before else None
        status = wait_until(decided, 90, "a decision", poll=0.1)
        self.assertEqual(status["state"], "PENDING",
                         f"step {durable} was durable; now at step {status['step']}: {status['reason']}")
        self.assertIn(str(store), status["reason"])
        return aside, durable

    def test_a_store_that_is_not_mounted_is_waited_for(self):
        cluster, spec, store = self.started(steps=300)
        aside, durable = self.lose_all(cluster, store)
        # After a restart of the coordinator the job still waits for the store to be mounted.
        cluster.kill_coordinator()
        cluster.start_coordinator()
        wait_until(lambda: "mounted" in cluster.status("job")["reason"], 60, "the reason", poll=0.1)
        store.rmdir()
        aside.rename(store)
        wait_until(lambda: cluster.status("job")["state"] != "PENDING", 60, "the job to go on", poll=0.01)
        self.assertGreaterEqual(cluster.status("job")["step"], durable)
        self.assert_undisturbed(self.await_end(cluster, "job"), alone(spec))

    def test_only_its_user_lets_a_job_start_anew(self):
        cluster, spec, store = self.started(steps=300)
        aside, durable = self.lose_all(cluster, store)
        shutil.rmtree(aside)
        command = [program("rekindle"), "resume", "job", "--from", "scratch", "--endpoint", cluster.endpoint]
        refused = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("--yes", refused.stderr)
        self.assertEqual(cluster.status("job")["checkpoint_step"], durable)
        subprocess.run([*command, "--yes"], check=True, capture_output=True, timeout=60)
        self.assert_undisturbed(self.await_end(cluster, "job"), alone(spec))
        self.assertTrue([e for e in cluster.events("job")["events"] if e["kind"] == "new_line"])


if __name__ == "__main__":
    unittest.main()
