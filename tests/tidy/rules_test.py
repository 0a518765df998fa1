#!/usr/bin/python3
"""Tests that each rule that only reads text finds its bad snippet, names the line, and leaves the good one alone."""

import unittest

import adding
import documents
import functions
import includes
import layout
import links
import rooms
import words
from repository import Repository


def found(rule, files):
    """Returns the sorted (path, line) of the rule's findings, without its warnings."""
    return sorted((one.path, one.line) for one in rule.check(Repository(files)) if not one.warning)


class Includes(unittest.TestCase):
    def test_upward(self):
        files = {"common/text/a.h": '\n#include "worker/train/state/state.h"\n', "worker/train/state/state.h": ""}
        self.assertEqual(found(includes, files), [("common/text/a.h", 2)])

    def test_between_rooms_of_one_folder(self):
        files = {
            "coordinator/core/state/a.h": '#include "coordinator/core/planning/b.h"\n',
            "coordinator/core/planning/b.h": '#include "coordinator/core/state/c.h"\n',
            "coordinator/core/state/c.h": "",
        }
        self.assertEqual(found(includes, files), [("coordinator/core/state/a.h", 1)])

    def test_a_folder_that_is_no_room(self):
        self.assertEqual(found(includes, {"worker/train/x.cc": ""}), [("worker/train/x.cc", 1)])
        self.assertEqual(found(includes, {"worker/train/testing/x.cc": "", "tests/simulation/x.cc": ""}), [])

    def test_two_modules_that_need_each_other(self):
        files = {
            "common/text/a.h": "",
            "common/text/a.cc": '#include "common/text/a.h"\n#include "common/text/b.h"\n',
            "common/text/b.h": '#include "common/text/a.h"\n',
        }
        self.assertEqual(found(includes, files), [("common/text/b.h", 1)])
        files["common/text/b.h"] = '#include "common/text/types.h"\n'
        self.assertEqual(found(includes, {**files, "common/text/types.h": ""}), [])

    def test_nothing_for_tests_in_the_product(self):
        files = {"cli/text/a.cc": '#include "cli/testing/b.h"\n', "cli/testing/b.h": ""}
        self.assertEqual(found(includes, files), [("cli/text/a.cc", 1)])
        files = {"cli/text/a_test.cc": '#include "cli/testing/b.h"\n', "cli/testing/b.h": ""}
        self.assertEqual(found(includes, files), [])

    def test_torch_through_a_header_of_another_room(self):
        files = {
            "worker/train/engine/a.cc": '#include "worker/train/state/a.h"\n',
            "worker/train/state/a.h": '#include <string>\n#include "worker/numeric/x.h"\n',
            "worker/numeric/x.h": "#include <torch/torch.h>\n",
        }
        self.assertEqual(found(includes, files), [("worker/numeric/x.h", 1)])

    def test_rooms_that_never_see_torch_cuda_or_arrow(self):
        for room in ("coordinator/server/loop", "cli/text", "worker/agent/trainers", "worker/train/engine"):
            for header in ("ATen/ATen.h", "c10/util/Half.h", "cuda_runtime_api.h", "arrow/api.h", "parquet/types.h"):
                path = f"{room}/x.cc"
                self.assertEqual(found(includes, {path: f"#include <{header}>\n"}), [(path, 1)], header)
        self.assertEqual(found(includes, {"worker/models/aten/x.cc": "#include <ATen/ATen.h>\n"}), [])

    def test_arrow_is_in_its_plugins_only(self):
        text = "#include <arrow/buffer.h>\n"
        self.assertEqual(found(includes, {"checkpoint/store/x.cc": text}), [("checkpoint/store/x.cc", 1)])
        self.assertEqual(found(includes, {"common/objects/object_store_arrow.cc": text}), [])

    def test_buckets_are_opened_for_stores_only(self):
        files = {"common/objects/object_store.h": "", "common/objects/object_uri.h": ""}
        opens = '#include "common/objects/object_store.h"\n'
        path = "worker/agent/lines/x.cc"
        self.assertEqual(found(includes, {path: opens, **files}), [(path, 1)])
        names = '#include "common/objects/object_uri.h"\n'
        self.assertEqual(found(includes, {"coordinator/spec/x.cc": names, **files}), [])

    def test_nccl(self):
        text = "#  include <nccl.h>\n"
        self.assertEqual(found(includes, {"worker/comm/rings/x.cc": text}), [("worker/comm/rings/x.cc", 1)])
        self.assertEqual(found(includes, {"worker/comm/nccl/x.cc": text}), [])

    def test_messages_stay_out_of_what_computes(self):
        for header in ("grpcpp/grpcpp.h", "google/protobuf/message.h", "rekindle/v1/job.pb.h"):
            for room in ("kernels/sums", "worker/train/engine", "checkpoint/store"):
                path = f"{room}/x.cc"
                self.assertEqual(found(includes, {path: f"#include <{header}>\n"}), [(path, 1)], header)
        self.assertEqual(found(includes, {"common/spec/x.h": '#include "rekindle/v1/job.pb.h"\n'}), [])

    def test_cores_are_pure(self):
        for header in ("chrono", "thread", "mutex", "fstream", "unistd.h", "sys/socket.h"):
            path = "coordinator/core/state/x.h"
            self.assertEqual(found(includes, {path: f"#include <{header}>\n"}), [(path, 1)], header)
        through = {
            "coordinator/core/state/x.cc": '#include "common/time/clock.h"\n',
            "common/time/clock.h": "#include <chrono>\n",
        }
        self.assertEqual(found(includes, through), [("coordinator/core/state/x.cc", 1)])
        self.assertEqual(found(includes, {"coordinator/core/state/x_test.cc": "#include <fstream>\n"}), [])

    def test_torch_beside_protobuf(self):
        files = {
            "worker/models/aten/a.h": "#include <torch/types.h>\n",
            "worker/models/declared/b.h": '#include "rekindle/v1/job.pb.h"\n',
            "worker/models/testing/c.cc": '#include "worker/models/aten/a.h"\n#include "worker/models/declared/b.h"\n',
        }
        self.assertEqual(found(includes, files), [("worker/models/testing/c.cc", 2)])


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

    def test_the_coordinator_links_declarations_and_no_code_that_reads_data_or_computes(self):
        files = {
            "coordinator/CMakeLists.txt": "rk_library(rk_spec SRCS s.cc DEPS rk_levers)\n"
                                          "rk_binary(rekindle-coordinator SRCS main.cc DEPS rk_spec)\n",
            "worker/CMakeLists.txt": "rk_library(rk_levers SRCS l.cc)\n"
                                     "rk_library(rk_optimizers SRCS o.cc DEPS rk_kernels)\n",
        }
        self.assertEqual(found(links, files), [])
        for code in ("rk_kernels", "rk_optimizers", "rk_data", "rk_data_kinds", "rk_models_aten"):
            files["worker/CMakeLists.txt"] = f"rk_library(rk_levers SRCS l.cc DEPS {code})\n"
            self.assertEqual(found(links, files), [("coordinator/CMakeLists.txt", 2)], code)
        files["worker/CMakeLists.txt"] = "rk_library(rk_levers SRCS l.cc DEPS rk_data_declared rk_data_files)\n"
        self.assertEqual(found(links, files), [])

    def test_programs_link_nothing_that_is_for_tests(self):
        files = {
            "coordinator/CMakeLists.txt": "rk_library(rk_c_testing SRCS t.cc)\n"
                                          "rk_library(rk_c SRCS c.cc DEPS rk_c_testing)\n"
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

    def test_sentences_that_begin_without_their_subject(self):
        word = "Of"
        for text in (f"// {word} two ranks, one connects.", f"# {word} a text some characters are kept.",
                     f"It is cut. {word} a text", f"int a;  // {word} all ranks.", f'"""{word} one that ended."""',
                     f"- {word} a sample the class counts.", f"**Pools.** {word} equal pools",
                     f"| name | {word} a pool |", f"{word} ten runs, three", f"x = 1  # {word} a step",
                     f"It ends. {word}"):
            self.assert_word(text)
        for fine in ("// Two of two ranks connect.", f"Concern {word}(const std::string& uid) const {{",
                     f'"--slots", slots, "{word} each node")', f"Points {word}(values);", "// Offers are kept. Often",
                     f"the Book {word} Pools", f"SpreadOf. {word}fers"):
            self.assert_word(fine, bad=False)

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

    def test_tests_that_are_named(self):
        files = {"docs/a.md": "`Save.Works`, `Save.Gone`, `Other.Name`\n`kill_test.KillTest.test_gone`\n`test_kept`\n",
                 "worker/save_test.cc": "TEST(Save, Works) {}\n",
                 "tests/e2e/kill_test.py": "    def test_kept(self):\n"}
        self.assertEqual(found(documents, files), [("docs/a.md", 1), ("docs/a.md", 2)])

    def test_verbs_are_found_in_code_only(self):
        code = "$ rekindle up --workers 3 # rekindle is fine\nbin/rekindle get x\nrekindle-worker init\n"
        self.assertEqual(documents.VERB.findall(code.split("#")[0]), ["up"])
        repository = Repository({"README.md": "rekindle is\n`rekindle jobs`\n```\nrekindle nodes\n```\n"})
        self.assertEqual(list(documents.code_of(repository, "README.md")),
                         [(2, "rekindle jobs"), (4, "rekindle nodes")])


class Adding(unittest.TestCase):
    """Tests what may name a new optimizer, `sum`: its own file, the registry, the list of sources and its test."""

    GOOD = {
        "kernels/sum.cc": "void Sum();", "kernels/registry.cc": "&kSumOptimizer",
        "kernels/CMakeLists.txt": "set(x sum)", "kernels/sum_test.cc": "Sum();",
    }

    def found(self, more=None, **fields):
        files = {**self.GOOD, **(more or {})}
        thing = adding.Thing("optimizer", "sum", r"kernels/sum\.", **fields)
        repository = Repository({path: text for path, text in files.items() if text is not None})
        return sorted((one.path, one.line) for one in adding.check(repository, [thing]))

    def test_two_lists_may_name_it(self):
        self.assertEqual(self.found(), [])
        self.assertEqual(self.found({"kernels/sum.h": "Sum", "docs/a.md": "sum", "tests/sum.cc": "kSum"}), [])
        # Words in cli/a.cc only resemble the name `sum`, and worker/CMakeLists.txt may list the file that tests `sum`.
        fine = {"cli/a.cc": "kSummary = assume + resum;", "worker/CMakeLists.txt": "rk_test(t SRCS x_sum_test.cc)"}
        self.assertEqual(self.found(fine), [])

    def test_what_names_it_elsewhere(self):
        three = ["kernels/CMakeLists.txt", "kernels/registry.cc"]
        for text in ('if (kind == "sum") {', "kSumOptimizer.update()", "spec.sum()", "// as sum does", "add_sum(1)"):
            expected = sorted([("cli/a.cc", 2)] + [(path, 1) for path in three])
            self.assertEqual(self.found({"cli/a.cc": f"\n{text}\n"}), expected, text)

    def test_a_field_is_in_the_proto(self):
        proto = {"proto/job.proto": "int32 sum = 1;"}
        self.assertEqual(len(self.found(proto)), 3)
        self.assertEqual(self.found(proto, brings_field=True), [])
        self.assertEqual(len(self.found({**proto, "cli/a.cc": "sum()"}, brings_field=True)), 4)

    def test_the_thing_has_files_and_a_test(self):
        rule = [("tests/tidy/adding.py", 1)]
        self.assertEqual(self.found({"kernels/sum.cc": None}), rule)
        self.assertEqual(self.found({"kernels/sum_test.cc": None}), rule)

    def test_ordinary_words_are_not_the_thing(self):
        things = {thing.name: thing.pattern() for thing in adding.THINGS}
        other = (("mlp", '"h.0.mlp.c_fc"'), ("mlp", "YamlProblem"), ("table", "FittedTable table(rows);"),
                 ("operator", "bool operator==(const A&)"), ("exec", 'user["exec"]'), ("exec", "execvp(a, b)"))
        for name, text in other:
            self.assertIsNone(things[name].search(text), text)
        meant = (("mlp", "kMlpModel"), ("mlp", '== "mlp"'), ("table", "spec.data().table().files()"),
                 ("operator", "&kFileNotices,"), ("lion", "optimizer_lion.cc"), ("early_stop", "EarlyStopSpec"),
                 ("exec", 'provider == "exec"'))
        for name, text in meant:
            self.assertIsNotNone(things[name].search(text), text)


class Layout(unittest.TestCase):
    def test_length(self):
        files = {"worker/README.md": "", "worker/a.cc": "x\n" * 401,
                 "worker/b.cc": "x\n" * 301, "worker/c.cc": "x\n" * 300}
        self.assertEqual(found(layout, files), [("worker/a.cc", 401)])
        self.assertEqual([one.path for one in layout.check(Repository(files))], ["worker/a.cc", "worker/b.cc"])

    def test_readme(self):
        self.assertEqual(found(layout, {"worker/a.cc": ""}), [("worker/README.md", 1)])
        self.assertEqual(found(layout, {"worker/README.md": "x\n" * 26}), [("worker/README.md", 26)])
        files = {"worker/README.md": "", "worker/numeric/a.cc": ""}
        self.assertEqual(found(layout, files), [("worker/numeric/README.md", 1)])

    def test_files_of_a_room(self):
        room = "worker/numeric"
        files = {"worker/README.md": "", f"{room}/README.md": f"# {room}", **{f"{room}/{i}.cc": "" for i in range(24)},
                 f"{room}/0_test.cc": "", f"{room}/testing/x.cc": ""}
        self.assertEqual(found(layout, files), [])
        self.assertEqual(found(layout, {**files, f"{room}/README.md": "#worker / numeric"}), [(f"{room}/README.md", 1)])
        self.assertEqual(found(layout, {**files, f"{room}/24.cc": ""}), [(room, 1)])

    def test_files_of_a_room_of_benches(self):
        room = "bench/step"
        files = {"bench/README.md": "# bench", f"{room}/README.md": f"# {room}",
                 **{f"{room}/{i}.py": "" for i in range(24)}}
        self.assertEqual(found(layout, files), [])
        self.assertEqual(found(layout, {**files, f"{room}/24.py": ""}), [(room, 1)])
        self.assertEqual(found(layout, {"bench/README.md": "# bench", f"{room}/a.py": ""}), [(f"{room}/README.md", 1)])

    def test_guard(self):
        name = "REKINDLE_KERNELS_A_B_H_"
        good = f"// A.\n#ifndef {name}\n#define {name}\n#endif  // {name}\n"
        readme = {"kernels/README.md": ""}
        self.assertEqual(found(layout, {"kernels/a_b.h": good, **readme}), [])
        self.assertEqual(found(layout, {"kernels/other.h": good, **readme}), [("kernels/other.h", 2)])
        self.assertEqual(found(layout, {"kernels/a_b.h": "#pragma once\n", **readme}), [("kernels/a_b.h", 1)])

    def test_headers_of_one_name(self):
        def header(path):
            guard = "REKINDLE_" + path.replace("/", "_").replace(".", "_").upper() + "_"
            return {path: f"// A.\n#ifndef {guard}\n#define {guard}\n#endif  // {guard}\n"}

        files = {"kernels/README.md": "", **header("kernels/a/one.h"), **header("kernels/b/two.h")}
        self.assertEqual(found(layout, files), [])
        self.assertEqual(found(layout, {**files, **header("kernels/b/one.h")}), [("kernels/b/one.h", 1)])


class Functions(unittest.TestCase):
    def test_long_functions(self):
        body = "  x();\n" * 58
        self.assertEqual(found(functions, {"a.cc": f"void F() {{\n{body}}}\n"}), [])
        self.assertEqual(found(functions, {"a.cc": f"\nvoid F(int a,\n       int b) {{\n{body}}}\n"}), [("a.cc", 2)])
        self.assertEqual(found(functions, {"a.cc": f"TEST(A, B) {{\n{body}  y();\n}}\n"}), [("a.cc", 1)])
        self.assertEqual(found(functions, {"a.py": "class A:\n  def f(self):\n" + "    x()\n" * 60}), [("a.py", 2)])

    def test_long_blocks_that_are_no_functions(self):
        body = "  // }\n  int x;\n" * 60
        for header in ("namespace a", "class A", "struct A : public B<int(*)()>", "enum class E", "const int kA[] ="):
            self.assertEqual(found(functions, {"a.h": f"{header} {{\n{body}}};\n"}), [], header)
        for loop in ("for (;;)", "if (a())", "while (true)"):
            text = f"void F() {{\n{loop} {{\n" + "  x();\n" * 56 + "}\n}\n"
            self.assertEqual(found(functions, {"a.cc": text}), [], loop)

    def test_what_precedes_a_function_does_not_count(self):
        for line in ("// What it is.", "#include <a>", "/* b */", "#define A(x) \\\n  if (x) {"):
            text = f"{line}\n" * 60 + "int F() {\n  x();\n}\n"
            self.assertEqual(found(functions, {"a.cc": text}), [], line)

    def test_braces_in_text_do_not_count(self):
        text = "void F() {\n" + '  x("}", \'{\', R"(\n{ {\n)");\n' + "}\n" + "int y;\n" * 60
        self.assertEqual(found(functions, {"a.cc": text}), [])

    def test_columns(self):
        for path in ("a.cc", "a.py", "a.proto", "b/CMakeLists.txt"):
            self.assertEqual(found(functions, {path: "#" * 120 + "\n"}), [])
            self.assertEqual(found(functions, {path: "\n" + "#" * 121 + "\n"}), [(path, 2)])
        self.assertEqual(found(functions, {"scripts/a": "#!/bin/sh\n" + "#" * 121}), [("scripts/a", 2)])
        self.assertEqual(found(functions, {"a.md": "#" * 121, "deploy/a": "#" * 121}), [])


class Rooms(unittest.TestCase):
    def files(self, change=lambda table: table):
        """Returns a tree whose document has the table of rooms as `change` returns it."""
        room = rooms.ROOMS[0][0]
        readmes = {f"{room}/README.md": f"# {room}\n\nWhat lives\nhere.\n\nMore.\n"}
        table = rooms.table(Repository(readmes))
        return {**readmes, rooms.DOCUMENT: f"# Architecture\n\n{change(table)}\nMore.\n"}

    def test_the_table(self):
        self.assertIn("| What lives here. |", self.files()[rooms.DOCUMENT])
        self.assertEqual(found(rooms, self.files()), [])
        self.assertEqual(found(rooms, {}), [])

    def test_a_table_that_differs(self):
        # The row of the first room in the table is line `first` of the document.
        first = 5
        changed = self.files(lambda table: table.replace("What lives here.", "Other."))
        self.assertEqual(found(rooms, changed), [(rooms.DOCUMENT, first)])
        short = self.files(lambda table: "".join(table.splitlines(keepends=True)[:-1]))
        self.assertEqual(found(rooms, short), [(rooms.DOCUMENT, first + len(rooms.ROOMS) - 1)])
        self.assertEqual(found(rooms, self.files(lambda table: table + "| `gone/` | x | |\n")),
                         [(rooms.DOCUMENT, first + len(rooms.ROOMS))])
        self.assertEqual(found(rooms, self.files(lambda table: "")), [(rooms.DOCUMENT, 1)])


if __name__ == "__main__":
    unittest.main()
