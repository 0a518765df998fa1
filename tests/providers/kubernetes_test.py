"""Tests the Kubernetes adapter against a real API server with etcd, where both are available.

The API server is REKINDLE_KUBE_APISERVER, or kube-apiserver on the PATH, and etcd is on the PATH. There is no kubelet,
so the test makes the pods that a StatefulSet's controller would make."""
import http.client
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
from ports import free_port  # noqa: E402
from programs import program  # noqa: E402
from waiting import wait_until  # noqa: E402

SKIPPED = 77
API_SERVER = os.environ.get("REKINDLE_KUBE_APISERVER") or shutil.which("kube-apiserver")
ETCD = shutil.which("etcd")
TOKEN = "not-a-secret-of-anybody"


class KubernetesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="rekindle-kube-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.port, client, peer = free_port(), free_port(), free_port()
        self.spawn(ETCD, "--data-dir", self.folder / "etcd", "--unsafe-no-fsync",
                   "--listen-client-urls", f"http://127.0.0.1:{client}",
                   "--advertise-client-urls", f"http://127.0.0.1:{client}",
                   "--listen-peer-urls", f"http://127.0.0.1:{peer}",
                   "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
                   "--initial-cluster", f"default=http://127.0.0.1:{peer}")
        subprocess.run(["openssl", "genrsa", "-out", self.folder / "sa.key", "2048"], check=True, capture_output=True)
        subprocess.run(["openssl", "rsa", "-in", self.folder / "sa.key", "-pubout", "-out", self.folder / "sa.pub"],
                       check=True, capture_output=True)
        (self.folder / "tokens.csv").write_text(f"{TOKEN},admin,admin,system:masters\nnobody,nobody,nobody\n")
        self.spawn(API_SERVER, f"--etcd-servers=http://127.0.0.1:{client}", "--bind-address=127.0.0.1",
                   "--advertise-address=127.0.0.1", f"--secure-port={self.port}", f"--cert-dir={self.folder}/certs",
                   "--service-account-issuer=https://kubernetes.default.svc",
                   f"--service-account-key-file={self.folder}/sa.pub",
                   f"--service-account-signing-key-file={self.folder}/sa.key", "--service-cluster-ip-range=10.0.0.0/24",
                   "--authorization-mode=RBAC", f"--token-auth-file={self.folder}/tokens.csv",
                   "--disable-admission-plugins=ServiceAccount", "--anonymous-auth=false",
                   "--endpoint-reconciler-type=none")
        wait_until(self.ready, 60, "the API server to be ready", poll=0.2)

    def spawn(self, *command):
        with open(self.folder / (pathlib.Path(command[0]).name + ".log"), "ab") as log:
            process = subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

    def ask(self, method, path, body=None):
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=10,
                                                 context=ssl._create_unverified_context())
        connection.request(method, path, body and json.dumps(body),
                           {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text[:1] == b"{" else {}

    def ready(self):
        try:
            return self.ask("GET", "/readyz")[0] == 200 and self.ask("GET", "/api/v1/namespaces/default")[0] == 200
        except OSError:
            return False

    def make(self, path, body):
        status, made = self.ask("POST", path, body)
        self.assertEqual(status, 201, made)
        return made

    def call(self, *words, token=TOKEN):
        config = self.folder / "kubeconfig"
        config.write_text(json.dumps({
            "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{self.port}",
                                                   "certificate-authority": "certs/apiserver.crt"}}],
            "users": [{"name": "u", "user": {"token": token}}]}))
        fleet = self.folder / "fleet.yaml"
        fleet.write_text(json.dumps({"pools": [{"name": "p", "provider": "kubernetes", "zone": "z", "capacity": "spot",
                                                "machines": {"group": "worker", "kubeconfig": str(config)}}]}))
        done = subprocess.run([program("fleet_provider_probe"), str(fleet), *map(str, words)], capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_stateful_set_is_scaled_and_its_pods_are_listed(self):
        labels = {"app": "rekindle"}
        containers = [{"name": "worker", "image": "rekindle"}]
        made = self.make("/apis/apps/v1/namespaces/default/statefulsets", {
            "metadata": {"name": "worker"},
            "spec": {"replicas": 1, "serviceName": "worker", "selector": {"matchLabels": labels},
                     "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}}}})
        owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "worker", "uid": made["metadata"]["uid"]}
        for name, owners in [("worker-0", [owner]), ("stranger", [])]:
            self.make("/api/v1/namespaces/default/pods", {
                "metadata": {"name": name, "labels": labels, "ownerReferences": owners},
                "spec": {"containers": containers, "nodeName": f"machine-of-{name}"}})
        listing = self.call("list", "p")
        self.assertEqual(listing["desired"], 1)
        self.assertEqual(listing["machines"], [{"id": "worker-0", "node": "machine-of-worker-0", "state": "starting"}])
        self.assertEqual(self.call("desired", "p", 3)["code"], "OK")
        self.assertEqual(self.ask("GET", "/apis/apps/v1/namespaces/default/statefulsets/worker")[1]["spec"]["replicas"],
                         3)
        self.assertEqual(self.call("list", "p")["desired"], 3)

    def test_who_may_not_is_told_what_is_missing(self):
        denied = self.call("desired", "p", 1, token="nobody")
        self.assertEqual(denied["code"], "PERMISSION_DENIED")
        self.assertIn('cannot patch resource "statefulsets/scale"', denied["message"])
        self.assertEqual(self.call("list", "p", token="unknown")["code"], "UNAUTHENTICATED")
        self.assertEqual(self.call("list", "p")["code"], "NOT_FOUND")


if __name__ == "__main__":
    if not API_SERVER or not ETCD:
        print("skipped: no kube-apiserver or no etcd on the PATH; docs/development.md says how to have them")
        sys.exit(SKIPPED)
    unittest.main()
