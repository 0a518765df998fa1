#!/usr/bin/python3
"""Tests that Kubernetes' schemas accept Kustomize's and Helm's manifests and that both say the same.

Every flag and file is one that the programs know, and pods have no more rights than they use."""
import json
import pathlib
import re
import tempfile
import unittest

import deployment
import tools
from deployment import DEPLOY

BASE = DEPLOY / "kubernetes/kustomize/base"
OVERLAYS = sorted((DEPLOY / "kubernetes/kustomize/overlays").iterdir())
MACHINES = DEPLOY / "kubernetes/kustomize/components/machines"
GPU = DEPLOY / "kubernetes/kustomize/components/gpu"
GPU_TAINT = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
CHART = DEPLOY / "helm/rekindle"
USER = 10001
MEMORY = {"Mi": 1 << 20, "Gi": 1 << 30, "GiB": 1 << 30}


def number(text):
    return int(re.match(r"\d+", text).group()) * MEMORY[re.sub(r"^\d+", "", text)]


def by_name(objects):
    return {(one["kind"], one["metadata"]["name"]): one for one in objects}


def pods(objects):
    return {one["metadata"]["name"]: one["spec"]["template"]["spec"] for one in objects
            if "template" in one.get("spec", {})}


def argv(container):
    return container["command"] + container.get("args", [])


def value(container, flag):
    words = argv(container)
    return words[words.index(flag) + 1]


def comparable(objects):
    """Returns the Kubernetes objects by name, without what only Kustomize or only Helm adds."""
    found = {}
    for key, one in by_name(json.loads(json.dumps(objects))).items():
        if key[0] == "Namespace":
            continue
        for metadata in (one["metadata"],
                         one.get("spec", {}).get("template", {}).get("metadata", {}) if "spec" in one else {}):
            for label in ("app.kubernetes.io/managed-by", "helm.sh/chart"):
                metadata.get("labels", {}).pop(label, None)
        one["metadata"].pop("namespace", None)
        found[key] = one
    return found


def with_component(component, base=BASE):
    """Returns what Kustomize makes, as YAML, of `base` (the base or an overlay) and a component."""
    with tempfile.TemporaryDirectory() as folder:
        above = "../" * (len(pathlib.Path(folder).resolve().parts) - 1)
        (pathlib.Path(folder) / "kustomization.yaml").write_text(
            f"resources: [{above}{str(base)[1:]}]\ncomponents: [{above}{str(component)[1:]}]\n")
        return tools.kustomize(folder)


class Manifests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            tools.wheels()
        except tools.Missing as why:
            raise unittest.SkipTest(str(why))
        cls.base_text = tools.kustomize(BASE)
        cls.base = tools.load(cls.base_text)
        cls.machines_text = with_component(MACHINES)
        cls.gpu_text = with_component(GPU)

    def assert_valid(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            self.assertEqual(tools.validate(file.name), "")

    def rendered(self, values=None, **options):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(values or {}, file)
            file.flush()
            try:
                return tools.template(CHART, "--values", file.name, **options)
            except tools.Missing as why:
                self.skipTest(str(why))

    def assert_same(self, result, text):
        """Checks that the manifests that Helm has rendered say the same as those of Kustomize."""
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_valid(result.stdout)
        chart, base = comparable(tools.load(result.stdout)), comparable(tools.load(text))
        self.assertEqual(sorted(chart), sorted(base))
        for key in base:
            self.assertEqual(chart[key], base[key], key)


class Kustomize(Manifests):
    def test_base_and_overlays_are_valid(self):
        self.assert_valid(self.base_text)
        self.assertEqual([each.name for each in OVERLAYS], ["aks", "eks", "gke"])
        for overlay in OVERLAYS:
            self.assert_valid(tools.kustomize(overlay))

    def test_validation_would_have_said_something(self):
        with self.assertRaises(AssertionError):
            self.assert_valid(self.base_text.replace("hostNetwork:", "hostNetwrok:", 1))

    def test_overlays_put_nodes_on_spot_and_the_coordinator_elsewhere(self):
        for overlay in OVERLAYS:
            spec = pods(tools.load(tools.kustomize(overlay)))
            selector = {key: value for key, value in spec["rekindle-worker"]["nodeSelector"].items()
                        if key != "rekindle-node"}
            self.assertEqual(len(selector), 1)
            self.assertEqual(spec["rekindle-worker"]["nodeSelector"], spec["rekindle-checkpoint"]["nodeSelector"])
            self.assertEqual(spec["rekindle-worker"].get("tolerations"), spec["rekindle-checkpoint"].get("tolerations"))
            terms = spec["rekindle-coordinator"]["affinity"]["nodeAffinity"][
                "requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"][0]["matchExpressions"]
            self.assertEqual([(one["key"], one["operator"], one["values"]) for one in terms],
                             [(key, "NotIn", [value]) for key, value in selector.items()])

    def test_flags_and_files(self):
        for name, spec in pods(self.base).items():
            for container in spec["containers"]:
                self.assertEqual(deployment.unknown_flags(argv(container)), [], name)
                secret = next(one for one in spec["volumes"] if one["name"] == "secrets")["secret"]["secretName"]
                folder = next(one["mountPath"] for one in container["volumeMounts"] if one["name"] == "secrets")
                files = {one["name"]: one["value"] for one in container["env"]
                         if one["name"].startswith(("REKINDLE_TLS", "REKINDLE_TOKEN"))}
                self.assertEqual(len(files), 4)
                self.assertEqual(secret, "rekindle-" + pathlib.Path(folder).name)
                for path in files.values():
                    self.assertEqual(str(pathlib.Path(path).parent), folder)
                    self.assertIn(pathlib.Path(path).name, (DEPLOY / "make-secrets").read_text())

    def test_pods_have_few_rights(self):
        for name, spec in pods(self.base).items():
            self.assertTrue(spec["securityContext"]["runAsNonRoot"])
            self.assertEqual(spec["securityContext"]["runAsUser"], USER)
            self.assertEqual(spec["automountServiceAccountToken"], name == "rekindle-worker")
            for container in spec["containers"] + spec.get("initContainers", []):
                security = container["securityContext"]
                self.assertTrue(security["readOnlyRootFilesystem"] and not security["allowPrivilegeEscalation"])
                self.assertEqual(security["capabilities"]["drop"], ["ALL"])
                self.assertEqual(security["capabilities"].get("add", []),
                                 ["CHOWN"] if container["name"] == "folder" else [])
                self.assertTrue(container["resources"]["limits"]["memory"])
        rules = [rule for one in self.base for rule in one.get("rules", [])]
        self.assertEqual(sorted((rule["resources"][0], *rule["verbs"]) for rule in rules),
                         [("nodes", "get"), ("pods", "get")])
        self.assertNotIn("kind: Secret", self.base_text)

    def test_a_coordinator_that_gets_machines_may_scale_the_pools_of_its_namespace_alone(self):
        self.assert_valid(self.machines_text)
        objects = tools.load(self.machines_text)
        found, spec = by_name(objects), pods(objects)["rekindle-coordinator"]
        self.assertEqual(set(found) - set(by_name(self.base)),
                         {("Role", "rekindle-machines"), ("RoleBinding", "rekindle-machines")})
        self.assertEqual(
            [(rule["resources"], rule["verbs"], rule.get("resourceNames"))
             for rule in found["Role", "rekindle-machines"]["rules"]],
            [(["statefulsets"], ["get"], ["rekindle-worker"]), (["statefulsets/scale"], ["patch"], ["rekindle-worker"]),
             (["pods"], ["list"], None)])
        binding = found["RoleBinding", "rekindle-machines"]
        self.assertEqual((binding["roleRef"]["name"], binding["subjects"][0]["name"], binding["metadata"]["namespace"]),
                         ("rekindle-machines", spec["serviceAccountName"], "rekindle"))
        self.assertTrue(spec["automountServiceAccountToken"])
        self.assertIn(443, [port["port"]
                            for port in found["NetworkPolicy", "rekindle-coordinator"]["spec"]["egress"][0]["ports"]])
        container = spec["containers"][0]
        self.assertEqual(deployment.unknown_flags(argv(container)), [])
        folder = next(one["mountPath"] for one in container["volumeMounts"] if one["name"] == "fleet")
        self.assertEqual(value(container, "--fleet"), f"{folder}/fleet.yaml")
        self.assertEqual(next(one for one in spec["volumes"] if one["name"] == "fleet")["configMap"]["name"],
                         "rekindle-fleet")

    def test_a_gpu_for_each_worker_beside_what_an_overlay_says(self):
        self.assert_valid(self.gpu_text)
        for overlay in [BASE, *OVERLAYS]:
            text = with_component(GPU, overlay)
            self.assert_valid(text)
            before, spec = pods(tools.load(tools.kustomize(overlay))), pods(tools.load(text))
            worker = spec["rekindle-worker"]["containers"][0]
            self.assertEqual(worker["resources"]["limits"], {"memory": "8Gi", "nvidia.com/gpu": 1})
            self.assertEqual(value(worker, "--slots"), "1")
            # A worker does not start without the checkpoint service, so both must tolerate the taint of nodes with
            # GPUs.
            for name in ("rekindle-worker", "rekindle-checkpoint"):
                self.assertEqual(spec[name]["tolerations"], before[name]["tolerations"] + [GPU_TAINT])
            self.assertEqual(spec["rekindle-coordinator"], before["rekindle-coordinator"])
            self.assertNotIn("nvidia", json.dumps(before))

    def test_a_worker_says_of_which_pool_it_is(self):
        worker = by_name(self.base)["StatefulSet", "rekindle-worker"]["spec"]["template"]
        self.assertEqual(value(worker["spec"]["containers"][0], "--pool"),
                         worker["metadata"]["labels"]["rekindle-pool"])

    def test_a_machine_s_pods_share_what_they_must(self):
        spec = pods(self.base)
        worker, checkpoint = spec["rekindle-worker"], spec["rekindle-checkpoint"]
        for one in (worker, checkpoint):
            self.assertTrue(one["hostPID"] and one["hostNetwork"])
            self.assertEqual(next(v for v in one["volumes"] if v["name"] == "shared-memory")["hostPath"]["path"],
                             "/dev/shm")
        self.assertEqual(value(worker["containers"][0], "--dir"), value(checkpoint["containers"][0], "--dir"))
        self.assertEqual(value(checkpoint["containers"][0], "--peer-listen").split(":")[0],
                         value(worker["containers"][0], "--advertise"))
        self.assertEqual(spec["rekindle-coordinator"].get("hostNetwork"), None)
        names = {one["name"] for one in worker["containers"][0]["env"]}
        self.assertLessEqual({"REKINDLE_KUBERNETES_POD", "REKINDLE_KUBERNETES_NODE"}, names)

    def test_a_drain_may_end_and_the_checkpoint_service_waits_for_it(self):
        spec = pods(self.base)
        worker, checkpoint = spec["rekindle-worker"], spec["rekindle-checkpoint"]
        drain = int(value(worker["containers"][0], "--drain-seconds"))
        self.assertGreaterEqual(worker["terminationGracePeriodSeconds"], drain + 10 + 5)
        stays = int(checkpoint["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][1])
        self.assertGreaterEqual(stays, drain)
        self.assertGreater(checkpoint["terminationGracePeriodSeconds"], stays)

    def test_lent_memory_is_granted(self):
        container = pods(self.base)["rekindle-checkpoint"]["containers"][0]
        lent = number(value(container, "--memory-limit")) + number(value(container, "--peer-memory"))
        self.assertGreater(number(container["resources"]["limits"]["memory"]), lent)
        self.assertEqual(container["resources"]["requests"]["memory"], container["resources"]["limits"]["memory"])


class Helm(Manifests):
    def test_values_fit_the_schema_and_wrong_ones_do_not(self):
        schema = json.loads((CHART / "values.schema.json").read_text())
        values = tools.load((CHART / "values.yaml").read_text())[0]
        self.assertEqual(tools.fits_schema(schema, values), "")
        for wrong in ({"pool": []}, {"pools": []}, {"pools": [{"name": "checkpoint", "replicas": 1}]},
                      {"pools": [{"name": "a", "replicas": 1, "slots": 65}]},
                      {"pools": [{"name": "a", "replicas": 1, "gpus": -1}]},
                      {"pools": [{"name": "a", "replicas": 1, "gpus": "1"}]}, {"secrets": {"token": "x"}},
                      {"coordinator": {"defaultStore": "file:///x"}}, {"coordinator": {"fleet": {"machines": True}}},
                      {"coordinator": {"fleet": {"machines": True, "configMap": ""}}},
                      {"storeEndpoints": ["https://minio.example"]},
                      {"pools": [{"name": "a", "replicas": 1, "dataRoots": ["data"]}]},
                      {"checkpoint": {"memoryGiB": "4"}}):
            self.assertNotEqual(tools.fits_schema(schema, {**values, **wrong}), "", wrong)

    def test_says_what_kustomize_says(self):
        machines = {"coordinator": {"fleet": {"configMap": "rekindle-fleet", "machines": True}}}
        gpu = {"pools": [{**tools.load((CHART / "values.yaml").read_text())[0]["pools"][0], "gpus": 1}]}
        for values, text in (({}, self.base_text), (machines, self.machines_text), (gpu, self.gpu_text)):
            self.assert_same(self.rendered(values), text)

    def test_all_values_at_once(self):
        pool = {"replicas": 3, "zone": "eu-west-1b", "slots": 2, "drainSeconds": 0, "nodeSelector": {"size": "big"},
                "extraVolumes": [{"name": "text", "persistentVolumeClaim": {"claimName": "text"}}],
                "extraVolumeMounts": [{"name": "text", "mountPath": "/text", "readOnly": True}],
                "dataRoots": ["/text", "/more"]}
        values = {"image": {"repository": "registry.example/rekindle", "tag": "1"},
                  "imagePullSecrets": [{"name": "pull"}],
                  "node": {"selector": {"fast": "yes"}, "tolerations": [{"key": "spot", "operator": "Exists"}]},
                  "coordinator": {"defaultStore": "s3://bucket/x", "storage": {"size": "1Gi", "className": "ssd"},
                                  "fleet": {"configMap": "prices", "machines": True},
                                  "nodeSelector": {"kind": "on-demand"}, "tolerations": [{"operator": "Exists"}],
                                  "affinity": {"nodeAffinity": {}},
                                  "extraContainers": [{"name": "scraper", "image": "x:1"}]},
                  "checkpoint": {"memoryGiB": 8, "peerMemoryGiB": 2, "serviceAccountAnnotations": {"role": "writer"}},
                  "worker": {"serviceAccountAnnotations": {"role": "reader"}}, "storeEndpoints": ["minio.example:9000"],
                  "pools": [{"name": "a", **pool}, {"name": "b", "replicas": 0}]}
        result = self.rendered(values, namespace="training")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_valid(result.stdout)
        objects = tools.load(result.stdout)
        found, spec = by_name(objects), pods(objects)
        a = spec["rekindle-a"]
        self.assertEqual(a["nodeSelector"], {"rekindle-node": "true", "fast": "yes", "size": "big",
                                             "topology.kubernetes.io/zone": "eu-west-1b"})
        words = argv(a["containers"][0])
        self.assertEqual(deployment.unknown_flags(words), [])
        self.assertEqual([value(a["containers"][0], flag)
                          for flag in ("--zone", "--slots", "--drain-seconds", "--coordinator")],
                         ["eu-west-1b", "2", "0", "rekindle-coordinator.training.svc:7070"])
        self.assertEqual([words[i + 1] for i, word in enumerate(words) if word == "--data-root"], ["/text", "/more"])
        for name in ("coordinator", "checkpoint"):
            container = spec[f"rekindle-{name}"]["containers"][0]
            self.assertEqual(value(container, "--store-endpoint"), "minio.example:9000")
            self.assertEqual(deployment.unknown_flags(argv(container)), [])
        self.assertEqual(a["terminationGracePeriodSeconds"], 30)
        self.assertEqual(a["containers"][0]["volumeMounts"][-1]["mountPath"], "/text")
        self.assertEqual(spec["rekindle-b"]["nodeSelector"], {"rekindle-node": "true", "fast": "yes"})
        self.assertEqual(found["StatefulSet", "rekindle-b"]["spec"]["replicas"], 0)
        self.assertEqual(value(spec["rekindle-coordinator"]["containers"][0], "--default-store"), "s3://bucket/x")
        self.assertEqual(spec["rekindle-checkpoint"]["containers"][0]["resources"]["limits"]["memory"], "11Gi")
        self.assertIn(("ClusterRole", "training-worker-nodes"), found)
        self.assertEqual(found["Role", "rekindle-machines"]["rules"][1]["resourceNames"], ["rekindle-a", "rekindle-b"])
        self.assertEqual(value(a["containers"][0], "--pool"), "a")
        self.assertNotIn("namespace: rekindle\n", result.stdout)

    def test_pools_with_gpus_beside_one_without(self):
        taint = {"key": "team", "operator": "Equal", "value": "vision", "effect": "NoSchedule"}
        limits = {"limits": {"memory": "64Gi"}}
        result = self.rendered({"pools": [
            {"name": "h", "replicas": 1, "gpus": 8, "tolerations": [taint], "runtimeClassName": "nvidia",
             "resources": limits},
            {"name": "one", "replicas": 1, "gpus": 1, "slots": 1},
            {"name": "cpu", "replicas": 1, "slots": 3, "resources": limits}]})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_valid(result.stdout)
        spec = pods(tools.load(result.stdout))
        for name, said in {"h": ("8", {"limits": {"memory": "64Gi", "nvidia.com/gpu": 8}}, [taint, GPU_TAINT],
                                 "nvidia"),
                           "one": ("1", {"limits": {"nvidia.com/gpu": 1}}, [GPU_TAINT], None),
                           "cpu": ("3", limits, [], None)}.items():
            pod = spec[f"rekindle-{name}"]
            worker = pod["containers"][0]
            self.assertEqual((value(worker, "--slots"), worker["resources"], pod["tolerations"],
                              pod.get("runtimeClassName")), said)
        self.assertEqual(spec["rekindle-checkpoint"]["tolerations"], [taint, GPU_TAINT])
        self.assertNotIn("runtimeClassName", spec["rekindle-checkpoint"])

    def test_wrong_values_are_refused(self):
        slots = {"pools": [{"name": "a", "replicas": 1, "gpus": 4, "slots": 2}]}
        for wrong, said in (({"pols": []}, "values"), ({"pools": [{"name": "a"}]}, "values"),
                            (slots, "gpus: 4 and slots: 2")):
            result = self.rendered(wrong)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(said, result.stderr)


if __name__ == "__main__":
    unittest.main()
