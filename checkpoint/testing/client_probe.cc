// Acts as a trainer without training, for tests that kill it. The program saves and restores through a real checkpoint
// service and is not installed.
//
//   checkpoint_client_probe SOCKET STORE TRAINER
//   {"do": "save", "generation": 2, "step": 10, "keep": 2}    {"do": "load", "generation": 3}
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <tuple>

#include "checkpoint/client/client.h"
#include "checkpoint/testing/probe_commands.h"

namespace rekindle::checkpoint {
namespace {

constexpr int64_t kElements = 2 * kBlockElements + 77;
// The process acts as all ranks of the job.
constexpr int kRanks = 2;

absl::Status DoSave(CheckpointClient& client, const Json& command, Json& answer) {
  const int generation = command.at("generation"), step = command.at("step");
  const auto staged = client.Stage({generation, step, kElements}, CutShards(kElements, kRanks));
  if (!staged.ok()) return staged.status();
  absl::Status status = (*staged)->Copy(StateOf(step, kElements).view());
  if (status.ok()) status = (*staged)->Commit();
  if (!status.ok()) return status;
  Manifest manifest{.generation = generation, .step = step, .shards = (*staged)->refs(), .scalars = "{}"};
  std::sort(manifest.shards.begin(), manifest.shards.end(), [](const ShardRef& a, const ShardRef& b) {
    return std::tie(a.index, a.plane) < std::tie(b.index, b.plane);
  });
  const auto name = client.WriteManifest(manifest, {}, {.keep_last = command.at("keep")}, 0);
  if (name.ok()) answer["name"] = *name;
  return name.status();
}

absl::Status DoLoad(CheckpointClient& client, const Json& command, Json& answer) {
  const auto newest = client.FindNewest(/*verify=*/true);
  if (!newest.ok()) return newest.status();
  answer["found"] = newest->found;
  answer["name"] = newest->name;
  answer["step"] = newest->manifest.step;
  answer["skipped"] = newest->skipped;
  if (!newest->found) return absl::OkStatus();
  TestState state(kElements);
  const auto restored = client.Restore(command.at("generation"), newest->name, state.writable());
  if (!restored.ok()) return restored.status();
  answer["from"] = restored->bytes_from;
  answer["equal"] = state == StateOf(newest->manifest.step, kElements);
  return absl::OkStatus();
}

int Run(char** argv) {
  const auto client = CheckpointClient::Create({.socket = argv[1],
                                                .store = argv[2],
                                                .job_uid = "job",
                                                .trainer = argv[3],
                                                .patience_seconds = 60,
                                                .allow_nonfinite = true});
  if (!client.ok()) {
    std::fprintf(stderr, "%s\n", client.status().ToString().c_str());
    return 1;
  }
  return RunProbe([&](const Json& command, Json& answer) {
    return command.at("do") == "save" ? DoSave(**client, command, answer) : DoLoad(**client, command, answer);
  });
}

}  // namespace
}  // namespace rekindle::checkpoint

int main(int argc, char** argv) { return argc == 4 ? rekindle::checkpoint::Run(argv) : 2; }
