"""Checks which target may link what, through all dependencies. This is the CMake side of the include rules."""

import re

from repository import Finding

COMMAND = re.compile(
    r"\b(rk_library|rk_binary|rk_test|add_library|add_executable|target_link_libraries)\s*\(([^()]*)\)")
KEYWORDS = {"SRCS", "DEPS", "LABELS", "TIMEOUT", "PUBLIC", "PRIVATE", "INTERFACE"}
RPC = re.compile(r"^rk_proto$|grpc|protobuf", re.IGNORECASE)

# Each rule is (the folders that it applies to, what their targets may not link, the fix).
RULES = [
    (("coordinator/", "cli/", "worker/agent/"), re.compile(r"torch|cuda|arrow|parquet|nccl", re.IGNORECASE),
     "these programs never link torch, CUDA, NCCL or Arrow: split the library that brings it"),
    (("checkpoint/", "worker/", "bench/"), re.compile(r"^rk_arrow$"),
     "nobody links Arrow but the plugins rekindle_objects and, as rk_parquet, rekindle_parquet, loaded when needed"),
    (("kernels/",), RPC, "kernels link no gRPC and no protobuf"),
]
# `DATA_OR_KERNELS` matches the targets with code that reads data or computes. Code that only declares kinds of data,
# models or levers is in rk_data_declared, rk_models_declared and rk_levers.
DATA_OR_KERNELS = re.compile(
    r"^rk_(data|data_kinds|data_samples|kernels\w*|models|models_aten|models_kinds|optimizers)$")

# Each rule is (the target, what it may not link, the fix).
TARGET_RULES = [
    ("rekindle-coordinator", DATA_OR_KERNELS,
     "the coordinator asks what the kinds declare, and links none of their code"),
    ("rekindle-worker", DATA_OR_KERNELS, "the agent neither reads data nor computes: that is the trainer's"),
    ("rk_coordinator_core", re.compile(r"http|OpenSSL::SSL|rk_common_rpc"),
     "the pure core links no HTTP, no TLS and no RPC: pass the result in"),
]
PROGRAM = re.compile(r"^rekindle(-|$)")
FOR_TESTS = re.compile(r"_testing$|_fault_file$")


def expand(word, variables):
    return re.sub(r"\$\{(\w+)\}", lambda match: variables.get(match.group(1), ""), word).strip('"')


def parse(repository, path):
    """Yields (line, target, dependencies) of each command that links."""
    text = re.sub(r"#[^\n]*", "", repository.text(path))
    variables = {name: value for name, value in re.findall(r"\bset\((\w+)\s+([^()]*)\)", text)}
    for match in COMMAND.finditer(text):
        words = expand(match.group(2), variables).split()
        if not words or "$" in words[0]:
            continue
        line = text.count("\n", 0, match.start()) + 1
        plain = match.group(1) == "target_link_libraries"
        dependencies, section = [], None
        for word in words[1:]:
            if word in KEYWORDS:
                section = word
            elif plain or section == "DEPS":
                dependencies.append(word)
        yield line, words[0], dependencies


def way(graph, target, pattern):
    """Returns the shortest chain of targets from `target` to one that the pattern matches, or None."""
    queue, seen = [(target, [])], {target}
    for current, trail in queue:
        for name in graph.get(current, []):
            if pattern.search(name):
                return trail + [name]
            if name not in seen:
                seen.add(name)
                queue.append((name, trail + [name]))
    return None


def check(repository):
    graph, places = {}, []
    for path in repository.select("CMakeLists.txt", ".cmake"):
        for line, target, dependencies in parse(repository, path):
            graph.setdefault(target, []).extend(dependencies)
            places.append((path, line, target))
    owner = {}
    for path, _, target in places:
        owner.setdefault(target, path)
    reported = set()
    for path, line, target in places:
        if target in reported:
            continue
        for folders, pattern, fix in RULES:
            chain = way(graph, target, pattern) if path.startswith(folders) else None
            if chain:
                reported.add(target)
                yield Finding(path, line, f"{target} links {' -> '.join(chain)}", fix)
        for bound, pattern, fix in TARGET_RULES:
            chain = way(graph, target, pattern) if target == bound else None
            if chain:
                yield Finding(path, line, f"{target} links {' -> '.join(chain)}", fix)
        chain = way(graph, target, FOR_TESTS) if PROGRAM.search(target) else None
        if chain:
            yield Finding(path, line, f"{target} links {' -> '.join(chain)}", "what is for tests is in no program")
        if path.startswith("common/"):
            yield from common_links(path, line, target, graph, owner)


def common_links(path, line, target, graph, owner):
    for name in graph[target]:
        if name in owner and not owner[name].startswith(("common/", "proto/", "cmake/")):
            yield Finding(path, line, f"{target} links {name} of {owner[name]}",
                          "common/ links none of the other folders")
