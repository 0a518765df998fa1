"""Tests that what torch.compile() makes in an exact job does not depend on what was compiled before."""
import json
import os
import subprocess
import sys
import unittest
from unittest import mock

# Exact jobs refuse an interpreter that draws the order of sets anew at each start.
if sys.flags.hash_randomization:
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})

from base import TASKS

import torch

from rekindle import settings

SHAPES = range(2, 14)
LATE = f"""
import json
import torch
from rekindle import settings
settings.apply(settings.Settings("a:b", "{TASKS}", 1, "fp32", "cpu", 1, True, None, 0))
seen = []
def backend(graph, inputs):
    seen.append([list(value.shape) for value in inputs if isinstance(value, torch.Tensor)])
    return graph.forward
function = torch.compile(lambda x: torch.tanh(x).sum(), backend=backend)
for size in range({SHAPES.start}, {SHAPES.stop}):
    function(torch.ones(size))
print(json.dumps(seen))
"""


class CompiledTest(unittest.TestCase):
    def test_each_shape_gets_code_of_its_own(self):
        seen = []

        def backend(graph, inputs):
            seen.append([list(value.shape) for value in inputs if isinstance(value, torch.Tensor)])
            return graph.forward

        function = torch.compile(lambda x: torch.tanh(x).sum(), backend=backend)
        settings.apply(settings.Settings("a:b", str(TASKS), 1, "fp32", "cpu", 1, True, None, 0))
        for size in SHAPES:
            function(torch.ones(size))
        self.assertEqual(seen, [[[size]] for size in SHAPES])

    def test_each_shape_gets_code_of_its_own_where_the_compiler_is_called_late(self):
        """Plays it in a fresh process. Old versions of PyTorch import the compiler only when it is first called."""
        done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), [[[size]] for size in SHAPES])

    def test_no_search_for_the_fastest_code(self):
        settings.apply(settings.Settings("a:b", str(TASKS), 1, "fp32", "cpu", 1, True, None, 0))
        compiler = torch._TorchCompileInductorWrapper("max-autotune", {"max_fusion_size": 7}, False)
        self.assertIs(compiler.config["max_autotune"], True)
        with mock.patch("torch._inductor.compile_fx.compile_fx") as compile_fx:
            compiler("graph", "inputs")
        options = compile_fx.call_args.kwargs["config_patches"]
        self.assertEqual({name for name in options if "autotune" in name or "coordinate" in name}, set())
        self.assertEqual(options["max_fusion_size"], 7)


if __name__ == "__main__":
    unittest.main()
