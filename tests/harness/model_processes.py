"""Finds the processes that run a user's own model on a node of a test's cluster."""
import pathlib


def children_of(pid):
    """Returns {pid: the words of its command} of a process's children."""
    children = {}
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in task.read_text().split():
                words = pathlib.Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
                children[int(child)] = [word.decode() for word in words]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return children


def warm_processes(node):
    """Returns the pids of the node's warm processes. `node` is one of a Cluster's nodes."""
    return [pid for starter in [*node.pids("agent"), *node.pids("init")]
            for pid, words in children_of(starter).items() if "rekindle.warm" in words]


def model_processes(node):
    """Returns the pids of the model processes on a node: children of a trainer, or forks of the warm process."""
    cold = [pid for trainer in node.pids("trainer")
            for pid, words in children_of(trainer).items() if "rekindle.child" in words]
    return cold + [pid for process in warm_processes(node) for pid in children_of(process)]
