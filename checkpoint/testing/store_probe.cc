// Drives a checkpoint store by its URI, for tests against real servers (probe_commands.h). The program is not
// installed.
//
// {"do": "save", "step": 10, "elements": 4000000, "shards": 2}    {"do": "newest"}    {"do": "load"} {"do": "collect",
// "keep": 1, "now": 1e9}    {"do": "list"} Each command may have a "job".
#include <cstdlib>
#include <memory>
#include <string>

#include "checkpoint/store/store_opener.h"
#include "checkpoint/testing/probe_commands.h"

namespace rekindle::checkpoint {
namespace {

std::string JobOf(const Json& command) { return command.value("job", "job"); }

absl::Status DoSave(Store& store, const Json& command, Json& answer) {
  const int step = command.at("step");
  const auto name = Save(store, JobOf(command), command.value("generation", 1), step,
                         StateOf(step, command.at("elements")), command.at("shards"));
  if (name.ok()) answer["name"] = *name;
  return name.status();
}

absl::Status DoNewest(Store& store, bool load, const Json& command, Json& answer) {
  const auto newest = store.FindNewest(JobOf(command));
  if (!newest.ok()) return newest.status();
  answer["found"] = newest->found;
  answer["name"] = newest->name;
  answer["skipped"] = newest->skipped;
  if (!load || !newest->found) return absl::OkStatus();
  const int64_t elements = command.at("elements");
  const auto state = Load(store, newest->manifest, elements);
  if (!state.ok()) return state.status();
  answer["equal"] = *state == StateOf(newest->manifest.step, elements);
  return absl::OkStatus();
}

absl::Status DoList(Store& store, const Json& command, Json& answer) {
  const auto listed = store.List(JobOf(command));
  if (!listed.ok()) return listed.status();
  answer["checkpoints"] = Json::array();
  for (const StoredCheckpoint& c : *listed) {
    answer["checkpoints"].push_back(
        {{"name", c.name}, {"bytes", c.bytes}, {"written", c.written}, {"problem", c.problem}});
  }
  const auto jobs = store.ListJobs();
  if (jobs.ok()) answer["jobs"] = *jobs;
  return jobs.status();
}

absl::Status DoCollect(Store& store, const Json& command, Json& answer) {
  const auto collected =
      store.Collect(JobOf(command), {.keep_last = command.at("keep")}, command.value("now", common::WallSeconds()));
  if (!collected.ok()) return collected.status();
  answer["manifests"] = collected->manifests;
  answer["shards"] = collected->shards;
  return absl::OkStatus();
}

absl::Status Do(StoreOpener& stores, const std::string& uri, const Json& command, Json& answer) {
  auto store = stores.Open(uri, command.value("grace", Store::kGraceSeconds));
  if (!store.ok()) return store.status();
  const std::string verb = command.at("do");
  if (verb == "save") return DoSave(*store, command, answer);
  if (verb == "newest" || verb == "load") return DoNewest(*store, verb == "load", command, answer);
  if (verb == "list") return DoList(*store, command, answer);
  if (verb == "collect") return DoCollect(*store, command, answer);
  return absl::InvalidArgumentError("unknown command " + verb);
}

int Run(const std::string& uri, const common::ObjectStoreOptions& options) {
  StoreOpener stores(*common::PosixFileSystem(), options);
  return RunProbe([&](const Json& command, Json& answer) { return Do(stores, uri, command, answer); });
}

}  // namespace
}  // namespace rekindle::checkpoint

// The arguments are: checkpoint_store_probe URI [DEADLINE_SECONDS [ATTEMPT_SECONDS [BYTES_PER_SECOND]]]
int main(int argc, char** argv) {
  if (argc < 2) return 2;
  rekindle::common::ObjectStoreOptions options;
  if (argc > 2) options.deadline_seconds = std::atof(argv[2]);
  if (argc > 3) options.attempt_seconds = std::atof(argv[3]);
  if (argc > 4)
    options.bandwidth = std::make_shared<rekindle::common::TokenBucket>(std::atof(argv[4]), std::atof(argv[4]));
  return rekindle::checkpoint::Run(argv[1], options);
}
