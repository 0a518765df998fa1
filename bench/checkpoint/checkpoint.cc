// Plays a training process as the checkpoint service sees it. scripts/bench checkpoint drives it with a JSON command a
// line on stdin, and it answers with a line of JSON on stdout. All times are in seconds.
//
//   rekindle-bench-checkpoint --elements N
//
// The commands are:
//   {"do": "save", "socket": S, "store": URI, "step_units": N} saves through the real Checkpointer. If N > 0, N work
//       units stand for the next step's forward and backward, after which the optimizer waits until the state is
//       copied. Then work goes on until the save is durable. QUIET units before the save serve as a comparison.
//   {"do": "restore", "socket": S, "store": URI} restores the newest checkpoint into memory that is there already.
//   {"do": "work"} does QUIET work units. The commands save and work may contain {"quiet": QUIET}.
//   {"do": "memcpy"} measures a limit: it copies the state.
//   {"do": "write", "path": P} measures a limit: it writes that copy to a file in order and syncs it.
//   {"do": "read", "path": P} measures a limit: it reads that file from disk.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "bench/checkpoint/training_state.h"
#include "bench/checkpoint/work_unit.h"
#include "checkpoint/client/client.h"
#include "common/log/log.h"
#include "common/time/clock.h"
#include "worker/device/host/host_device.h"
#include "worker/train/save/checkpointer.h"

namespace rekindle::bench {
namespace {

using nlohmann::json;

constexpr int kGeneration = 1;
constexpr int kQuietUnits = 250;
constexpr size_t kPiece = 8 << 20;
constexpr double kPatienceSeconds = 300;

[[noreturn]] void Die(const std::string& why) {
  std::cerr << "error: " << why << "\n";
  std::exit(1);
}

double Now() { return common::SteadySeconds(); }

device::Device& Host() {
  static const std::unique_ptr<device::Device> host = device::MakeHostDevice();
  return *host;
}

// Returns the memory of a buffer on Host(), which stays until the buffer is freed.
std::span<float> Values(const train::FloatBuffer& buffer) {
  float* address = nullptr;
  Host().Run(device::Queue::kCompute,
             {.name = "look", .reads = {}, .writes = {buffer.all()}, .run = [&](const device::Addresses& at) {
                address = at.Write<float>(0);
                return absl::OkStatus();
              }});
  return {address, static_cast<size_t>(buffer.size())};
}

std::vector<double> Work(int count) {
  std::vector<double> units;
  for (int i = 0; i < count; ++i) units.push_back(WorkUnit());
  return units;
}

// Plays a trainer that makes one save after the other to one store.
class Trainer {
 public:
  Trainer(const std::string& socket, const std::string& store, int64_t elements)
      : client_(OpenClient(socket, store)),
        checkpointer_(Host(), *client_,
                      {.spec_digest = "bench",
                       .retention = {.keep_last = 1},
                       .tensors = {{"weights", {elements}}},
                       .changed = [](const train::CheckpointStatus&) {}}) {}

  static std::unique_ptr<checkpoint::CheckpointClient> OpenClient(const std::string& socket, const std::string& store) {
    auto client =
        checkpoint::CheckpointClient::Create({.socket = socket, .store = store, .job_uid = "bench", .trainer = "n1/0"});
    if (!client.ok()) Die(client.status().ToString());
    return *std::move(client);
  }

  json Save(const train::TrainState& state, int step_units, int quiet_units) {
    const std::vector<double> quiet = step_units > 0 ? Work(quiet_units) : std::vector<double>();
    std::vector<double> during;
    const double start = Now();
    checkpointer_.Begin({.generation = kGeneration, .ranges = checkpoint::CutShards(state.weights.size(), 1)}, state);
    const double began = Now() - start;
    for (int i = 0; i < step_units; ++i) during.push_back(WorkUnit());
    // WaitCopied drops a snapshot whose copy would hold up the next step for long. If no step follows the save, the
    // copy may take longer.
    const double waited = step_units > 0 ? checkpointer_.WaitCopied() : checkpointer_.WaitCopied(kPatienceSeconds);
    const train::ShardNotes notes = checkpointer_.TakeNotes();
    checkpointer_.Collect(kGeneration, notes);
    while (step_units > 0 && !IsDurable(state.scalars.step)) during.push_back(WorkUnit());
    if (!checkpointer_.Drain(kPatienceSeconds) || !IsDurable(state.scalars.step)) {
      Die("the checkpoint did not become durable: " + checkpointer_.Status().error);
    }
    return {{"blocked", began + waited}, {"durable", Now() - start}, {"quiet_units", quiet}, {"units", during}};
  }

 private:
  bool IsDurable(int64_t step) const {
    const train::CheckpointStatus status = checkpointer_.Status();
    if (status.failed > 0) Die("a checkpoint failed: " + status.error);
    return !status.committed.manifest.empty() && status.committed.step == step;
  }

  std::unique_ptr<checkpoint::CheckpointClient> client_;
  train::Checkpointer checkpointer_;
};

class Process {
 public:
  explicit Process(int64_t elements) : copy_(static_cast<size_t>(3 * elements), 1.0f) {
    auto state = train::TrainState::Zero(Host(), {.parameters = {}, .total = elements});
    if (!state.ok()) Die(state.status().ToString());
    state_ = *std::move(state);
    FillAsTrained(Values(state_.weights), Values(state_.first_moment), Values(state_.second_moment));
  }

  json Do(const json& command) {
    const std::string what = command.at("do");
    if (what == "save") return Save(command);
    if (what == "restore") return Restore(command);
    if (what == "work") return {{"units", Work(QuietUnits(command))}};
    if (what == "memcpy") return {{"seconds", Copy()}};
    if (what == "write") return {{"seconds", Write(command.at("path"))}};
    if (what == "read") return {{"seconds", Read(command.at("path"))}};
    Die("unknown command " + what);
  }

 private:
  static int QuietUnits(const json& command) { return command.value("quiet", kQuietUnits); }
  size_t Bytes() const { return sizeof(float) * copy_.size(); }
  std::vector<const train::FloatBuffer*> Tensors() const {
    return {&state_.weights, &state_.first_moment, &state_.second_moment};
  }

  // Changes every shard of the state, because a save does not write a shard that the store already has.
  void Step() {
    ++state_.scalars.step;
    const std::span<float> weights = Values(state_.weights);
    for (size_t i = 0; i < weights.size(); i += checkpoint::kBlockElements) weights[i] += 1e-3f;
  }

  json Save(const json& command) {
    const std::string store = command.at("store"), socket = command.at("socket");
    if (trainer_ == nullptr || serves_ != socket + store)
      trainer_ = std::make_unique<Trainer>(socket, store, state_.weights.size());
    serves_ = socket + store;
    Step();
    json answer = trainer_->Save(state_, command.value("step_units", 0), QuietUnits(command));
    answer["digest"] = Digest();
    return answer;
  }

  json Restore(const json& command) {
    const auto client = Trainer::OpenClient(command.at("socket"), command.at("store"));
    const double start = Now();
    const auto newest = client->FindNewest(/*verify=*/false);
    if (!newest.ok()) Die(newest.status().ToString());
    if (!newest->found) Die("there is no checkpoint");
    const double found = Now() - start;
    const auto restored = client->Restore(kGeneration, newest->name,
                                          {.weights = Values(state_.weights).data(),
                                           .first_moment = Values(state_.first_moment).data(),
                                           .second_moment = Values(state_.second_moment).data(),
                                           .total = state_.weights.size()});
    const double seconds = Now() - start;
    if (!restored.ok()) Die(restored.status().ToString());
    state_.scalars.cursor = 0;
    return {{"found", found}, {"seconds", seconds}, {"bytes_from", restored->bytes_from}, {"digest", Digest()}};
  }

  std::string Digest() const {
    const absl::StatusOr<std::string> digest = train::StateDigest(Host(), state_);
    if (!digest.ok()) Die(digest.status().ToString());
    return *digest;
  }

  double Copy() {
    const double start = Now();
    float* to = copy_.data();
    for (const train::FloatBuffer* tensor : Tensors()) {
      std::memcpy(to, Values(*tensor).data(), sizeof(float) * static_cast<size_t>(tensor->size()));
      to += tensor->size();
    }
    return Now() - start;
  }

  double Write(const std::string& path) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) Die("cannot create " + path);
    const double start = Now();
    const auto* at = reinterpret_cast<const uint8_t*>(copy_.data());
    for (size_t done = 0; done < Bytes(); done += kPiece) {
      const size_t n = std::min(kPiece, Bytes() - done);
      if (::write(fd, at + done, n) != static_cast<ssize_t>(n)) Die("cannot write " + path);
    }
    if (::fsync(fd) != 0) Die("cannot sync " + path);
    const double seconds = Now() - start;
    ::close(fd);
    return seconds;
  }

  double Read(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) Die("cannot open " + path);
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    const double start = Now();
    auto* at = reinterpret_cast<uint8_t*>(copy_.data());
    for (size_t done = 0; done < Bytes(); done += kPiece) {
      const size_t n = std::min(kPiece, Bytes() - done);
      if (::read(fd, at + done, n) != static_cast<ssize_t>(n)) Die("cannot read " + path);
    }
    const double seconds = Now() - start;
    ::close(fd);
    return seconds;
  }

  train::TrainState state_;
  std::vector<float> copy_;
  std::unique_ptr<Trainer> trainer_;
  std::string serves_;
};

}  // namespace
}  // namespace rekindle::bench

int main(int argc, char** argv) {
  int64_t elements = 64 << 20;
  CLI::App app("A training process for scripts/bench checkpoint.");
  app.add_option("--elements", elements, "Of the state; 12 bytes each")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 32))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  rekindle::log::Init("rekindle-bench-checkpoint");
  rekindle::bench::Process process(elements);
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << process.Do(nlohmann::json::parse(line)) << std::endl;
  }
}
