"""Gives each node a network and mount namespace on one bridge: cuts, also one-way, slow links, silent machines.

This needs root, `ip`, `iptables`, `tc` and `nsenter`. Only the standard library is used.
"""
import collections
import os
import shutil
import subprocess

TOOLS = ("ip", "iptables", "tc", "nsenter", "unshare")


def run(*command, check=True):
    return subprocess.run(command, check=check, capture_output=True, text=True)


def unavailable():
    """Says in one sentence why there can be no namespaces on this machine. Returns "" where there can."""
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
    """Makes a bridge in this namespace, where programs have the address `host`, and a namespace for each node.

    The names of bridge and namespaces contain the process id, so that several test programs can have them at once. A
    Namespaces is not thread-safe."""

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
        """Returns a node's address, or `host` for `coordinator`, which stands for this namespace's programs."""
        return self.host if name == "coordinator" else self.addresses[name]

    def drop(self, source, target, rule="-A"):
        """Drops packets from `source` to `target`, but not back. A call with the rule -D ends that."""
        if target == "coordinator":
            where, which = source, ["OUTPUT", "-d", self.host]
        else:
            where, which = target, ["INPUT", "-s", self.address(source)]
        run("ip", "netns", "exec", self.space(where), "iptables", rule, *which, "-j", "DROP")

    def partition(self, a, b, rule):
        """Cuts two nodes off from each other with the rule -A, and joins them again with -D."""
        self.drop(a, b, rule)
        self.drop(b, a, rule)

    def silence(self, name, rule="-A"):
        """Drops all packets that leave the node, even those that end its connections. A call with -D ends that."""
        run("ip", "netns", "exec", self.space(name), "iptables", rule, "OUTPUT", "!", "-o", "lo", "-j", "DROP")

    def slow(self, name, kilobits):
        """Limits what the node sends to `kilobits` kbit/s. Each call needs its own end_slow()."""
        self.slowed[name] += 1
        run("ip", "netns", "exec", self.space(name), "tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate",
            f"{kilobits}kbit", "burst", "32kbit", "latency", "400ms")

    def end_slow(self, name):
        self.slowed[name] -= 1
        if not self.slowed[name]:
            run("ip", "netns", "exec", self.space(name), "tc", "qdisc", "del", "dev", "eth0", "root")

    def forget_memory(self, name):
        """Empties the node's shared memory, as after a boot of its machine."""
        run(*self.enter[name], "sh", "-c", "rm -rf /dev/shm/*")

    def close(self):
        for holder in self.holders:
            holder.kill()
            holder.wait()
            holder.stdout.close()
        # A namespace disappears only some time after it is deleted, and its link with it. The link's name is used
        # again, so links are deleted first.
        for i, name in enumerate(self.names):
            run("ip", "link", "del", self.link(i), check=False)
            run("ip", "netns", "del", self.space(name), check=False)
        run("ip", "link", "del", self.bridge, check=False)

    def leftovers(self):
        """Returns a description of each namespace and link that close() should have removed."""
        words = (run("ip", "netns", "list").stdout + run("ip", "-o", "link").stdout).split()
        return [f"{word} of a network" for word in words if self.tag in word and word.startswith("rk")]
