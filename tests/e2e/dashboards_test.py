"""Tests every query of deploy/grafana and every rule of deploy/prometheus with a real Prometheus.

It has scraped a cluster with faults, by TLS and token, and none of the panels is empty."""
import json
import math
import pathlib
import re
import sys
import time
import unittest

from base import ClusterTest, Injector, small_job, steps_done, wait_until
from certificates import coordinator_flags, make_certificates
from fleet import local_pool
from ports import free_port
from programs import REPO
import prometheus

SKIPPED = 77
# A price of `SECOND` per hour is a price of 1 per second.
SECOND = 3600
# Grafana derives its windows from the scrape interval, which is 1 s here.
WINDOW = "5s"
DASHBOARDS = sorted((REPO / "deploy/grafana").glob("*.json"))


def carbon_trace(intensity):
    """Returns a trace of the grid's carbon intensity in the hours around now."""
    now = int(time.time()) // 3600 * 3600
    hours = (time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(now + 3600 * hour)) for hour in range(-1, 4))
    return "datetime_utc,direct_gco2eq_per_kwh,lca_gco2eq_per_kwh\n" + "".join(f"{at},{intensity},0\n" for at in hours)


def queries():
    """Yields (dashboard, panel, query) of each query, with Grafana's variables replaced."""
    for path in DASHBOARDS:
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel.get("targets", []):
                expression = target["expr"].replace("$__rate_interval", WINDOW).replace("$__range", WINDOW)
                yield path.stem, panel["title"], expression.replace("$job_name", ".*")


class DashboardsTest(ClusterTest):
    def setUp(self):
        super().setUp()
        folder = pathlib.Path(self.folder)
        (folder / "certificates").mkdir()
        self.env = make_certificates(folder / "certificates", "127.0.0.1")
        (folder / "carbon_ES_2026.csv").write_text(carbon_trace(400))
        green = {"carbon_region": "ES", "node_watts": 250}
        own = {"name": "own", "provider": "local", "zone": "own", "instance_type": "box", "capacity": "spot",
               "price": SECOND, **green}
        (folder / "fleet.yaml").write_text(json.dumps({
            "pools": [own, local_pool("ordered", SECOND, nodes=1, most=1, min=1, **green)],
            "carbon": {"files": ["carbon_ES_2026.csv"]}}))
        self.port = free_port()
        flags = ["--pool", "own", "--metrics", "0.0.0.0:0"]
        self.running = self.cluster(
            nodes=("n1", "n2"), env=self.env, checkpoint_flags=["--metrics", "0.0.0.0:0"],
            worker_flags={"n1": flags, "n2": flags},
            coordinator_flags=[*coordinator_flags(self.env), "--fleet", str(folder / "fleet.yaml"),
                               "--metrics", f"0.0.0.0:{self.port}"])
        self.targets = folder / "targets.json"

    def tell_what_runs(self):
        """Tells Prometheus where the running programs are. Returns the (job, instance) of each."""
        def target(name, port):
            return {"targets": [f"127.0.0.1:{port}"], "labels": {"job": f"rekindle-{name}"}}
        found = [target("coordinator", self.port),
                 *(target(name, node.metrics_port(name)) for node in self.running.nodes.values()
                   for name in ("worker", "checkpoint"))]
        new = self.targets.with_suffix(".new")
        new.write_text(json.dumps(found))
        # The file of scrape targets is replaced as a whole, because Prometheus reads it whenever it changes.
        new.rename(self.targets)
        return {(each["labels"]["job"], *each["targets"]) for each in found}

    def await_scraped(self, server):
        """Waits until Prometheus has read the pages of all programs. A restarted program has another port."""
        def scraped():
            told = self.tell_what_runs()
            health = server.health()
            return set(health) == told and set(health.values()) == {""}
        try:
            wait_until(scraped, 60, "all programs to be scraped", poll=0.5)
        except TimeoutError as late:
            raise TimeoutError(f"{late}: {server.health()}") from None

    def config(self):
        return {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                "rule_files": [str(REPO / "deploy/prometheus/rules.yaml")],
                "scrape_configs": [{
                    "job_name": "rekindle", "scheme": "https", "file_sd_configs": [{"files": [str(self.targets)]}],
                    "authorization": {"credentials_file": self.env["REKINDLE_TOKEN_FILE"]},
                    "tls_config": {"ca_file": self.env["REKINDLE_TLS_CA"], "cert_file": self.env["REKINDLE_TLS_CERT"],
                                   "key_file": self.env["REKINDLE_TLS_KEY"], "server_name": "rekindle-node"}}]}

    def train_through_faults(self):
        """Kills a trainer, the coordinator, and at last all nodes at once, while another job waits."""
        cluster = self.running
        spec = small_job("job", self.text, steps=100_000)
        spec["spec"].update(workers={"min": 2, "max": 3}, team="vision", goals={"budget": 1e6})
        cluster.submit(spec)
        waiting = small_job("waiting", self.text)
        waiting["spec"]["workers"] = {"min": 9, "max": 9}
        cluster.submit(waiting)
        inject = Injector(cluster, "job")
        inject.await_members(3)
        inject.await_steps(30)
        inject.trainer_killed("n1")
        inject.coordinator_killed()
        wait_until(lambda: cluster.status("job")["checkpoint_step"] > 0, 60, "a checkpoint", poll=0.1)
        reached = steps_done(cluster)
        nodes = list(cluster.nodes.values())
        for name in cluster.machines():
            cluster.kill_machine(name)
        for node in nodes:
            node.kill()
        for node in nodes:
            node.start()
        return reached

    def test_no_panel_is_empty(self):
        begin = time.time()
        self.tell_what_runs()
        with prometheus.Prometheus(pathlib.Path(self.folder) / "prometheus", self.config()) as server:
            self.await_scraped(server)
            reached = self.train_through_faults()
            self.await_scraped(server)
            wait_until(lambda: steps_done(self.running) > reached + 40, 60, "the job to go on", poll=0.1)

            def empty():
                end = time.time()
                return [f"{where}: {panel}: {query}" for where, panel, query in queries()
                        if all(math.isnan(value) for value in server.values(query, begin, end))]
            self.assertGreater(len(list(queries())), 60)
            try:
                wait_until(lambda: not empty(), 30, "data for every query", poll=2)
            except TimeoutError:
                self.fail("\n".join(["these gave no data:", *empty()]))

            names = server.ask("label/job_name/values", **{"match[]": "rekindle_job_info"})
            self.assertEqual(names, ["job", "waiting"])
            groups = server.ask("rules")["groups"]
            rules = (REPO / "deploy/prometheus/rules.yaml").read_text()
            self.assertEqual({rule["name"]: rule.get("lastError", "") for group in groups for rule in group["rules"]},
                             dict.fromkeys(re.findall(r"- alert: (\w+)", rules), ""))
            self.assertEqual(server.query("rekindle_no_such_metric"), [], "an empty one would have been found")


if __name__ == "__main__":
    try:
        prometheus.program("prometheus")
    except prometheus.Missing as why:
        print(f"skipped: {why}", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
