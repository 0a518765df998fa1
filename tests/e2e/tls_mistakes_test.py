"""Tests each mistake with TLS files and tokens against a real coordinator: what is wrong, and which flag mends it.

What a coordinator refuses only beyond loopback is tested here, too, because it needs these files there."""
import os
import pathlib
import subprocess
import unittest

from base import ClusterTest
from certificates import Authority, coordinator_flags, make_certificates
from programs import program

HOST = "127.0.0.1"


class TlsMistakesTest(ClusterTest):
    def setUp(self):
        super().setUp()
        self.files = self.made("right")

    def made(self, name):
        folder = pathlib.Path(self.folder) / name
        folder.mkdir()
        return make_certificates(folder, HOST)

    def coordinator(self, files, name="cluster"):
        return self.cluster(nodes=(), name=name, env=self.files, host=HOST, coordinator_flags=coordinator_flags(files))

    def jobs(self, endpoint, files, code, flags=()):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("REKINDLE_")}
        done = subprocess.run([program("rekindle"), "jobs", "--endpoint", endpoint, *flags], capture_output=True,
                              text=True, timeout=60, env={**clean, "XDG_CONFIG_HOME": self.folder, **files})
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        # Errors about TLS must not advise to start `rekindle up`, which would not help.
        self.assertNotIn("rekindle up", done.stderr)
        return done.stderr

    def assert_says(self, text, *words):
        for word in words:
            self.assertIn(word, text)

    def test_files_of_the_command(self):
        cluster = self.coordinator(self.files)
        right, stranger = self.files, self.made("stranger")
        # The command takes the TLS files as flags as well as from variables.
        self.jobs_work(cluster.endpoint, coordinator_flags(right))
        with self.subTest("plain text to TLS"):
            self.assert_says(self.jobs(cluster.endpoint, {}, 3), "speaks TLS", "--tls-ca", "REKINDLE_TLS_CA")
        with self.subTest("another authority"):
            said = self.jobs(cluster.endpoint, {**right, "REKINDLE_TLS_CA": stranger["REKINDLE_TLS_CA"]}, 3)
            self.assert_says(said, "not signed by the authority in " + stranger["REKINDLE_TLS_CA"], "--tls-ca")
        with self.subTest("another certificate"):
            said = self.jobs(cluster.endpoint, {**stranger, "REKINDLE_TLS_CA": right["REKINDLE_TLS_CA"]}, 3)
            self.assert_says(said, "does not take your certificate " + stranger["REKINDLE_TLS_CERT"], "--tls-cert")
        with self.subTest("an expired certificate of ours"):
            ended = Authority(pathlib.Path(self.folder) / "right").expired("mine", HOST)
            said = self.jobs(cluster.endpoint, {**right, **ended}, 3)
            self.assert_says(said, f"your certificate {ended['REKINDLE_TLS_CERT']} has expired on 2020-01-02",
                             "--tls-cert")
        with self.subTest("no token"):
            said = self.jobs(cluster.endpoint, {k: v for k, v in right.items() if k != "REKINDLE_TOKEN_FILE"}, 1)
            self.assert_says(said, "wants its token", "--token-file", "REKINDLE_TOKEN_FILE")
        with self.subTest("another token"):
            token = pathlib.Path(self.folder) / "other-token"
            token.write_text("fedcba9876543210-of-another\n")
            said = self.jobs(cluster.endpoint, {**right, "REKINDLE_TOKEN_FILE": str(token)}, 1)
            self.assert_says(said, f"does not take the token in {token}", "--token-file")
        with self.subTest("a name that the certificate has not"):
            said = self.jobs(cluster.endpoint.replace(HOST, "localhost"), right, 3)
            self.assert_says(said, f"names others: {HOST}", "--endpoint")
        with self.subTest("a file that is not there"):
            said = self.jobs(cluster.endpoint, right, 2, ["--tls-ca", "/nonexistent/ca.pem"])
            self.assert_says(said, "--tls-ca /nonexistent/ca.pem: cannot be read")
        with self.subTest("one file of three"):
            said = self.jobs(cluster.endpoint, {"REKINDLE_TLS_CA": right["REKINDLE_TLS_CA"]}, 2)
            self.assert_says(said, "TLS needs three files", "--tls-cert", "REKINDLE_TLS_CERT")

    def jobs_work(self, endpoint, flags):
        done = subprocess.run([program("rekindle"), "jobs", "--endpoint", endpoint, *flags], capture_output=True,
                              text=True, timeout=60, env={**os.environ, "XDG_CONFIG_HOME": self.folder})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_tls_to_plain_text(self):
        cluster = self.cluster(nodes=())
        said = self.jobs(cluster.endpoint, self.files, 3)
        self.assert_says(said, "does not speak TLS", "--tls-ca", "REKINDLE_TLS_CA")

    def test_a_coordinator_with_an_expired_certificate(self):
        ended = {**self.files, **Authority(pathlib.Path(self.folder) / "right").expired("theirs", HOST)}
        cluster = self.guarded_without_answer(ended)
        self.assert_says(self.jobs(cluster.endpoint, self.files, 3), "has expired on 2020-01-02")

    def test_a_worker_with_the_device_for_tests_beyond_loopback(self):
        cluster = self.guarded_without_answer(self.files, host="0.0.0.0")
        done = subprocess.run(
            [program("rekindle-worker"), "agent", "--dir", f"{self.folder}/node", "--node", "n1", "--coordinator",
             f"{HOST}:{cluster.port}", "--device", "fake", "--trainer-binary", "/bin/true", "--notices", "none"],
            capture_output=True, text=True, timeout=60, env={**os.environ, **self.files})
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assert_says(done.stderr, "is for tests with a coordinator on loopback", "--device cpu")

    def guarded_without_answer(self, files, host=HOST):
        """Starts a coordinator that commands cannot call as they usually do, without waiting until it answers one."""
        from cluster import Cluster
        cluster = self.guarded(Cluster(pathlib.Path(self.folder) / "ended", nodes=(), env=self.files, host=host,
                                       coordinator_flags=coordinator_flags(files)))
        cluster.start_coordinator(answers=False)
        return cluster

    def test_nobody_listens(self):
        clean = {"XDG_CONFIG_HOME": self.folder, **self.files}
        done = subprocess.run([program("rekindle"), "jobs", "--endpoint", f"{HOST}:1"], capture_output=True, text=True,
                              timeout=60, env={**os.environ, **clean})
        self.assertEqual(done.returncode, 3)
        self.assertIn("no coordinator answers", done.stderr)


if __name__ == "__main__":
    unittest.main()
