"""Which part may include what (docs/architecture.md). Includes are followed through the project's own headers."""

import re

from repository import Finding

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
SOURCES = (".h", ".cc", ".cu", ".cuh")

TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")
CUDA = re.compile(r"^(cuda|cublas|cudnn|cufft|curand|cusolver|cusparse|nvtx3/|thrust/|cub/)")
NCCL = re.compile(r"^nccl")
ARROW = re.compile(r"^(arrow|parquet)/")
OBJECTS = re.compile(r"^common/object_(store|plugin|client)\.h$")
RPC = re.compile(r"^(grpc|grpcpp|grpc\+\+|google/protobuf)/|\.pb\.h$")
# What would make a pure core depend on more than its input.
WORLD = re.compile(
    r"^(chrono|ctime|time\.h|thread|mutex|shared_mutex|condition_variable|future|atomic|semaphore|fstream|filesystem|"
    r"unistd\.h|fcntl\.h|signal\.h|csignal|netdb\.h|pthread\.h|sys/.*|arpa/.*|netinet/.*)$"
)
FOLDERS = ("coordinator", "worker", "checkpoint", "kernels", "cli", "tests", "bench")
OTHER_FOLDERS = re.compile(r"^(%s)/" % "|".join(FOLDERS))


def in_folder(*folders):
    return lambda path: path.startswith(folders)


def is_core(path):
    """Tests of a core, and what only they use, may use the world."""
    cores = ("coordinator/core/", "coordinator/scheduler/", "coordinator/fleet/")
    adapters = ("coordinator/fleet/providers/",)
    return path.startswith(cores) and not path.startswith(adapters) and not re.search(
        r"_test\.cc$|/test(ing|s|data)?/|testing_", path)


# (whom it binds, what it may not reach, fix)
RULES = [
    (in_folder("coordinator/", "cli/", "worker/agent/"), TORCH, "these programs never see torch: move it to worker/"),
    (in_folder("coordinator/", "cli/", "worker/agent/"), CUDA,
     "these programs never see CUDA: move it to kernels/cuda/"),
    (lambda path: path not in ("common/object_store_arrow.cc", "worker/data/parquet_arrow.cc"), ARROW,
     "only the plugins see Arrow: common/object_store_arrow.cc behind common/object_client.h, and "
     "worker/data/parquet_arrow.cc behind worker/data/parquet.h"),
    (in_folder("coordinator/", "worker/"), OBJECTS,
     "only checkpoint/ and what uses it opens buckets: object_uri.h is enough to check one's name"),
    (lambda path: not path.startswith("worker/comm/nccl"), NCCL, "only worker/comm/nccl* sees NCCL"),
    (in_folder("common/"), OTHER_FOLDERS, "common/ sees none of the other folders: pass in what it needs"),
    (in_folder("kernels/"), RPC, "kernels see no gRPC and no protobuf: pass plain values"),
    (is_core, WORLD, "a core is a pure function: let an adapter do it and pass the result in"),
]


def direct_includes(repository, path):
    """(line, name) of each include."""
    found = ((number, INCLUDE.match(line)) for number, line in repository.lines(path))
    return [(number, match.group(1)) for number, match in found if match]


class Graph:
    """Includes of every file, and the shortest way from a file to a header that a pattern matches."""

    def __init__(self, repository):
        self.direct = {path: direct_includes(repository, path) for path in repository.select(*SOURCES)}

    def way(self, path, pattern, stop=lambda path: False):
        """[(line, name), ...] from path to the first match, or None. Does not enter headers for which stop is true."""
        queue, seen = [(path, [])], {path}
        for current, trail in queue:
            for line, name in self.direct.get(current, []):
                here = trail + [(line, name)]
                if pattern.search(name):
                    return here
                if name in self.direct and name not in seen and not stop(name):
                    seen.add(name)
                    queue.append((name, here))
        return None


def finding(path, way, fix):
    names = " -> ".join(name for _, name in way)
    return Finding(path, way[0][0], f"includes {names}", fix)


def check(repository):
    graph = Graph(repository)
    for path in graph.direct:
        for binds, pattern, fix in RULES:
            # A header that is bound too is reported itself.
            way = graph.way(path, pattern, stop=binds) if binds(path) else None
            if way:
                yield finding(path, way, fix)
    yield from torch_and_rpc(graph)


def torch_and_rpc(graph):
    """Torch ships a protobuf of its own: one translation unit cannot see both."""

    def sees_both(path):
        return graph.way(path, TORCH) is not None and graph.way(path, RPC) is not None

    for path in graph.direct:
        if sees_both(path) and not any(sees_both(name) for _, name in graph.direct[path] if name in graph.direct):
            names = graph.way(path, RPC) + graph.way(path, TORCH)
            shown = ", ".join(name for _, name in names)
            yield Finding(path, names[0][0], f"sees both protobuf or gRPC and torch ({shown})",
                          "put a plain header between the two")
