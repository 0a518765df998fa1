#!/usr/bin/python3
"""Tests deploy/cloud/rekindle-boot against the documented answers of three clouds.

deploy/make-secrets and deploy/install are run as a user runs them."""
import base64
import contextlib
import datetime
import http.server
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import re
import stat
import subprocess
import tempfile
import threading
import unittest
import urllib.error
import urllib.parse

import deployment
from deployment import DEPLOY, UNITS, settings


def load(path):
    loader = importlib.machinery.SourceFileLoader("rekindle_boot", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("rekindle_boot", loader))
    loader.exec_module(module)
    return module


boot = load(DEPLOY / "cloud/rekindle-boot")
SECRET = {"tls.crt": "C", "tls.key": "K", "ca.crt": "A", "token": "T"}
AWS = "http://169.254.169.254/latest"
AZURE = "http://169.254.169.254/metadata"
GCP = "http://metadata.google.internal/computeMetadata/v1"
AZURE_SECRET = "https://vault-1.vault.azure.net/secrets/rekindle-node"
ANSWERS = {
    "aws": {f"{AWS}/api/token": "session", f"{AWS}/meta-data/placement/availability-zone": "eu-west-1b",
            f"{AWS}/meta-data/placement/region": "eu-west-1", f"{AWS}/meta-data/local-ipv4": "10.0.3.4",
            f"{AWS}/meta-data/iam/security-credentials/": "node-role", f"{AWS}/meta-data/instance-id": "i-0abc",
            f"{AWS}/meta-data/iam/security-credentials/node-role":
                json.dumps({"AccessKeyId": "AKID", "SecretAccessKey": "secret", "Token": "session-token"}),
            "https://ssm.eu-west-1.amazonaws.com/": json.dumps({"Parameter": {"Value": json.dumps(SECRET)}})},
    "gcp": {f"{GCP}/instance/service-accounts/default/token": json.dumps({"access_token": "bearer"}),
            f"{GCP}/project/project-id": "project-1", f"{GCP}/instance/name": "rekindle-x1",
            f"{GCP}/instance/zone": "projects/1234/zones/europe-west4-b",
            f"{GCP}/instance/network-interfaces/0/ip": "10.0.3.4",
            f"{GCP}/instance/attributes/created-by": "projects/1234/zones/europe-west4-b/instanceGroupManagers/node",
            "https://secretmanager.googleapis.com/v1/projects/project-1/secrets/rekindle-node/versions/latest:access":
                json.dumps({"payload": {"data": base64.b64encode(json.dumps(SECRET).encode()).decode()}})},
    "azure": {f"{AZURE}/instance?api-version=2021-02-01": json.dumps(
                  {"compute": {"name": "fleet_3", "location": "westeurope", "zone": "2", "vmScaleSetName": "fleet",
                               "subscriptionId": "sub-1", "resourceGroupName": "group-1"},
                   "network": {"interface": [{"ipv4": {"ipAddress": [{"privateIpAddress": "10.0.3.4"}]}}]}}),
              f"{AZURE}/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fvault.azure.net":
                  json.dumps({"access_token": "bearer"}),
              f"{AZURE}/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fmanagement.azure.com":
                  json.dumps({"access_token": "bearer"}),
              f"{AZURE_SECRET}?api-version=7.4": json.dumps({"value": json.dumps(SECRET)})},
}
# `SIGNATURE` and `FORM_SIGNATURE` are what curl 7.88 --aws-sigv4 sent for the two requests of the signature's test.
SIGNATURE = "fa315f2c89c4faba8243b11ea180be06319f3d9d567d8294a5cbb8d31db5bb63"
FORM = b"Action=TerminateInstanceInAutoScalingGroup&Version=2011-01-01"
FORM_SIGNATURE = "6bbd83edf4d2f1d95b97417e8a6c55bec442f1a75cafd7d28671818ef44dbe89"
SCALE_SET = ("https://management.azure.com/subscriptions/sub-1/resourceGroups/group-1/providers/Microsoft.Compute/"
             "virtualMachineScaleSets/fleet/delete?api-version=2024-07-01")
ENDS = {"aws": ("https://autoscaling.eu-west-1.amazonaws.com/",
                {"Action": "TerminateInstanceInAutoScalingGroup", "InstanceId": "i-0abc",
                 "ShouldDecrementDesiredCapacity": "true", "Version": "2011-01-01"}),
        "gcp": ("https://compute.googleapis.com/compute/v1/projects/1234/zones/europe-west4-b/"
                "instanceGroupManagers/node/deleteInstances",
                {"instances": ["zones/europe-west4-b/instances/rekindle-x1"]}),
        "azure": (SCALE_SET, {"instanceIds": ["3"]})}
NAMES = {"aws": "/rekindle/node", "gcp": "rekindle-node", "azure": AZURE_SECRET}
MACHINES = {"aws": ("i-0abc", "eu-west-1b"), "gcp": ("rekindle-x1", "europe-west4-b"),
            "azure": ("fleet_3", "westeurope-2")}
NEEDED = {"169.254.169.254/latest/meta-data": "X-aws-ec2-metadata-token",
          "169.254.169.254/latest/api": "X-aws-ec2-metadata-token-ttl-seconds",
          "169.254.169.254/metadata": "Metadata", "computeMetadata": "Metadata-Flavor"}


def environment(cloud, **more):
    return {"ROLE": "node", "CLOUD": cloud, "SECRET": NAMES[cloud], "COORDINATOR": "10.0.0.10:7070",
            "END_UNLESS_HEARD": "300", **more}


class Boot(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for role in ("node", "coordinator"):
            (self.folder / role).mkdir()
        self.asked = []

    def cloud(self, name, **changed):
        answers = {**ANSWERS[name], **changed}

        def ask(method, url, headers=None, body=None):
            self.asked.append((method, url, headers or {}, body))
            for part, header in NEEDED.items():
                if part in url:
                    self.assertIn(header, headers)
            return answers[url]
        return ask

    def test_each_cloud(self):
        for name in ANSWERS:
            boot.boot(environment(name), self.folder, self.cloud(name))
            node, zone = MACHINES[name]
            self.assertEqual(settings(self.folder / "node.boot.env"),
                             {"NODE": node, "ZONE": zone, "ADDRESS": "10.0.3.4", "COORDINATOR": "10.0.0.10:7070",
                              "CLOUD": name, "CLOUD_FLAGS": "--end-unless-heard 300"})
            for file, text in SECRET.items():
                path = self.folder / "node" / file
                self.assertEqual((path.read_text(), stat.S_IMODE(path.stat().st_mode) & 0o007), (text, 0))
            # The machine sends its credentials to the secret store alone, and not to the metadata services.
            for method, url, headers, _ in self.asked:
                if "169.254" in url or "metadata.google" in url:
                    self.assertFalse({"Authorization", "authorization"} & set(headers), url)
            self.assertNotIn("T", (self.folder / "node.boot.env").read_text().replace("COORDINATOR", ""))

    def test_a_machine_without_an_end_gets_no_flag(self):
        boot.boot(environment("aws", END_UNLESS_HEARD=""), self.folder, self.cloud("aws"))
        self.assertNotIn("CLOUD_FLAGS", settings(self.folder / "node.boot.env"))

    def test_each_cloud_is_asked_to_end_the_machine_and_to_start_no_other(self):
        for name, (url, body) in ENDS.items():
            self.asked.clear()
            boot.end({"CLOUD": name}, self.cloud(name, **{url: "accepted"}))
            method, at, headers, sent = self.asked[-1]
            self.assertEqual((method, at), ("POST", url))
            self.assertEqual(dict(urllib.parse.parse_qsl(sent.decode())) if name == "aws" else json.loads(sent), body)
            self.assertTrue({"Authorization", "authorization"} & set(headers), name)
            for _, other, headers, _ in self.asked[:-1]:
                self.assertFalse({"Authorization", "authorization"} & set(headers), other)

    def test_a_machine_of_no_group_is_ended_by_nobody_here(self):
        gcp = self.cloud("gcp", **{f"{GCP}/instance/attributes/created-by": "projects/1/zones/z/elsewhere/x"})
        alone = json.dumps({"compute": {"name": "vm", "location": "westeurope"}})
        azure = self.cloud("azure", **{f"{AZURE}/instance?api-version=2021-02-01": alone})
        for name, ask in (("gcp", gcp), ("azure", azure), ("", None)):
            with self.assertRaises(boot.Wrong):
                boot.end({"CLOUD": name}, ask)
        self.assertFalse([url for method, url, _, _ in self.asked if method == "POST"])

    def test_where_the_identity_may_not_the_caller_powers_off(self):
        def forbidden(method, url, headers=None, body=None):
            raise urllib.error.HTTPError(url, 403, "Forbidden", None, None)
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(boot.repeat(lambda: boot.end({"CLOUD": "aws"}, forbidden), 0), 1)
        self.assertIn("403 from http://169.254.169.254", said.getvalue())
        stop = settings(UNITS / "rekindle-worker.service")["ExecStopPost"]
        self.assertIn("rekindle-boot --end; systemctl poweroff", stop)

    def test_a_coordinator_gets_its_own_and_no_addresses(self):
        boot.boot(environment("gcp", ROLE="coordinator"), self.folder, self.cloud("gcp"))
        self.assertEqual((self.folder / "coordinator/token").read_text(), "T")
        self.assertFalse((self.folder / "node.boot.env").exists())

    def test_units_read_what_it_writes(self):
        boot.boot(environment("aws"), self.folder, self.cloud("aws"))
        written = set(settings(self.folder / "node.boot.env"))
        self.assertLessEqual(written, set(settings(UNITS / "environment/node.env")))
        for unit in ("worker", "checkpoint"):
            read = settings(UNITS / f"rekindle-{unit}.service")["EnvironmentFile"]
            self.assertTrue(read.endswith("-/etc/rekindle/node.boot.env"))

    def test_signature_is_that_of_an_independent_computation(self):
        now = datetime.datetime(2026, 11, 22, 7, 20, 10, tzinfo=datetime.timezone.utc)
        keys = {"AccessKeyId": "AKIDEXAMPLE", "SecretAccessKey": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                "Token": "tok"}
        headers = boot.signed("eu-west-1", "ssm", b"{}", "AmazonSSM.GetParameter", keys, now)
        self.assertEqual(headers["authorization"].rsplit("=", 1)[1], SIGNATURE)
        headers = boot.signed("eu-west-1", "autoscaling", FORM, None, keys, now)
        self.assertEqual(headers["authorization"].rsplit("=", 1)[1], FORM_SIGNATURE)

    def test_wrong_settings_are_named(self):
        for changed, said in (({"ROLE": "x"}, "ROLE"), ({"CLOUD": "mars"}, "aws, gcp, azure"),
                              ({"SECRET": "a b"}, "SECRET"),
                              ({"COORDINATOR": "nowhere"}, "COORDINATOR"),
                              ({"END_UNLESS_HEARD": "-1"}, "END_UNLESS_HEARD")):
            with self.assertRaisesRegex(boot.Wrong, said):
                boot.boot(environment("aws", **changed), self.folder, self.cloud("aws"))
        # A token for Azure's vault goes to no other host.
        with self.assertRaisesRegex(boot.Wrong, "SECRET"):
            boot.boot(environment("azure", SECRET="https://example.com/secrets/x"), self.folder, self.cloud("azure"))
        self.assertEqual(self.asked, [])

    def test_a_secret_of_another_form_is_refused_and_not_shown(self):
        key = "https://ssm.eu-west-1.amazonaws.com/"
        for value in ("hunter2", json.dumps({"token": "hunter2"}), json.dumps([1])):
            with self.assertRaises(boot.Wrong) as raised:
                boot.boot(environment("aws"), self.folder,
                          self.cloud("aws", **{key: json.dumps({"Parameter": {"Value": value}})}))
            self.assertNotIn("hunter2", str(raised.exception))
        self.assertEqual(os.listdir(self.folder / "node"), [])

    def test_names_that_would_break_the_file_are_refused(self):
        with self.assertRaisesRegex(boot.Wrong, "NODE"):
            boot.boot(environment("gcp"), self.folder,
                      self.cloud("gcp", **{f"{GCP}/instance/name": "a\nCOORDINATOR=evil:1"}))

    def test_redirects_are_not_followed(self):
        reached = []

        class Redirect(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                reached.append(self.path)
                self.send_response(302)
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *_):
                pass
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Redirect) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            with self.assertRaises(urllib.error.HTTPError):
                boot.http("GET", f"http://127.0.0.1:{server.server_port}/first", {"Authorization": "x"})
            server.shutdown()
        self.assertEqual(reached, ["/first"])


class UserData(unittest.TestCase):
    def test_user_data_is_a_shell_script_without_secrets_that_boot_accepts(self):
        for name in ("node", "coordinator"):
            path = DEPLOY / "cloud" / f"{name}.sh"
            self.assertEqual(subprocess.run(["sh", "-n", path]).returncode, 0)
            text = path.read_text()
            self.assertTrue(text.startswith("#!/bin/sh\n"))
            # AWS has the lowest limit of all clouds on the size of user data.
            self.assertLess(len(text), 16384)
            written = settings_in(text)
            self.assertEqual(boot.checked(written), (name, "aws"))
            for unit in text.split("systemctl enable --now --no-block ")[1].split():
                self.assertTrue((UNITS / f"{unit}.service").exists(), unit)


    def test_json_of_the_page_is_json(self):
        page = (deployment.ROOT / "docs/fleet.md").read_text()
        blocks = [block for pattern in (r"```json\n(.*?)```", r"--mixed-instances-policy '(.*?)'\n")
                  for block in re.findall(pattern, page, re.DOTALL)]
        self.assertEqual(len(blocks), 4)
        for block in blocks:
            json.loads(block)


def settings_in(script):
    return dict(line.split("=", 1) for line in script.split("<<'END'\n")[1].split("\nEND\n")[0].splitlines()
                if "=" in line and not line.startswith("#"))


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_script(self, name, *arguments, **env):
        return subprocess.run([DEPLOY / name, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                              env={**os.environ, **env})

    def test_secrets_name_the_coordinator_and_all_nodes(self):
        made = self.run_script("make-secrets", self.folder / "s", "10.0.0.10", "coordinator.example")
        self.assertEqual(made.returncode, 0, made.stderr)
        for who, names in (("coordinator", "IP Address:10.0.0.10, DNS:coordinator.example"),
                           ("node", "DNS:rekindle-node")):
            shown = subprocess.run(["openssl", "x509", "-in", self.folder / "s" / who / "tls.crt", "-noout", "-ext",
                                    "subjectAltName"], capture_output=True, text=True)
            self.assertIn(names, shown.stdout)
            document = json.loads((self.folder / "s" / f"{who}.json").read_text())
            self.assertEqual(boot.documents(json.dumps(document)), document)
            # A standard parameter of AWS holds less than 4096 bytes.
            self.assertLess(len(json.dumps(document)), 4096)
        for path in (self.folder / "s").rglob("*"):
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)
        # make-secrets overwrites no secrets that exist.
        self.assertNotEqual(self.run_script("make-secrets", self.folder / "s", "a").returncode, 0)

    def test_secrets_refuse_what_is_no_name(self):
        for arguments in ((self.folder / "t",), (self.folder / "t", "a:7070/x"), (self.folder / "t", "a,IP:1"),
                          ("--days", "x", "t", "a")):
            result = self.run_script("make-secrets", *arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn("fix:", result.stderr)
        self.assertFalse((self.folder / "t").exists())

    def test_install(self):
        if not all(deployment.program(name) for name in ("rekindle", "rekindle-trainer", "librekindle_objects.so")):
            self.skipTest("not all programs are built")
        build = deployment.program("rekindle").parents[1]
        installed = self.run_script("install", "--build", build, DESTDIR=str(self.folder))
        self.assertEqual(installed.returncode, 0, installed.stderr)
        for unit in UNITS.glob("*.service"):
            parsed = settings(self.folder / "usr/local/lib/systemd/system" / unit.name)
            self.assertTrue(os.access(f"{self.folder}{parsed['ExecStart'].split()[0]}", os.X_OK), unit.name)
            for file in parsed["EnvironmentFile"].split():
                if not file.startswith("-") and not file.endswith("boot.env"):
                    self.assertTrue((self.folder / file[1:]).exists(), file)
        (self.folder / "etc/rekindle/node.env").write_text("mine")
        self.run_script("install", "--build", build, DESTDIR=str(self.folder))
        self.assertEqual((self.folder / "etc/rekindle/node.env").read_text(), "mine")

    def test_install_opens_gpus_where_it_is_told_to_and_then_keeps_them(self):
        build = self.folder / "build/bin"
        names = ("rekindle", "rekindle-coordinator", "rekindle-worker", "rekindle-checkpoint", "rekindle-trainer",
                 "rekindle-own-trainer", "librekindle_objects.so", "librekindle_parquet.so")
        build.mkdir(parents=True)
        for name in names:
            (build / name).write_text("")
        drop_in = self.folder / "usr/local/lib/systemd/system/rekindle-worker.service.d/20-gpu.conf"

        def install(*more):
            return self.run_script("install", "--build", build.parent, *more, DESTDIR=str(self.folder))
        self.assertEqual((install().returncode, drop_in.exists()), (0, False))
        refused = install("--gpu")
        self.assertEqual((refused.returncode, drop_in.exists()), (1, False))
        self.assertIn("no CUDA plugin", refused.stderr)
        (build / "librekindle_cuda.so").write_text("cuda")
        # deploy/install with DESTDIR ignores whether this machine has the GPU's driver.
        self.assertEqual((install().returncode, drop_in.exists()), (0, False))
        self.assertEqual((self.folder / "opt/rekindle/bin/librekindle_cuda.so").read_text(), "cuda")
        self.assertIn("as --gpu says", install("--gpu").stdout)
        drop_in.write_text("of the release before")
        self.assertIn("as before", install().stdout)
        self.assertEqual(drop_in.read_text(), (UNITS / drop_in.parent.name / drop_in.name).read_text())


if __name__ == "__main__":
    unittest.main()
