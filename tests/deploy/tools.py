#!/usr/bin/python3
"""Runs the tools that read manifests without a cluster: kubectl's kustomize, the Kubernetes schemas, and Helm.

The first two are pinned wheels, checked by hash. Helm is taken from REKINDLE_HELM or the PATH, or where
`tools.py install` has built it from source, in minutes.
"""
import json
import os
import shutil
import subprocess
import sys

import deployment

import servers  # noqa: E402  (deployment puts tests/harness on the path)
from servers import Missing  # noqa: F401

HELM_LOCK = deployment.ROOT / "tests/deploy/helm.txt"
KUBERNETES = "1.34"


def wheels():
    return servers.python_wheels("manifests") / "bin"


def build_helm():
    go = shutil.which("go")
    if not go:
        raise Missing("go is not installed, which helm is built with")

    def install(folder):
        return servers.run(go, "install", HELM_LOCK.read_text().strip(),
                           env={**os.environ, "GOBIN": str(folder), "GOFLAGS": "-trimpath -buildvcs=false"})
    return servers.installed("test-helm", HELM_LOCK, install) / "helm"


def helm():
    found = os.environ.get("REKINDLE_HELM") or shutil.which("helm")
    built = servers.cache_folder("test-helm", HELM_LOCK)
    if not found and (built / ".complete").exists():
        found = built / "helm"
    if not found:
        raise Missing("helm is not there: set REKINDLE_HELM to it, or run tests/deploy/tools.py install")
    return found


def run(*command, text=None):
    return subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True, timeout=120)


def kustomize(folder):
    """Returns the YAML of an overlay or base."""
    built = run(wheels() / "kubectl", "kustomize", folder)
    if built.returncode:
        raise ValueError(f"{folder}: {built.stderr}")
    return built.stdout


def template(chart, *arguments, namespace="rekindle"):
    """Runs helm template and returns its CompletedProcess."""
    return run(helm(), "template", "rekindle", chart, "--namespace", namespace, "--kube-version", KUBERNETES,
               *arguments)


def load(text):
    """Returns YAML documents as Python objects. The distribution's Python cannot read YAML."""
    program = "import json, sys, yaml; print(json.dumps([one for one in yaml.safe_load_all(sys.stdin) if one]))"
    loaded = run(wheels() / "python", "-c", program, text=text)
    if loaded.returncode:
        raise ValueError(loaded.stderr)
    return json.loads(loaded.stdout)


def validate(path):
    """Returns what the strict schemas of Kubernetes (no unknown field) object to in a file, or ""."""
    result = run(wheels() / "kubernetes-validate", "--strict", path)
    return "" if result.returncode == 0 else result.stdout + result.stderr


def fits_schema(schema, values):
    """Returns what breaks the JSON schema `schema` in `values`, in the words of jsonschema, or ""."""
    program = ("import json, sys, jsonschema; s, v = json.load(sys.stdin); jsonschema.Draft7Validator.check_schema(s); "
               "print('\\n'.join(e.message for e in jsonschema.Draft7Validator(s).iter_errors(v)))")
    result = run(wheels() / "python", "-c", program, text=json.dumps([schema, values]))
    return (result.stdout + result.stderr).strip()


if __name__ == "__main__":
    if sys.argv[1:] != ["install"]:
        sys.exit(f"usage: {sys.argv[0]} install")
    print(wheels(), build_helm(), sep="\n")
