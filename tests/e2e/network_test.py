"""Tests three nodes in network namespaces, with mutual TLS and a token: a kill, and a partition that heals.

Each node has its own /dev/shm too, so that the data plane is TCP. The test is skipped where namespaces are not
available.
"""
import pathlib
import sys
import unittest

from base import ClusterTest, Injector, small_job
from certificates import coordinator_flags, make_certificates
from namespaces import Namespaces, unavailable

SKIPPED = 77


class NetworkTest(ClusterTest):
    def test_a_kill_and_a_partition_that_heals(self):
        names = ("n1", "n2", "n3")
        spaces = Namespaces(names)
        self.addCleanup(spaces.close)
        certificates = pathlib.Path(self.folder) / "certificates"
        certificates.mkdir()
        env = make_certificates(certificates, spaces.host)
        cluster = self.cluster(nodes=names, env=env, coordinator_flags=coordinator_flags(env), host=spaces.host,
                               enter=spaces.enter, addresses=spaces.addresses)
        spec = small_job("net", self.text, steps=1500)
        spec["spec"]["checkpoint"]["store"] = f"file://{self.folder}/store"
        cluster.submit(spec)
        inject = Injector(cluster, "net")
        inject.await_members(3)
        inject.await_steps(8)
        row = inject.trainer_killed("n1")
        self.assertEqual(row["steps_redone"], 0)
        before = cluster.status("net")["generation"]
        spaces.partition("n1", "n2", "-A")
        # One of the two nodes that cannot reach each other leaves the job, and the other nodes go on.
        inject.await_members(2)
        inject.await_steps(10)
        spaces.partition("n1", "n2", "-D")
        inject.await_members(3)
        status = self.await_end(cluster, "net")
        self.assertLess(status["generation"], before + 12, "re-formed again and again")
        self.assertEqual(status["steps_redone"], 0)
        self.assert_undisturbed(status, spec)


if __name__ == "__main__":
    if reason := unavailable():
        print(f"skipped: {reason}", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main()
