#!/usr/bin/python3
"""Tests alerts and dashboards.

promtool accepts the rules and their tests, each alert has one test that fires and one that does not, no panel of a
dashboard lacks a field or lies over another, and a program has every metric that a rule or a dashboard names."""
import json
import re
import tempfile
import pathlib
import unittest

import deployment
from deployment import DEPLOY, ROOT

import prometheus  # noqa: E402  (deployment puts tests/harness on the path)

RULES = DEPLOY / "prometheus/rules.yaml"
DASHBOARDS = sorted((DEPLOY / "grafana").glob("*.json"))
METRIC = re.compile(r"\b(?:rekindle|process)_[a-z0-9_]+\b")
# The names of a histogram's series end with `SUFFIXES`.
SUFFIXES = ("_bucket", "_sum", "_count")


def known_metrics():
    """Returns the metric names that are string literals in the programs' sources."""
    sources = [path for folder in ("common", "coordinator", "worker", "checkpoint")
               for path in (ROOT / folder).rglob("*.cc")
               if not path.name.endswith("_test.cc")]
    return {name for path in sources for name in re.findall(r'"((?:rekindle|process)_[a-z0-9_]+)"', path.read_text())}


def unknown_metrics(text):
    known = known_metrics()
    names = set(METRIC.findall(text))
    return sorted(name for name in names
                  if name not in known and not any(name.endswith(s) and name[:-len(s)] in known for s in SUFFIXES))


def panels(dashboard):
    for panel in dashboard["panels"]:
        yield panel
        yield from panel.get("panels", [])


class Rules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            prometheus.program("promtool")
        except prometheus.Missing as why:
            raise unittest.SkipTest(str(why))

    def assert_says(self, done, *words, code=0):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stdout + done.stderr)

    def test_rules_are_valid(self):
        self.assert_says(prometheus.promtool("check", "rules", RULES), "SUCCESS")

    def test_each_fires_when_it_should(self):
        self.assert_says(prometheus.promtool("test", "rules", "rules_test.yaml", cwd=RULES.parent), "SUCCESS")

    def test_a_rule_that_is_wrong_would_be_found(self):
        for alert, right, wrong in (("RekindleStraggler", "rekindle_job_stragglers > 0", "rekindle_job_stragglers > 1"),
                                    ("RekindleBudgetNearlySpent", ">= 0.8", ">= 0.9"),
                                    ("RekindleNoDurableCheckpoint", "> 3 * ", "> 300 * ")):
            with tempfile.TemporaryDirectory() as folder:
                self.assertIn(right, RULES.read_text())
                (pathlib.Path(folder) / "rules.yaml").write_text(RULES.read_text().replace(right, wrong))
                (pathlib.Path(folder) / "rules_test.yaml").write_text((RULES.parent / "rules_test.yaml").read_text())
                self.assert_says(prometheus.promtool("test", "rules", "rules_test.yaml", cwd=folder), alert, code=1)

    def test_the_example_of_a_configuration_is_valid(self):
        done = prometheus.promtool("check", "config", "--syntax-only", DEPLOY / "prometheus/prometheus.yaml")
        self.assert_says(done, "SUCCESS")

    def test_each_alert_has_a_test_that_fires_and_one_that_does_not(self):
        alerts = re.findall(r"- alert: (\w+)", RULES.read_text())
        self.assertGreaterEqual(len(alerts), 7)
        tested = (RULES.parent / "rules_test.yaml").read_text()
        quiet = set(re.findall(r"alertname: (\w+), exp_alerts: \[\]", tested))
        fires = set(re.findall(r"alertname: (\w+)\n +exp_alerts:", tested))
        self.assertEqual(sorted(quiet), sorted(alerts))
        self.assertEqual(sorted(fires), sorted(alerts))


class Names(unittest.TestCase):
    def test_alerts_and_dashboards_name_metrics_that_there_are(self):
        self.assertGreater(len(known_metrics()), 50)
        self.assertEqual(unknown_metrics("rekindle_no_such_total rekindle_steps_total process_cpu_seconds_total"),
                         ["rekindle_no_such_total"])
        for path in [RULES, *DASHBOARDS]:
            self.assertEqual(unknown_metrics(path.read_text()), [], path)

    def test_the_page_about_metrics_has_each_of_them(self):
        page = (ROOT / "docs/metrics.md").read_text()
        self.assertEqual(unknown_metrics(page), [])
        self.assertEqual(sorted(name for name in known_metrics() if f"`{name}" not in page), [])


class Dashboards(unittest.TestCase):
    def test_they_are_whole(self):
        self.assertEqual([path.stem for path in DASHBOARDS], ["cost", "fleet", "job"])
        uids = set()
        for path in DASHBOARDS:
            dashboard = json.loads(path.read_text())
            self.assertEqual(dashboard["uid"], f"rekindle-{path.stem}")
            uids.add(dashboard["uid"])
            self.assertIsNone(dashboard["id"], "it would overwrite another one")
            self.assertGreaterEqual(dashboard["schemaVersion"], 36)
            variables = {each["name"]: each for each in dashboard["templating"]["list"]}
            self.assertEqual(variables["datasource"]["query"], "prometheus")
            ids = [panel["id"] for panel in panels(dashboard)]
            self.assertEqual(len(ids), len(set(ids)))
            for panel in panels(dashboard):
                self.check_panel(path.name, panel, variables)
        self.assertEqual(len(uids), len(DASHBOARDS))

    def check_panel(self, where, panel, variables):
        what = f"{where}: {panel.get('title')}"
        self.assertTrue(panel["title"], what)
        self.assertLessEqual(panel["gridPos"]["x"] + panel["gridPos"]["w"], 24, what)
        if panel["type"] == "row":
            return
        self.assertIn(panel["type"], ("timeseries", "stat", "table", "bargauge"), what)
        self.assertTrue(panel["description"], what)
        self.assertEqual(panel["datasource"], {"type": "prometheus", "uid": "${datasource}"}, what)
        self.assertTrue(panel["targets"], what)
        self.assertIn("unit", panel["fieldConfig"]["defaults"], what)
        references = [target["refId"] for target in panel["targets"]]
        self.assertEqual(len(references), len(set(references)), what)
        for target in panel["targets"]:
            used = set(re.findall(r"\$\{?(\w+)", target["expr"])) - {"__rate_interval", "__range"}
            self.assertLessEqual(used, set(variables), what)

    def test_panels_do_not_lie_over_each_other(self):
        for path in DASHBOARDS:
            taken = {}
            for panel in json.loads(path.read_text())["panels"]:
                at = panel["gridPos"]
                for cell in ((x, y) for x in range(at["x"], at["x"] + at["w"])
                             for y in range(at["y"], at["y"] + at["h"])):
                    self.assertNotIn(cell, taken, f"{path.name}: {panel['title']} and {taken.get(cell)}")
                    taken[cell] = panel["title"]


if __name__ == "__main__":
    unittest.main()
