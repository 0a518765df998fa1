#!/usr/bin/python3
"""Tests that Kustomize and Helm offer metrics to a Prometheus in the cluster, by TLS and token."""
import json
import unittest

import tools
from deployment import DEPLOY
from manifests_test import CHART, OVERLAYS, Manifests, by_name, pods, value, with_component

METRICS = DEPLOY / "kubernetes/kustomize/components/metrics"
OPEN = {"metrics": {"open": True, "monitors": True, "monitorLabels": {}}}


class Metrics(Manifests):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.metrics_text = with_component(METRICS)

    def assert_valid(self, text):
        """Validates all objects except PodMonitors, which are not Kubernetes' own, so that its schemas lack them."""
        super().assert_valid("\n---\n".join(one for one in text.split("\n---\n") if "kind: PodMonitor" not in one))

    def test_kustomize(self):
        self.assert_valid(self.metrics_text)
        found = by_name(tools.load(self.metrics_text))
        spec = pods(found.values())
        hosts = {"coordinator": "0.0.0.0:9100", "worker": "$(HOST_IP):9101", "checkpoint": "$(HOST_IP):9102"}
        for name, address in hosts.items():
            container = spec[f"rekindle-{name}"]["containers"][0]
            self.assertEqual(value(container, "--metrics"), address)
            port = next(one["containerPort"] for one in container["ports"] if one["name"] == "metrics")
            self.assertEqual(address.split(":")[1], str(port))
            monitor = found["PodMonitor", f"rekindle-{name}"]["spec"]
            labels = next(one for (kind, of), one in found.items() if of == f"rekindle-{name}"
                          and "template" in one.get("spec", {}))
            self.assertLessEqual(monitor["selector"]["matchLabels"].items(),
                                 labels["spec"]["template"]["metadata"]["labels"].items())
            [endpoint] = monitor["podMetricsEndpoints"]
            self.assertEqual((endpoint["port"], endpoint["scheme"]), ("metrics", "https"))
            secret = next(one for one in spec[f"rekindle-{name}"]["volumes"]
                          if one["name"] == "secrets")["secret"]["secretName"]
            used = [endpoint["authorization"]["credentials"], endpoint["tlsConfig"]["keySecret"],
                    *(endpoint["tlsConfig"][what]["secret"] for what in ("ca", "cert"))]
            self.assertEqual({one["name"] for one in used}, {secret})
            self.assertEqual(sorted(one["key"] for one in used), ["ca.crt", "tls.crt", "tls.key", "token"])
            self.assertIn(f'job="rekindle-{name}"' if name == "coordinator" else "",
                          (DEPLOY / "prometheus/rules.yaml").read_text())
            self.assertEqual(endpoint["relabelings"], [{"targetLabel": "job", "replacement": f"rekindle-{name}"}])
        policy = found["NetworkPolicy", "rekindle-coordinator"]["spec"]["ingress"][0]["ports"]
        self.assertEqual([one["port"] for one in policy], ["grpc", "metrics"])
        for overlay in OVERLAYS:
            self.assert_valid(with_component(METRICS, overlay))

    def test_they_are_on_loopback_unless_asked_for(self):
        for name, spec in pods(self.base).items():
            self.assertTrue(value(spec["containers"][0], "--metrics").startswith("127.0.0.1:"), name)
        self.assertNotIn("PodMonitor", self.base_text)

    def test_helm_says_what_kustomize_says(self):
        self.assert_same(self.rendered(OPEN), self.metrics_text)

    def test_labels_and_namespace_of_the_chart(self):
        values = {"metrics": {**OPEN["metrics"], "monitorLabels": {"release": "prometheus"}}}
        result = self.rendered(values, namespace="training")
        self.assertEqual(result.returncode, 0, result.stderr)
        monitor = by_name(tools.load(result.stdout))["PodMonitor", "rekindle-coordinator"]
        self.assertEqual(monitor["metadata"]["labels"]["release"], "prometheus")
        self.assertEqual(monitor["spec"]["podMetricsEndpoints"][0]["tlsConfig"]["serverName"],
                         "rekindle-coordinator.training.svc")

    def test_no_monitor_of_what_is_not_open(self):
        schema = json.loads((CHART / "values.schema.json").read_text())
        values = tools.load((CHART / "values.yaml").read_text())[0]
        self.assertEqual(tools.fits_schema(schema, {**values, **OPEN}), "")
        for wrong in ({"open": False, "monitors": True}, {"open": "yes", "monitors": False}, {"open": True}):
            self.assertNotEqual(tools.fits_schema(schema, {**values, "metrics": wrong}), "", wrong)


if __name__ == "__main__":
    unittest.main()
