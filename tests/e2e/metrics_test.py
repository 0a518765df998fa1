"""Tests the pages of metrics of all three programs: promtool's verdict, who may read them, what a restart does."""
import http.client
import json
import pathlib
import re
import ssl
import subprocess
import unittest

from base import ClusterTest, small_job, steps_done, wait_until
from certificates import coordinator_flags, make_certificates
from ports import free_port, metric, metrics_page
from programs import program
import prometheus

# Every program has the metrics that `SHARED` matches, with the same meaning.
SHARED = re.compile(r"rekindle_build_info|process_\w+")
# A price of `SECOND` per hour is a price of 1 per second.
SECOND = 3600


def families(page):
    return set(re.findall(r"^# TYPE (\w+) ", page, re.M))


def series(page):
    """Yields (name, {label: value}) of each line of a page of metrics."""
    for line in page.splitlines():
        if not line.startswith("#"):
            name, labels = re.fullmatch(r"(\w+)(?:\{(.*)\})? \S+", line).groups()
            yield name, dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or ""))


class PagesTest(ClusterTest):
    def pages(self):
        """Returns {program: page} of a cluster on which a job trains and saves."""
        port = free_port()
        self.running = self.cluster(nodes=("n1",), coordinator_flags=["--metrics", f"127.0.0.1:{port}"],
                                    checkpoint_flags=["--metrics", "127.0.0.1:0"],
                                    worker_flags={"n1": ["--metrics", "127.0.0.1:0"]})
        self.running.submit(small_job("job", self.text, steps=100_000))
        wait_until(lambda: self.running.status("job")["checkpoint_step"] > 0, 120, "a checkpoint", poll=0.1)
        node = self.running.nodes["n1"]
        ports = {"coordinator": port, **{name: node.metrics_port(name) for name in ("worker", "checkpoint")}}
        wait_until(lambda: "rekindle_trainer_steps_total{" in metrics_page(ports["worker"]), 60, "the trainer's words",
                   poll=0.2)
        return {name: metrics_page(port) for name, port in ports.items()}

    def test_each_metric_has_one_meaning(self):
        pages = self.pages()
        for name, page in pages.items():
            self.assertIn("rekindle_build_info", families(page), name)
            self.assertIn("process_cpu_seconds_total", families(page), name)
            self.assertGreater(len(families(page)), 10, name)
            for metric_name, labels in series(page):
                self.assertRegex(metric_name, r"^(rekindle|process)_", name)
                self.assertFalse({"job", "instance"} & set(labels), f"{metric_name}: Prometheus has that label itself")
        names = list(pages)
        for i, one in enumerate(names):
            for other in names[i + 1:]:
                both = {name for name in families(pages[one]) & families(pages[other]) if not SHARED.fullmatch(name)}
                self.assertEqual(both, set(), f"{one} and {other}")

    def test_promtool_has_nothing_against_them(self):
        try:
            prometheus.program("promtool")
        except prometheus.Missing as why:
            self.skipTest(str(why))
        for name, page in self.pages().items():
            done = prometheus.promtool("check", "metrics", text=page)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), name)
        wrong = prometheus.promtool("check", "metrics", text="# HELP a_count Of.\n# TYPE a_count counter\na_count 1\n")
        self.assertNotEqual(wrong.returncode, 0, "it would have said something")


class AccessTest(ClusterTest):
    """Tests that beyond loopback a page needs a certificate and the token."""

    def setUp(self):
        super().setUp()
        certificates = pathlib.Path(self.folder) / "certificates"
        certificates.mkdir()
        self.env = make_certificates(certificates, "127.0.0.1")
        self.token = pathlib.Path(self.env["REKINDLE_TOKEN_FILE"]).read_text().strip()

    def ask(self, port, token=None, certificate=True):
        """Asks the program on a port for its page of metrics. Returns (HTTP status, page)."""
        context = ssl.create_default_context(cafile=self.env["REKINDLE_TLS_CA"])
        if certificate:
            context.load_cert_chain(self.env["REKINDLE_TLS_CERT"], self.env["REKINDLE_TLS_KEY"])
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=20)
        self.addCleanup(connection.close)
        connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {token}"} if token else {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def test_all_three_want_a_certificate_and_the_token(self):
        port = free_port()
        cluster = self.cluster(nodes=("n1",), env=self.env,
                               coordinator_flags=[*coordinator_flags(self.env), "--metrics", f"0.0.0.0:{port}"],
                               checkpoint_flags=["--metrics", "0.0.0.0:0"],
                               worker_flags={"n1": ["--metrics", "0.0.0.0:0"]})
        node = cluster.nodes["n1"]
        wait_until(lambda: node.metrics_port("worker") and node.metrics_port("checkpoint"), 30,
                   "the pages to be served", poll=0.1)
        for name, served in (("coordinator", port), ("worker", node.metrics_port("worker")),
                             ("checkpoint", node.metrics_port("checkpoint"))):
            status, page = self.ask(served, self.token)
            self.assertEqual(status, 200, name)
            self.assertIn("rekindle_build_info", page)
            for wrong in (None, self.token + "x", self.token[:-1]):
                status, page = self.ask(served, wrong)
                self.assertEqual(status, 401, name)
                self.assertNotIn("rekindle_", page)
            with self.assertRaises((ssl.SSLError, ConnectionError)):
                self.ask(served, self.token, certificate=False)
            # A request over plain HTTP is refused.
            with self.assertRaises((OSError, http.client.HTTPException)):
                metrics_page(served)

    def test_without_the_files_they_do_not_start(self):
        folder = pathlib.Path(self.folder)
        for name, command in (("rekindle-coordinator", ["--data", folder / "c", "--listen", "127.0.0.1:0"]),
                              ("rekindle-checkpoint", ["--dir", folder / "n"]),
                              ("rekindle-worker", ["agent", "--dir", folder / "w", "--coordinator", "127.0.0.1:1"])):
            done = subprocess.run([program(name), *map(str, command), "--metrics", "0.0.0.0:0"], capture_output=True,
                                  text=True, timeout=60, env={"PATH": "/usr/bin:/bin"})
            self.assertNotEqual(done.returncode, 0, name)
            self.assertIn("would be open to others", done.stderr + done.stdout, name)


class RestartTest(ClusterTest):
    def test_what_was_spent_is_not_forgotten(self):
        fleet = pathlib.Path(self.folder) / "fleet.yaml"
        fleet.write_text(json.dumps({"pools": [{"name": "own", "provider": "local", "zone": "own",
                                                "instance_type": "box", "capacity": "spot", "price": SECOND}]}))
        port = free_port()
        cluster = self.cluster(nodes=("n1",), worker_flags={"n1": ["--pool", "own"]},
                               coordinator_flags=["--fleet", str(fleet), "--metrics", f"127.0.0.1:{port}"])
        cluster.submit(small_job("job", self.text, steps=100_000))
        wait_until(lambda: metric(port, "rekindle_cost_total") > 2, 60, "2 s to be paid for", poll=0.1)
        self.assertIn('rekindle_cost_total{currency="USD"}', metrics_page(port))
        steps, cost = metric(port, "rekindle_steps_total"), metric(port, "rekindle_cost_total")
        self.assertGreater(steps, 0)
        cluster.kill_coordinator()
        away = steps_done(cluster)
        wait_until(lambda: steps_done(cluster) > away + 20, 60, "steps without a coordinator", poll=0.05)
        cluster.start_coordinator()
        wait_until(lambda: "rekindle_cost_total{" in metrics_page(port), 30, "the sums", poll=0.1)
        self.assertGreater(metric(port, "rekindle_cost_total"), cost)
        self.assertGreater(metric(port, "rekindle_steps_total"), steps)
        wait_until(lambda: metric(port, "rekindle_job_checkpoint_age_seconds") > 0, 60, "the age of the checkpoint",
                   poll=0.1)

        cluster.cli("cancel", "job")
        wait_until(lambda: 'job_name="job"' not in metrics_page(port), 60, "the series of the job to be gone", poll=0.1)
        cost = metric(port, "rekindle_cost_total")
        wait_until(lambda: cluster.try_cli("rm", "job"), 60, "the job to be forgotten", poll=0.2)
        wait_until(lambda: metric(port, "rekindle_jobs") == 0, 60, "it to be gone", poll=0.1)
        forgotten = metric(port, "rekindle_cost_total")
        # The total cost may have grown since `cost` was read, because nodes are paid for until the job's trainers have
        # ended.
        self.assertGreaterEqual(forgotten, cost)
        cluster.kill_coordinator()
        cluster.start_coordinator()
        self.assertEqual(metric(port, "rekindle_cost_total"), forgotten)


if __name__ == "__main__":
    unittest.main(verbosity=2)
