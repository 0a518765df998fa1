#!/usr/bin/python3
"""Each rule finds its bad snippet, names the line, and leaves the good one alone."""

import unittest

import documents
import formatting
import includes
import layout
import links
import registered
import words
from repository import Repository


def found(rule, files):
    """Sorted (path, line) of the findings that fail a run."""
    return sorted((one.path, one.line) for one in rule.check(Repository(files)) if not one.warning)


class Includes(unittest.TestCase):
    def test_torch_through_a_header_of_another_folder(self):
        files = {
            "coordinator/a.cc": '#include "coordinator/a.h"\n',
            "coordinator/a.h": '#include <string>\n#include "worker/x.h"\n',
            "worker/x.h": "#include <torch/torch.h>\n",
        }
        self.assertEqual(found(includes, files), [("coordinator/a.h", 2)])

    def test_folders_that_never_see_torch_cuda_or_arrow(self):
        for folder in ("coordinator", "cli", "worker/agent"):
            for header in ("ATen/ATen.h", "c10/util/Half.h", "cuda_runtime_api.h", "arrow/api.h", "parquet/types.h"):
                path = f"{folder}/x.cc"
                self.assertEqual(found(includes, {path: f"#include <{header}>\n"}), [(path, 1)], header)
        self.assertEqual(found(includes, {"worker/train/x.cc": "#include <ATen/ATen.h>\n"}), [])

    def test_arrow_is_in_its_plugin_only(self):
        text = "#include <arrow/buffer.h>\n"
        self.assertEqual(found(includes, {"checkpoint/x.cc": text}), [("checkpoint/x.cc", 1)])
        self.assertEqual(found(includes, {"common/object_store_arrow.cc": text}), [])
        opens = '#include "common/object_store.h"\n'
        self.assertEqual(found(includes, {"worker/agent/x.cc": opens}), [("worker/agent/x.cc", 1)])
        self.assertEqual(found(includes, {"coordinator/x.cc": '#include "common/object_uri.h"\n'}), [])

    def test_nccl(self):
        text = "#  include <nccl.h>\n"
        self.assertEqual(found(includes, {"worker/comm/host.cc": text}), [("worker/comm/host.cc", 1)])
        self.assertEqual(found(includes, {"worker/comm/nccl_communicator.cc": text}), [])

    def test_common_and_kernels(self):
        self.assertEqual(found(includes, {"common/x.h": '\n#include "worker/train/state.h"\n'}), [("common/x.h", 2)])
        self.assertEqual(found(includes, {"common/x.h": '#include "rekindle/v1/job.pb.h"\n'}), [])
        for header in ("grpcpp/grpcpp.h", "google/protobuf/message.h", "rekindle/v1/job.pb.h"):
            self.assertEqual(found(includes, {"kernels/x.cc": f"#include <{header}>\n"}), [("kernels/x.cc", 1)], header)

    def test_cores_are_pure(self):
        for header in ("chrono", "thread", "mutex", "fstream", "unistd.h", "sys/socket.h"):
            self.assertEqual(found(includes, {"coordinator/core/x.h": f"#include <{header}>\n"}),
                             [("coordinator/core/x.h", 1)], header)
        through = {"coordinator/core/x.cc": '#include "common/clock.h"\n', "common/clock.h": "#include <chrono>\n"}
        self.assertEqual(found(includes, through), [("coordinator/core/x.cc", 1)])
        self.assertEqual(found(includes, {"coordinator/core/x_test.cc": "#include <fstream>\n"}), [])

    def test_torch_beside_protobuf(self):
        files = {
            "worker/a.h": "#include <torch/types.h>\n",
            "worker/b.h": '#include "rekindle/v1/job.pb.h"\n',
            "worker/c.cc": '#include "worker/a.h"\n#include "worker/b.h"\n',
        }
        self.assertEqual(found(includes, files), [("worker/c.cc", 2)])


class Links(unittest.TestCase):
    def test_torch_through_a_library(self):
        files = {
            "worker/x/CMakeLists.txt": "rk_library(rk_x SRCS x.cc DEPS rk_torch)\n",
            "coordinator/CMakeLists.txt": "# targets\nset(deps rk_x)\nrk_binary(c SRCS main.cc DEPS ${deps})\n",
        }
        self.assertEqual(found(links, files), [("coordinator/CMakeLists.txt", 3)])

    def test_plain_cmake_commands_count_too(self):
        files = {
            "kernels/CMakeLists.txt": "add_library(k k.cc)\ntarget_link_libraries(k PUBLIC protobuf::libprotobuf)\n",
        }
        self.assertEqual(found(links, files), [("kernels/CMakeLists.txt", 1)])

    def test_common_links_no_other_folder(self):
        files = {
            "common/CMakeLists.txt": "rk_library(rk_common SRCS a.cc DEPS rk_proto rk_state)\n",
            "proto/CMakeLists.txt": "add_library(rk_proto x.cc)\n",
            "worker/CMakeLists.txt": "rk_library(rk_state SRCS s.cc)\n",
        }
        self.assertEqual(found(links, files), [("common/CMakeLists.txt", 1)])
        files["common/CMakeLists.txt"] = "rk_library(rk_common SRCS rk_state.cc DEPS rk_proto)\n"
        self.assertEqual(found(links, files), [])

    def test_programs_link_nothing_that_is_for_tests(self):
        files = {
            "coordinator/CMakeLists.txt": "rk_library(rk_c_testing SRCS t.cc)\nrk_library(rk_c SRCS c.cc DEPS rk_c_testing)\n"
                                          "rk_test(c_test SRCS c_test.cc DEPS rk_c)\n"
                                          "rk_binary(rekindle-c SRCS main.cc DEPS rk_c)\n",
        }
        self.assertEqual(found(links, files), [("coordinator/CMakeLists.txt", 4)])


class Words(unittest.TestCase):
    def assert_word(self, text, bad=True, path="worker/x.cc"):
        self.assertEqual(found(words, {path: "\n" + text + "\n"}), [(path, 2)] if bad else [], text)

    def test_each_forbidden_word(self):
        for words_of in (words.ASSISTANTS, words.REGISTRIES, words.UNFINISHED):
            for word in words_of.replace("\\", "").split("|"):
                self.assert_word(f"// see {word}: later")

    def test_folders_of_one_machine(self):
        for name in ("work", "root"):
            self.assert_word(f'open("/{name}/x")')
            self.assert_word(f"cd /{name}/x")
            for fine in (f"$dir/{name}/x", f"worker/{name}/x", f"${{tmp}}/{name}/x", f"/{name}er/x"):
                self.assert_word(fine, bad=False)

    def test_sibling_of_the_checkout(self):
        text = "../" + "shared/peers"
        self.assert_word(text)
        self.assert_word(text, bad=False, path="tests/x.py")
        self.assert_word(text, bad=False, path="bench/x.py")

    def test_words_that_only_look_alike(self):
        for text in ("mktemp rekindle-XXXXXX", "a method", "the data cursor", "GPT on bytes"):
            self.assert_word(text, bad=False)


class Documents(unittest.TestCase):
    def test_paths_in_code(self):
        files = {"README.md": "Run `scripts/demo`.\n```\nscripts/gone --x\n```\n", "scripts/demo": ""}
        self.assertEqual(found(documents, files), [("README.md", 3)])
        files = {"docs/a.md": "`rekindle submit examples/x.yaml`\n"}
        self.assertEqual(found(documents, files), [("docs/a.md", 1)])

    def test_links(self):
        files = {"docs/a.md": "[b](b.md#part)\n[c](../cli/x.md)\n[d](https://example.com/x)\n", "docs/b.md": ""}
        self.assertEqual(found(documents, files), [("docs/a.md", 2)])

    def test_verbs_are_found_in_code_only(self):
        code = "$ rekindle up --workers 3 # rekindle is fine\nbin/rekindle get x\nrekindle-worker init\n"
        self.assertEqual(documents.VERB.findall(code.split("#")[0]), ["up"])
        repository = Repository({"README.md": "rekindle is\n`rekindle jobs`\n```\nrekindle nodes\n```\n"})
        self.assertEqual(list(documents.code_of(repository, "README.md")),
                         [(2, "rekindle jobs"), (4, "rekindle nodes")])


class Layout(unittest.TestCase):
    def test_length(self):
        files = {"worker/README.md": "", "worker/a.cc": "x\n" * 501,
                 "worker/b.cc": "x\n" * 301, "worker/c.cc": "x\n" * 300}
        self.assertEqual(found(layout, files), [("worker/a.cc", 501)])
        self.assertEqual([one.path for one in layout.check(Repository(files))], ["worker/a.cc", "worker/b.cc"])

    def test_readme(self):
        self.assertEqual(found(layout, {"worker/a.cc": ""}), [("worker/README.md", 1)])
        self.assertEqual(found(layout, {"worker/README.md": "x\n" * 26}), [("worker/README.md", 26)])

    def test_guard(self):
        name = "REKINDLE_KERNELS_A_B_H_"
        good = f"// A.\n#ifndef {name}\n#define {name}\n#endif  // {name}\n"
        readme = {"kernels/README.md": ""}
        self.assertEqual(found(layout, {"kernels/a_b.h": good, **readme}), [])
        self.assertEqual(found(layout, {"kernels/other.h": good, **readme}), [("kernels/other.h", 2)])
        self.assertEqual(found(layout, {"kernels/a_b.h": "#pragma once\n", **readme}), [("kernels/a_b.h", 1)])


class Registered(unittest.TestCase):
    def compare(self, targets, tests):
        """targets: {source: target}; the rule's findings for a tree of three sources."""
        files = dict.fromkeys(["a/x.cc", "a/x_test.cc", "tests/y_test.py"], "")
        commands = [{"directory": "/b", "file": f"/src/{path}",
                     "command": f"g++ -o a/CMakeFiles/{target}.dir/{path}.o -c /src/{path}"}
                    for path, target in targets.items()]
        return [one.path for one in registered.compare(Repository(files, root="/src"), commands, tests)]

    def test_all_registered(self):
        tests = [{"name": "t", "command": ["/b/bin/t"]},
                 {"name": "y", "command": ["/usr/bin/python3", "/src/tests/y_test.py"]}]
        self.assertEqual(self.compare({"a/x.cc": "x", "a/x_test.cc": "t"}, tests), [])

    def test_each_kind_of_orphan(self):
        self.assertEqual(self.compare({"a/x_test.cc": "u"}, [{"name": "t"}]),
                         ["a/x.cc", "a/x_test.cc", "tests/y_test.py"])


class Format(unittest.TestCase):
    def test_one_finding_a_file(self):
        line = "worker/a.cc:%d:3: error: code should be clang-formatted [-Wclang-format-violations]\n"
        self.assertEqual([(one.path, one.line) for one in formatting.findings(1, line % 4 + "x\n" + line % 9)],
                         [("worker/a.cc", 4)])

    def test_a_broken_formatter_is_no_pass(self):
        missing = formatting.findings(1, "error: clang-format-14 is missing")
        self.assertEqual([one.path for one in missing], ["scripts/format"])
        self.assertEqual(list(formatting.findings(0, "")), [])


if __name__ == "__main__":
    unittest.main()
