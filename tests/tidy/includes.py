"""Checks which room (a folder of sources) may include which others, and which outside headers it may reach.

docs/architecture.md has the table of rooms. Includes are followed through the project's own headers."""

import re

from repository import Finding

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
SOURCES = (".h", ".cc", ".cu", ".cuh")

TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")
CUDA = re.compile(r"^(cuda|cublas|cudnn|cufft|curand|cusolver|cusparse|nvtx3/|thrust/|cub/)")
NCCL = re.compile(r"^nccl")
ARROW = re.compile(r"^(arrow|parquet)/")
OBJECTS = re.compile(r"^common/objects/object_(store|plugin|client)\.h$")
RPC = re.compile(r"^(grpc|grpcpp|grpc\+\+|google/protobuf)/|\.pb\.h$")
# The headers of `WORLD` would make a pure function depend on more than its input.
WORLD = re.compile(
    r"^(chrono|ctime|time\.h|thread|mutex|shared_mutex|condition_variable|future|atomic|semaphore|fstream|filesystem|"
    r"unistd\.h|fcntl\.h|signal\.h|csignal|netdb\.h|pthread\.h|sys/.*|arpa/.*|netinet/.*)$"
)
OUTSIDE = {"world": WORLD, "rpc": RPC, "torch": TORCH, "cuda": CUDA, "nccl": NCCL, "objects": OBJECTS}

# The rooms (folders of sources) are listed from the lowest to the highest, each with the kinds of `OUTSIDE` headers
# that it may reach. A room may include itself and the rooms before it in this list.
ROOMS = [
    ("common/check", ""),
    ("kernels/vector", ""),
    ("kernels/sums", ""),
    ("kernels/optimizers", ""),
    ("kernels/planes", ""),
    ("kernels/layers", ""),
    ("kernels/table", ""),
    ("kernels/cuda", "cuda"),
    ("kernels/cuda/layers", "cuda"),
    ("kernels/cuda/planes", "cuda"),
    ("kernels/cuda/step", "cuda"),
    ("common/text", ""),
    ("common/sync", "world"),
    ("common/digest", "world"),
    ("common/agreed", ""),
    ("common/time", "world"),
    ("common/log", "world"),
    ("common/files", "world"),
    ("common/process", "world"),
    ("common/memory", "world"),
    ("common/net", "world"),
    ("common/rpc", "world rpc"),
    ("common/serve", "world rpc"),
    ("common/metrics", "world rpc"),
    ("common/objects", "world objects"),
    ("common/bundle", "world"),
    ("common/spec", "rpc"),
    ("worker/numeric", ""),
    ("worker/gpus", "world"),
    ("worker/device/contract", "world"),
    ("worker/device/host", "world"),
    ("worker/device/cuda", "world"),
    ("worker/device/fake", "world"),
    ("checkpoint/format", ""),
    ("checkpoint/backends", "world objects"),
    ("checkpoint/job", "world"),
    ("checkpoint/store", "world objects"),
    ("checkpoint/weights", "world"),
    ("checkpoint/wire", "rpc"),
    ("checkpoint/service", "world rpc objects"),
    ("checkpoint/client", "world rpc"),
    ("worker/contract", ""),
    ("worker/comm/contract", "world"),
    ("worker/comm/links", "world"),
    ("worker/comm/rings", "world"),
    ("worker/comm/watch", "world"),
    ("worker/comm/connect", "world"),
    ("worker/comm/nccl", "world cuda nccl"),
    ("worker/cuda_plugin", "world cuda nccl"),
    ("worker/device/exchange", "world"),
    ("worker/train/arithmetic", ""),
    ("worker/train/levers", ""),
    ("worker/train/optimizers", ""),
    ("worker/train/control", "world"),
    ("worker/train/state", "world"),
    ("worker/train/step", "world"),
    ("worker/train/save", "world"),
    ("worker/train/restore", "world"),
    ("worker/train/engine", "world"),
    ("worker/train/micro_batch", "world"),
    ("worker/data/declared", "rpc"),
    ("worker/data/files", "world"),
    ("worker/data/samples", ""),
    ("worker/data/kinds", "world rpc"),
    ("worker/data/opening", "world rpc"),
    ("worker/user_code", "world"),
    ("worker/own_model/wire", "world"),
    ("worker/own_model/child", "world"),
    ("worker/own_model/model", "world"),
    ("worker/models/declared", "rpc"),
    ("worker/models/aten", "world torch"),
    ("worker/models/kinds", "torch"),
    ("worker/models/registry", "torch"),
    ("worker/train/sessions", "world rpc"),
    ("worker/train/program", "world rpc"),
    ("worker/agent/notices", "world"),
    ("worker/agent/folder", "world"),
    ("worker/agent/init", "world"),
    ("worker/agent/decisions", "world rpc"),
    ("worker/agent/logs", "world rpc"),
    ("worker/agent/bundles", "world rpc"),
    ("worker/agent/user_code", "world rpc"),
    ("worker/agent/trainers", "world rpc"),
    ("worker/agent/lines", "world rpc"),
    ("worker/agent/program", "world rpc"),
    ("coordinator/scheduler", ""),
    ("coordinator/market", "rpc"),
    ("coordinator/fleet/simulator", "rpc"),
    ("coordinator/core/state", "rpc"),
    ("coordinator/core/certainty", "rpc"),
    ("coordinator/core/choices", "rpc"),
    ("coordinator/core/account", "rpc"),
    ("coordinator/core/charges", "rpc"),
    ("coordinator/core/record", "rpc"),
    ("coordinator/core/keeping", "rpc"),
    ("coordinator/core/machines", "rpc"),
    ("coordinator/core/formation", "rpc"),
    ("coordinator/core/members", "rpc"),
    ("coordinator/core/stopping", "rpc"),
    ("coordinator/core/generation", "rpc"),
    ("coordinator/core/taken_over", "rpc"),
    ("coordinator/core/reports", "rpc"),
    ("coordinator/core/planning", "rpc"),
    ("coordinator/core/nodes", "rpc"),
    ("coordinator/core", "rpc"),
    ("coordinator/fleet/providers/contract", "rpc"),
    ("coordinator/fleet/providers/http", ""),
    ("coordinator/fleet/providers/aws", "world rpc"),
    ("coordinator/fleet/providers/azure", "rpc"),
    ("coordinator/fleet/providers/exec", "world rpc"),
    ("coordinator/fleet/providers/gcp", "world rpc"),
    ("coordinator/fleet/providers/kubernetes", "world rpc"),
    ("coordinator/fleet/providers/local", "world rpc"),
    ("coordinator/fleet/providers/driving", "world"),
    ("coordinator/fleet/providers/registry", "world rpc"),
    ("coordinator/fleet/file", "rpc"),
    ("coordinator/spec", "world rpc"),
    ("coordinator/store", "world rpc"),
    ("coordinator/folder", "world"),
    ("coordinator/bundles", "world"),
    ("coordinator/restoring", "world rpc"),
    ("coordinator/logs", "world rpc"),
    ("coordinator/server/boards", "world rpc"),
    ("coordinator/server/metrics", "world rpc"),
    ("coordinator/server/loop", "world rpc"),
    ("coordinator/server/services", "world rpc"),
    ("coordinator/server/watchers", "world rpc"),
    ("coordinator/server/assembly", "world rpc"),
    ("coordinator/web/parts", "world rpc"),
    ("coordinator/web/views", "world rpc"),
    ("coordinator/web/server", "world rpc"),
    ("coordinator/program", "world rpc"),
    ("cli/text", "world rpc"),
    ("cli/connection", "world rpc"),
    ("cli/shared", "world rpc"),
    ("cli/watch", "world rpc"),
    ("cli/store", "world rpc objects"),
    ("cli/list", "world rpc"),
    ("cli/job_file", "world rpc"),
    ("cli/simulation", "world rpc"),
    ("cli/submit", "world rpc"),
    ("cli/checkpoint", "world rpc objects"),
    ("cli/local", "world rpc"),
    ("cli/verbs", "world rpc"),
    ("cli/help", "world rpc"),
    ("cli/program", "world rpc"),
]
RANK = {room: rank for rank, (room, _) in enumerate(ROOMS)}
# A file that matches `OUT_OF_PRODUCT` may include all of the product, but no file of the product may include it.
OUT_OF_PRODUCT = re.compile(
    r"^(bench|tests|examples)/|/(testing|fuzz|testdata)/|^coordinator/core/(scenario|simulation)/|_test\.(cc|cu)$")
# Only the plugins that use Arrow may include its headers. The headers through which the product loads these plugins
# include none of them.
ARROW_FILES = ("common/objects/object_store_arrow.cc", "worker/data/kinds/parquet_arrow.cc")


def room_of(path):
    return path.rpartition("/")[0]


def direct_includes(repository, path):
    """Returns (line, name) of each include."""
    found = ((number, INCLUDE.match(line)) for number, line in repository.lines(path))
    return [(number, match.group(1)) for number, match in found if match]


class Graph:
    """Holds the includes of every file, and finds the shortest way from a file to a header that a pattern matches."""

    def __init__(self, repository):
        self.direct = {path: direct_includes(repository, path) for path in repository.select(*SOURCES)}

    def way(self, path, pattern, stop=lambda path: False):
        """Returns [(line, name), ...] from `path` to a match, or None. Headers where `stop` holds are not entered."""
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
        if not OUT_OF_PRODUCT.search(path):
            yield from check_file(graph, path)
    yield from cycles(graph)
    yield from torch_and_rpc(graph)


def module_of(path):
    """Returns the path without its ending, so that a header and its source file are one module."""
    return path.rpartition(".")[0]


def cycles(graph):
    """Finds modules of the product that include each other, so that nobody can read or test one without the other."""
    needs = {}
    for path in graph.direct:
        if OUT_OF_PRODUCT.search(path):
            continue
        names = {module_of(name) for _, name in graph.direct[path] if name in graph.direct}
        needs.setdefault(module_of(path), set()).update(names - {module_of(path)})

    def reached(module):
        seen, stack = set(), [module]
        while stack:
            for name in needs.get(stack.pop(), set()) - seen:
                seen.add(name)
                stack.append(name)
        return seen

    for path in graph.direct:
        module = module_of(path)
        for line, name in graph.direct[path]:
            other = module_of(name)
            # Where two modules need each other, only the later one in the alphabet gets a finding, so that they have
            # one together.
            if other < module and not OUT_OF_PRODUCT.search(path) and module in reached(other):
                yield Finding(path, line, f"includes {name}, and {other} needs {module}",
                              "move what both need into a header of its own")


def check_file(graph, path):
    room = room_of(path)
    if room not in RANK:
        yield Finding(path, 1, f"{room or 'the root'} is no room",
                      "move the file, or add its folder to ROOMS in tests/tidy/includes.py, where its order belongs")
        return
    for line, name in graph.direct[path]:
        if name not in graph.direct:
            continue
        if OUT_OF_PRODUCT.search(name):
            yield Finding(path, line, f"includes {name}", "what is for tests is in no program")
        elif RANK.get(room_of(name), 0) > RANK[room]:
            yield Finding(path, line, f"includes {name}, and {room_of(name)} is above {room}",
                          "includes only go down: pass in what is needed, or move it below")
    reaches = dict(ROOMS)[room].split()
    for kind, pattern in OUTSIDE.items():
        # The search for outside headers of `kind` stops at a header whose own room may not reach `kind`, because that
        # header gets a finding of its own.
        way = None if kind in reaches else graph.way(path, pattern, stop=lambda other: kind not in reach_of(other))
        if way:
            yield finding(path, way, f"{room} may not reach that ({kind}): see ROOMS in tests/tidy/includes.py")
    if path not in ARROW_FILES and (way := graph.way(path, ARROW)):
        yield finding(path, way, f"only the plugins see Arrow: {' and '.join(ARROW_FILES)}")


def reach_of(path):
    return dict(ROOMS).get(room_of(path), "").split()


def torch_and_rpc(graph):
    """Checks that no translation unit sees both Torch and RPC, because Torch ships a protobuf of its own."""

    def sees_both(path):
        return graph.way(path, TORCH) is not None and graph.way(path, RPC) is not None

    for path in graph.direct:
        if sees_both(path) and not any(sees_both(name) for _, name in graph.direct[path] if name in graph.direct):
            names = graph.way(path, RPC) + graph.way(path, TORCH)
            shown = ", ".join(name for _, name in names)
            yield Finding(path, names[0][0], f"sees both protobuf or gRPC and torch ({shown})",
                          "put a plain header between the two")
