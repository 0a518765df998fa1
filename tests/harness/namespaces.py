"""A network and mount namespace for each node, on one bridge: cuts, also of one way, slow links, silent machines.

Needs root, `ip`, `iptables`, `tc` and `nsenter`. Standard library only.
"""
import collections
import os
import shutil
import subprocess

TOOLS = ("ip", "iptables", "tc", "nsenter", "unshare")


def run(*command, check=True):
    return subprocess.run(command, check=check, capture_output=True, text=True)


def unavailable():
    """Why there can be no namespaces here, as one sentence; empty where there can."""
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if os.geteuid() != 0 or missing:
        return f"namespaces need root and {', '.join(TOOLS)}; missing here: {', '.join(missing) or 'root'}"
    probe = f"rkprobe{os.getpid()}"
    done = run("ip", "netns", "add", probe, check=False)
    if done.returncode != 0:
        return f"no network namespaces here: {done.stderr.strip()}"
    run("ip", "netns", "del", probe)
    return ""


class Namespaces:
    """A bridge in this namespace, on which programs of it have the address `host`, and a namespace for each node. Names
    hold the process id, so that several programs of tests may have some at once. Not thread-safe."""

    def __init__(self, names):
        self.tag = str(os.getpid())
        subnet = f"10.213.{os.getpid() % 250 + 1}"
        self.host = f"{subnet}.1"
        self.bridge = f"rkb{self.tag}"
        self.names, self.holders, self.enter, self.addresses = list(names), [], {}, {}
        self.slowed = collections.Counter()
        try:
            run("ip", "link", "add", self.bridge, "type", "bridge")
            run("ip", "addr", "add", f"{self.host}/24", "dev", self.bridge)
            run("ip", "link", "set", self.bridge, "up")
            for i, name in enumerate(self.names):
                self.addresses[name] = f"{subnet}.{i + 10}"
                self.add(name, self.link(i))
        except BaseException:
            self.close()
            raise

    def space(self, name):
        return f"rk{self.tag}-{name}"

    def link(self, index):
        return f"rk{index}v{self.tag}"

    def add(self, name, link):
        space = self.space(name)
        run("ip", "netns", "add", space)
        run("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space)
        run("ip", "link", "set", link, "master", self.bridge, "up")
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

    def address(self, name):
        """Of a node, or of the programs of this namespace, which are called `coordinator`."""
        return self.host if name == "coordinator" else self.addresses[name]

    def drop(self, source, target, rule="-A"):
        """Packets from one to the other, not back, are dropped from now on; with -D not any more."""
        if target == "coordinator":
            where, which = source, ["OUTPUT", "-d", self.host]
        else:
            where, which = target, ["INPUT", "-s", self.address(source)]
        run("ip", "netns", "exec", self.space(where), "iptables", rule, *which, "-j", "DROP")

    def partition(self, a, b, rule):
        """`rule`: -A cuts the two off from each other, -D joins them again."""
        self.drop(a, b, rule)
        self.drop(b, a, rule)

    def silence(self, name, rule="-A"):
        """Nothing leaves the node, not even that its connections have closed; with -D it does again."""
        run("ip", "netns", "exec", self.space(name), "iptables", rule, "OUTPUT", "!", "-o", "lo", "-j", "DROP")

    def slow(self, name, kilobits):
        """What the node sends passes at so many kilobits a second. Calls are counted."""
        self.slowed[name] += 1
        run("ip", "netns", "exec", self.space(name), "tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate",
            f"{kilobits}kbit", "burst", "32kbit", "latency", "400ms")

    def end_slow(self, name):
        self.slowed[name] -= 1
        if not self.slowed[name]:
            run("ip", "netns", "exec", self.space(name), "tc", "qdisc", "del", "dev", "eth0", "root")

    def forget_memory(self, name):
        """The node's shared memory is empty, as that of a machine that has booted."""
        run(*self.enter[name], "sh", "-c", "rm -rf /dev/shm/*")

    def close(self):
        for holder in self.holders:
            holder.kill()
            holder.wait()
            holder.stdout.close()
        # A namespace goes some time after its deletion, and its link with it, whose name is used again: so links first.
        for i, name in enumerate(self.names):
            run("ip", "link", "del", self.link(i), check=False)
            run("ip", "netns", "del", self.space(name), check=False)
        run("ip", "link", "del", self.bridge, check=False)

    def leftovers(self):
        """Namespaces and links that close() should have removed, in words."""
        words = (run("ip", "netns", "list").stdout + run("ip", "-o", "link").stdout).split()
        return [f"{word} of a network" for word in words if self.tag in word and word.startswith("rk")]
