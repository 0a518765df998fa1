"""Tests what jobs cost, with real processes: two pools of different prices, an absent coordinator, a budget's end."""
import pathlib
import signal
import subprocess
import time
import unittest

from base import ClusterTest, small_job, steps_done, wait_until
from hook import Hook
from programs import program

# A price of `SECOND` per hour is a price of 1 per second.
SECOND = 3600


def fleet(cheap, dear):
    line = "  - {{name: {0}, provider: local, zone: {0}, instance_type: box, capacity: {1}, price: {2}{3}}}\n"
    return "pools:\n" + line.format("cheap", "spot", cheap, f", on_demand_price: {dear}") + line.format(
        "dear", "on_demand", dear, "")


def carbon_trace(intensity):
    """Returns a trace of the grid's carbon intensity in the hours around now."""
    now = int(time.time()) // 3600 * 3600
    hours = (time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(now + 3600 * hour)) for hour in range(-1, 4))
    return "datetime_utc,direct_gco2eq_per_kwh,lca_gco2eq_per_kwh\n" + "".join(f"{at},{intensity},0\n" for at in hours)


class CostTest(ClusterTest):
    def fleet_file(self, text):
        path = pathlib.Path(self.folder) / "fleet.yaml"
        path.write_text(text)
        return path

    def priced(self, flags=(), prices=(SECOND, 2 * SECOND)):
        """Starts a cluster where n1 is cheap and its emissions are known, n2 is dear, and n3 has no pool."""
        (pathlib.Path(self.folder) / "carbon_ES_2026.csv").write_text(carbon_trace(400))
        green = fleet(*prices).replace("name: cheap", "name: cheap, carbon_region: ES, node_watts: 250")
        file = self.fleet_file(green + "carbon: {files: [carbon_ES_2026.csv]}\n")
        return self.cluster(coordinator_flags=["--fleet", str(file), *flags],
                            worker_flags={"n1": ["--pool", "cheap"], "n2": ["--pool", "dear"]})

    def cost(self, cluster, job="job"):
        return cluster.cli("cost", job)["cost"]

    def kinds(self, cluster, kind):
        return [e["text"] for e in cluster.cli("events")["events"] if e["kind"] == kind]

    def pool(self, cost, name):
        return next(line for line in cost["pools"] if line.get("pool", "") == name)

    def test_each_second_is_counted_also_while_the_coordinator_is_away(self):
        cluster = self.priced()
        spec = small_job("job", self.text, steps=100_000)
        spec["spec"]["team"] = "vision"
        cluster.submit(spec)
        wait_until(lambda: steps_done(cluster) >= 5 and len(cluster.status("job").get("members", [])) == 3, 60,
                   "the job to run on all nodes")
        [unpriced] = self.kinds(cluster, "node_unpriced")
        self.assertIn("what node n3 costs is not known: it names no pool", unpriced)

        first, at = self.cost(cluster), time.monotonic()
        self.assertAlmostEqual(first["rate"], 3 * SECOND)
        cluster.kill_coordinator()
        away = time.monotonic()
        before = steps_done(cluster)
        wait_until(lambda: steps_done(cluster) > before + 50, 60, "the trainers to go on without a coordinator")
        cluster.start_coordinator()
        self.assertGreater(time.monotonic() - away, 0.5)
        wait_until(lambda: self.cost(cluster)["until"] > first["until"] + 5, 30, "more costs")
        wait_until(lambda: self.cost(cluster)["rate"] == 3 * SECOND, 30, "the nodes to be priced again")
        second, then = self.cost(cluster), time.monotonic()
        passed = second["until"] - first["until"]
        # Costs are counted only once a second, so each of the two readings may be a second old.
        self.assertAlmostEqual(passed, then - at, delta=2.5)
        self.check_amounts(first, second, passed)
        steps, left = cluster.status("job")["step"], 100_000
        self.assertGreater(second["forecast"], second["spent"] * left / steps / 10)
        self.assertLessEqual(second["forecast_low"], second["forecast"])
        self.check_team_and_savings(cluster)
        self.check_new_prices(cluster)
        self.check_elasticity(cluster)
        cluster.cli("cancel", "job")
        wait_until(lambda: self.cost(cluster).get("rate", 0) == 0, 20, "the nodes to be free")

    def check_amounts(self, first, second, passed):
        self.assertAlmostEqual(second["spent"] - first["spent"], 3 * passed, delta=3 * 0.1 * passed)
        cheap, dear = self.pool(second, "cheap"), self.pool(second, "dear")
        self.assertAlmostEqual(dear["spent"], 2 * SECOND * dear["node_hours"], delta=0.01)
        self.assertAlmostEqual(cheap["on_demand"], 2 * cheap["spent"], delta=0.01)
        self.assertGreater(second["unpriced_node_hours"], 0)
        # A node uses 0.25 kW, and the grid emits 0.4 kg of CO2 per kWh, so a node emits 0.1 kg an hour.
        self.assertAlmostEqual(cheap["kg_co2"], 0.1 * cheap["node_hours"])
        self.assertAlmostEqual(second["carbon_node_hours"], cheap["node_hours"])
        self.assertAlmostEqual(second["kg_co2"], cheap["kg_co2"])

    def check_team_and_savings(self, cluster):
        team = cluster.cli("cost", "--team", "vision")
        self.assertEqual([job["job"] for job in team["jobs"]], ["job"])
        self.assertIsNone(cluster.cli("cost", "--team", "nobody", check=False))
        saved = {line["by"]: line for line in cluster.cli("savings", "job")["savings"]}
        self.assertGreater(saved["spot"]["amount"], 0)
        self.assertIn("on demand they cost", saved["spot"]["how"])
        # If the ranks differ in speed, the lever `ranges` may have saved seconds already, so the amount that levers
        # saved may exceed 0.
        self.assertGreaterEqual(saved["levers"]["amount"], 0)
        self.assertIn("levers", saved)

    def check_new_prices(self, cluster):
        """Sets other prices, which hold from then on, and then a wrong file, which is refused."""
        self.fleet_file(fleet(2 * SECOND, 4 * SECOND))
        cluster.coordinator.send_signal(signal.SIGHUP)
        wait_until(lambda: self.cost(cluster)["rate"] == 6 * SECOND, 20, "the new prices")
        self.fleet_file(fleet(-1, 4))
        cluster.coordinator.send_signal(signal.SIGHUP)
        log = cluster.logs / "coordinator.log"
        wait_until(lambda: "pools[0].price: -1 is out of range" in log.read_text(), 20, "the refusal")
        self.assertEqual(self.cost(cluster)["rate"], 6 * SECOND)

    def check_elasticity(self, cluster):
        """Takes a worker away. The savings say that elasticity saved what the steps with fewer workers cost."""
        before = self.cost(cluster)
        self.assertEqual(before["most_workers"], 3)
        cluster.cli("drain", "n2")
        wait_until(lambda: self.cost(cluster).get("fewer_spent", 0) > before.get("fewer_spent", 0) + 2, 60,
                   "steps with two workers")
        after = self.cost(cluster)
        self.assertLessEqual(after["fewer_spent"] - before.get("fewer_spent", 0),
                             after["spent"] - before["spent"] + 0.01)
        elastic = next(s for s in cluster.cli("savings", "job")["savings"] if s["by"] == "elasticity")
        self.assertGreaterEqual(elastic["amount"], after["fewer_spent"])
        self.assertIn("node-hours of steps with fewer than 3 workers", elastic["how"])

    def test_a_wrong_fleet_file_is_refused_at_the_start(self):
        done = subprocess.run([program("rekindle-coordinator"), "--data", self.folder + "/data",
                               "--listen", "127.0.0.1:0", "--fleet", str(self.fleet_file(fleet(-1, 4)))],
                              capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("fleet.yaml: pools[0].price: -1 is out of range: use 0 to", done.stderr)

    def test_a_budget_alerts_stops_and_is_raised(self):
        with Hook() as hook:
            cluster = self.priced(["--alert-webhook", hook.url])
            spec = small_job("job", self.text, steps=100_000)
            spec["spec"]["goals"] = {"budget": 10}
            with self.assertRaisesRegex(RuntimeError, r"a minute of 1 node in the cheapest pool cheap costs 60.00 USD"):
                cluster.submit(spec)
            spec["spec"]["goals"] = {"budget": 220}
            cluster.submit(spec)
            wait_until(lambda: self.kinds(cluster, "nodes_released"), 120, "the budget to stop the job", poll=0.2)
            status = cluster.status("job")
            self.assertEqual(status["state"], "PAUSED")
            self.assertIn("the budget must not be crossed", status["reason"])
            self.assertEqual(status["checkpoint_step"], status["step"])
            self.assertFalse(status["members"])
            self.assertIn(f"{status['cost']['spent']:.2f} USD of 220.00 USD are spent", status["reason"])
            self.assertTrue(self.kinds(cluster, "paused"))
            spent = self.cost(cluster)["spent"]
            self.assertLess(spent, 220 + 10 * 3)
            [half] = self.kinds(cluster, "budget_alert")
            self.assertIn("50 % of the budget is spent", half)
            wait_until(lambda: len(hook.got) >= 2, 20, "both alerts to be posted")
            self.assertEqual([body["kind"] for _, body in hook.got], ["budget_alert", "budget_stop"])
            self.assertEqual(hook.got[0][0], "/hooks/secret-word")
            self.assertNotIn("secret-word", (cluster.logs / "coordinator.log").read_text())
            wait_until(lambda: not any(n.pids("trainer") for n in cluster.nodes.values()), 30, "the trainers to end")
            # Nodes are on the bill until their agents have reported the end of the trainers.
            wait_until(lambda: self.cost(cluster).get("rate", 0) == 0, 30, "the nodes to be off the bill", poll=0.05)
            spent = self.cost(cluster)["spent"]

            cluster.kill_coordinator()
            cluster.start_coordinator()
            with self.assertRaisesRegex(RuntimeError, "the budget of job job has no room"):
                cluster.cli("resume", "job")
            # A stopped job holds no node, so it costs nothing.
            self.assertAlmostEqual(self.cost(cluster)["spent"], spent, delta=0.01)
            cluster.cli("resume", "job", "--budget", "5000")
            step = status["step"]
            wait_until(lambda: cluster.status("job")["step"] > step + 5, 60, "the job to go on from its checkpoint")
            self.assertEqual(self.cost(cluster)["budget"], 5000)
            self.assertEqual(len(self.kinds(cluster, "budget_alert")), 1)


if __name__ == "__main__":
    unittest.main()
