"""Tests where a job's state comes back from when all its trainers are gone: memory, peers' memory, a bucket."""
import unittest

from base import ClusterTest, Injector, small_job, wait_until
import servers

STEPS = 600


class TiersTest(ClusterTest):
    def started(self, store=None, **options):
        cluster = self.cluster(**options)
        spec = small_job("job", self.text, steps=STEPS)
        if store:
            spec["spec"]["checkpoint"]["store"] = store
        cluster.submit(spec)
        inject = Injector(cluster, "job")
        inject.await_members(len(cluster.nodes))
        # A checkpoint that was made before all nodes took part is in the memory of some of them only.
        step = cluster.status("job")["step"]
        wait_until(lambda: cluster.status("job")["checkpoint_step"] > step + 15, 60, "two checkpoints", poll=0.1)
        return cluster, spec, inject

    def sources(self, cluster):
        """Returns from where the trainers restored, in their own words."""
        events = cluster.events("job")["events"]
        return [e["text"].split(": ", 1)[1] for e in events if e["kind"] == "checkpoint_restored"]

    def await_resumed(self, cluster, inject, members):
        wait_until(lambda: self.sources(cluster), 60, "a restore", poll=0.1)
        inject.await_members(members)

    def test_trainers_that_all_die_come_back_from_memory(self):
        cluster, spec, inject = self.started()
        for node in cluster.nodes.values():
            node.kill_trainers()
        self.await_resumed(cluster, inject, 3)
        for source in self.sources(cluster):
            self.assertIn("from memory", source)
            self.assertNotIn("from store", source)
        self.assert_undisturbed(self.await_end(cluster, "job"), spec)

    def test_a_wiped_node_reads_from_its_peers(self):
        cluster, spec, inject = self.started()
        for node in cluster.nodes.values():
            node.kill_trainers()
        # n3 loses its disk and its memory, but the other nodes have copies of its shards.
        cluster.nodes["n3"].kill()
        cluster.nodes["n3"].start()
        self.await_resumed(cluster, inject, 3)
        self.assertNotIn("from store", " ".join(self.sources(cluster)))
        self.assert_undisturbed(self.await_end(cluster, "job"), spec)

    def test_wiped_nodes_resume_from_a_bucket(self):
        try:
            server = self.enterContext(servers.S3(f"{self.folder}/s3"))
        except servers.Missing as why:
            self.skipTest(str(why))
        cluster, spec, inject = self.started(store=server.uri("checkpoints"), env=server.env)
        row = inject.all_killed()
        self.assertLessEqual(row["steps_redone"], 60)
        for source in self.sources(cluster):
            self.assertIn("from store", source)
        self.assert_undisturbed(self.await_end(cluster, "job"), spec)


if __name__ == "__main__":
    unittest.main()
