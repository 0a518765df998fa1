"""Three nodes in network namespaces of their own, with mutual TLS and a token: a kill, and a partition that heals.

Each node has its own /dev/shm too, so that the data plane is TCP. Needs root, `ip`, `iptables` and `nsenter`; skips
clearly without them.
"""
import os
import pathlib
import subprocess
import sys
import unittest

from base import ClusterTest, Injector, small_job

SUBNET = "10.213.7"
BRIDGE = "rkbr0"
SKIPPED = 77


def run(*command, check=True):
    return subprocess.run(command, check=check, capture_output=True, text=True)


def make_certificates(folder):
    """An authority, and one certificate for server and clients; the environment that makes every process use them."""
    def openssl(*args):
        run("openssl", *args)
    ca, key, cert = folder / "ca.pem", folder / "key.pem", folder / "cert.pem"
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test authority",
            "-keyout", str(folder / "ca.key"), "-out", str(ca))
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=rekindle", "-keyout", str(key),
            "-out", str(folder / "request.pem"))
    (folder / "names.cnf").write_text(f"subjectAltName=IP:{SUBNET}.1,DNS:rekindle-node\n")
    openssl("x509", "-req", "-in", str(folder / "request.pem"), "-CA", str(ca), "-CAkey", str(folder / "ca.key"),
            "-CAcreateserial", "-days", "2", "-extfile", str(folder / "names.cnf"), "-out", str(cert))
    token = folder / "token"
    token.write_text("0123456789abcdef-of-this-test\n")
    token.chmod(0o600)
    return {"REKINDLE_TLS_CERT": str(cert), "REKINDLE_TLS_KEY": str(key), "REKINDLE_TLS_CA": str(ca),
            "REKINDLE_TOKEN_FILE": str(token)}


class Namespaces:
    """A bridge in this namespace and a network and mount namespace for each node."""

    def __init__(self, names):
        self.names, self.holders, self.enter, self.addresses = names, [], {}, {}
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        run("ip", "addr", "add", f"{SUBNET}.1/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        for i, name in enumerate(names):
            self.addresses[name] = f"{SUBNET}.{i + 10}"
            self.add(name, f"rkv{i}")

    def add(self, name, link):
        space = f"rk-{name}"
        run("ip", "netns", "add", space)
        run("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space)
        run("ip", "link", "set", link, "master", BRIDGE, "up")
        for command in (["addr", "add", f"{self.addresses[name]}/24", "dev", "eth0"], ["link", "set", "eth0", "up"],
                        ["link", "set", "lo", "up"]):
            run("ip", "-n", space, *command)
        holder = subprocess.Popen(["ip", "netns", "exec", space, "unshare", "-m", "sh", "-c",
                                   "mount -t tmpfs tmpfs /dev/shm && echo ready && exec sleep infinity"],
                                  stdout=subprocess.PIPE, text=True)
        self.holders.append(holder)
        if holder.stdout.readline().strip() != "ready":
            raise RuntimeError("cannot mount in a namespace")
        self.enter[name] = ["nsenter", "-t", str(holder.pid), "-m", "-n"]

    def partition(self, a, b, rule):
        """`rule`: -A cuts the two off from each other, -D joins them again."""
        for here, there in ((a, b), (b, a)):
            run("ip", "netns", "exec", f"rk-{here}", "iptables", rule, "INPUT", "-s", self.addresses[there], "-j", "DROP")

    def close(self):
        for holder in self.holders:
            holder.kill()
            holder.wait()
            holder.stdout.close()
        for name in self.names:
            run("ip", "netns", "del", f"rk-{name}", check=False)
        run("ip", "link", "del", BRIDGE, check=False)


class NetworkTest(ClusterTest):
    def test_a_kill_and_a_partition_that_heals(self):
        names = ("n1", "n2", "n3")
        spaces = Namespaces(names)
        self.addCleanup(spaces.close)
        certificates = pathlib.Path(self.folder) / "certificates"
        certificates.mkdir()
        env = make_certificates(certificates)
        flags = ["--tls-cert", env["REKINDLE_TLS_CERT"], "--tls-key", env["REKINDLE_TLS_KEY"],
                 "--tls-ca", env["REKINDLE_TLS_CA"], "--token-file", env["REKINDLE_TOKEN_FILE"]]
        cluster = self.cluster(nodes=names, env=env, coordinator_flags=flags, host=f"{SUBNET}.1",
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
        inject.await_members(2)   # One of the two that cannot reach each other is out, the others go on.
        inject.await_steps(10)
        spaces.partition("n1", "n2", "-D")
        inject.await_members(3)
        status = self.await_end(cluster, "net")
        self.assertLess(status["generation"], before + 12, "re-formed again and again")
        self.assertEqual(status["steps_redone"], 0)
        self.assert_undisturbed(status, spec)


if __name__ == "__main__":
    if os.geteuid() != 0 or any(run("which", tool, check=False).returncode for tool in ("ip", "iptables", "nsenter")):
        print("skipped: needs root, ip, iptables and nsenter", file=sys.stderr)
        sys.exit(SKIPPED)
    probe = run("ip", "netns", "add", "rk-probe", check=False)
    if probe.returncode != 0:
        print(f"skipped: no network namespaces here: {probe.stderr.strip()}", file=sys.stderr)
        sys.exit(SKIPPED)
    run("ip", "netns", "del", "rk-probe")
    unittest.main()
