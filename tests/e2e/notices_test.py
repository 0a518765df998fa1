"""Tests interruption notices, with real processes: heard, acted on in time, withdrawn. A metadata service may hang."""
import pathlib
import time
import unittest

from base import ClusterTest, small_job, steps_done, wait_until
import metadata


def file_flags(path):
    return ["--notices", "file", "--notice-file", str(path)]


class NoticesTest(ClusterTest):
    def notice_file(self, name):
        return pathlib.Path(self.folder) / f"notice-{name}"

    def write(self, path, text):
        """Replaces a file of notices in one step, because the agent would take half a line for a notice, too."""
        new = path.with_suffix(".new")
        new.write_text(text)
        new.rename(path)

    def started(self, flags, spec, steps=5):
        """Starts a cluster with the flags of each node's worker, and a job on all nodes that has done some steps."""
        cluster = self.cluster(nodes=tuple(flags), worker_flags=flags)
        cluster.submit(spec)
        wait_until(lambda: steps_done(cluster) >= steps and self.members(cluster) == sorted(flags), 60,
                   "the job to run on all nodes")
        return cluster

    def members(self, cluster):
        return sorted(member["node"] for member in cluster.status("job").get("members", []))

    def texts(self, cluster, kind):
        return [e["text"] for e in cluster.cli("events")["events"] if e["kind"] == kind]

    def test_several_nodes_noticed_at_once_while_one_metadata_service_hangs(self):
        file = self.notice_file("n3")
        with metadata.Ec2() as hangs, metadata.Ec2(token_seconds=3) as ec2:
            hangs.answers = False
            # A rebalance recommendation is only a hint, so no job moves because of it.
            ec2.recommend_rebalance()
            cluster = self.started({"n1": hangs.flags, "n2": ec2.flags, "n3": file_flags(file)},
                                   small_job("job", self.text, steps=5000))
            [hint] = self.texts(cluster, "node_hint")
            self.assertIn("node n2 may be taken: aws: rebalance recommended", hint)
            ec2.interrupt(120)
            self.write(file, "15s the rack is moved")
            told = time.monotonic()
            wait_until(lambda: len(self.texts(cluster, "node_drained")) == 2, 60, "both nodes to be drained")
            self.assertLess(time.monotonic() - told, 15)
            left = [cluster.nodes[name].worker.wait(timeout=10) for name in ("n2", "n3")]
            self.assertEqual(left, [0, 0])
            draining = "\n".join(self.texts(cluster, "draining"))
            self.assertRegex(draining, r"node n2 drains: a 1[12]\d s notice from aws: spot interruption \(terminate\)")
            self.assertRegex(draining, r"node n3 drains: a 1[0-5] s notice from file: the rack is moved")
            now = steps_done(cluster)
            wait_until(lambda: steps_done(cluster) > now + 10, 30, "the job to go on")
            # The worker of n2 has fetched another token from the metadata service, because its first one expired after
            # 3 s.
            self.assertGreater(len(ec2.tokens), 1)
            self.assertGreater(hangs.asked, 0)
        self.assertEqual(self.members(cluster), ["n1"])
        faults = cluster.status("job")["faults"]
        # A node may have joined the job after its first step, which the status lists as a fault of the kind node_added.
        self.assertEqual({f["kind"] for f in faults} - {"node_added"}, {"drained"})
        self.assertEqual(sum(f["steps_redone"] + f["micro_batches_redone"] for f in faults), 0)
        log = (cluster.logs / "n1-worker.log").read_text()
        self.assertEqual(log.count("notices cannot be heard"), 1)

    def test_a_notice_that_is_withdrawn_before_the_step_ends(self):
        file = self.notice_file("n2")
        # A step with 4000 samples takes seconds, so the notice can be withdrawn before the step ends.
        spec = small_job("job", self.text, steps=2, workers=2, global_batch=4000)
        spec["spec"]["schedule"] = {"kind": "constant"}
        cluster = self.started({"n1": ["--notices", "none"], "n2": file_flags(file)}, spec, steps=1)
        self.write(file, "120s")
        wait_until(lambda: self.texts(cluster, "draining"), 30, "the notice to be heard")
        file.unlink()
        wait_until(lambda: any("withdrawn" in text for text in self.texts(cluster, "node_ready")), 30,
                   "the notice to be withdrawn")
        status = self.await_end(cluster, "job")
        self.assertEqual({f["kind"] for f in status.get("faults", [])} - {"node_added"}, set())
        self.assertEqual({n["state"] for n in cluster.cli("nodes")["nodes"]}, {"ready"})

    def test_all_nodes_noticed_save_what_fits_and_go_on_later(self):
        files = {name: self.notice_file(name) for name in ("n1", "n2")}
        spec = small_job("job", self.text, steps=300, workers=2)
        cluster = self.started({name: file_flags(path) for name, path in files.items()}, spec)
        for path in files.values():
            self.write(path, "30s")
        wait_until(lambda: len(self.texts(cluster, "node_drained")) == 2, 60, "both nodes to be drained")
        self.assertTrue(self.texts(cluster, "checkpoint_flush"))
        for name, path in files.items():
            path.unlink()
            cluster.nodes[name].start_worker()
        status = self.await_end(cluster, "job")
        self.assertEqual(sum(f["steps_redone"] for f in status["faults"]), 0)
        self.assert_undisturbed(status, spec)


if __name__ == "__main__":
    unittest.main()
