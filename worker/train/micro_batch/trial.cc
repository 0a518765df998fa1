#include "worker/train/micro_batch/trial.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "worker/contract/out_of_memory.h"

namespace rekindle::train {
namespace {

// The first step of a trial also creates what is needed only once, and other programs may disturb any step. So a trial
// makes at least two steps, and the fastest counts.
constexpr int kLeastSteps = 2;
constexpr int kMostSteps = 20;
constexpr double kEnoughSeconds = 0.5;

// Looks at the start of each step how long the step before took to compute its one micro-batch, and calls `enough` once
// all have taken long enough. A model on a GPU does not know that itself, because it does not wait for its passes.
class TimedModel final : public Model {
 public:
  TimedModel(Model& model, const MetricsBoard& metrics, std::function<void()> enough)
      : model_(model), metrics_(metrics), enough_(std::move(enough)) {}
  const ParameterLayout& layout() const override { return model_.layout(); }
  void BindWeights(float* weights) override { model_.BindWeights(weights); }
  void UseQueue(void* queue, const RekindleKernels& kernels) override { model_.UseQueue(queue, kernels); }
  absl::Status Initialize(uint64_t seed, std::span<float> weights) override { return model_.Initialize(seed, weights); }
  absl::StatusOr<LossSum> Backward(const MicroBatch& batch, const RandomKey& key, float loss_scale,
                                   const GradientSink& sink) override {
    Look();
    return model_.Backward(batch, key, loss_scale, sink);
  }
  absl::StatusOr<LossSum> Evaluate(const MicroBatch& batch) override { return model_.Evaluate(batch); }
  bool IsHeldUp() const override { return model_.IsHeldUp(); }
  double LostSeconds() const override { return model_.LostSeconds(); }
  void SetUnwanted(bool unwanted) override { model_.SetUnwanted(unwanted); }

  double fastest() const { return fastest_; }

 private:
  void Look() {
    const double all = metrics_.Read().compute_seconds;
    if (begun_++ == 0) return;
    fastest_ = std::min(fastest_, all - all_);
    all_ = all;
    if (begun_ > kLeastSteps && all >= kEnoughSeconds) enough_();
  }

  Model& model_;
  const MetricsBoard& metrics_;
  const std::function<void()> enough_;
  // `begun_` counts the steps that have begun, and `all_` is the time of those that have ended.
  int begun_ = 0;
  double all_ = 0;
  double fastest_ = std::numeric_limits<double>::infinity();
};

// Plays a coordinator that has one job for one trainer, and tells the trainer to exit when it has finished.
class SoloControl final : public ControlPlane {
 public:
  SoloControl() {
    Member member;
    member.trainer = kTrainer;
    member.end = 1;
    member.needs_state = true;
    Directive directive{.action = Directive::Action::kRun};
    directive.membership.generation = 1;
    directive.membership.members = {std::move(member)};
    directives_.Put(std::move(directive));
    lease_.Begin(1, 0, 0);
  }
  void Publish(const Report& report, bool) override {
    if (report.phase != Phase::kFinished && report.phase != Phase::kFailed && report.phase != Phase::kInterrupted) {
      return;
    }
    directives_.Put({.action = Directive::Action::kExit});
  }
  void AddLoss(const StepLoss&) override {}
  const DirectiveBox& directives() const override { return directives_; }
  const Lease& lease() const override { return lease_; }
  checkpoint::JobFile JobFileNow() override { return {}; }
  std::string JobFileOfEnd(double) override { return ""; }

  static constexpr char kTrainer[] = "trial";

 private:
  DirectiveBox directives_;
  Lease lease_;
};

TrainSpec SpecOfTrial(const TrainSpec& job) {
  TrainSpec spec = job;
  spec.steps = kMostSteps;
  spec.global_batch = spec.micro_batch;
  spec.evaluate_every = 0;
  spec.evaluate_micro_batches = 1;
  spec.schedule = {};
  spec.levers.clear();
  spec.checkpoint = {};
  return spec;
}

}  // namespace

void GuardMemory(double bytes) {
  // RLIMIT_DATA counts memory that is reserved even if it is never used, so the limit is higher than `bytes`, the
  // memory that the trial may use.
  constexpr double kRoom = 1.25;
  rlimit limit = {};
  if (getrlimit(RLIMIT_DATA, &limit) == 0) {
    limit.rlim_cur = static_cast<rlim_t>(std::min(bytes * kRoom, static_cast<double>(limit.rlim_max)));
    setrlimit(RLIMIT_DATA, &limit);
  }
  VolunteerToBeKilled();
}

void VolunteerToBeKilled() { std::ofstream("/proc/self/oom_score_adj") << "1000"; }

double PeakBytes() {
  constexpr double kKibibyte = 1024;
  std::ifstream status("/proc/self/status");
  std::string word;
  double kibibytes = 0;
  while (status >> word) {
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes * kKibibyte;
  }
  return 0;
}

absl::StatusOr<double> SecondsOfTrial(device::Device& device, const TrainSpec& spec, Model& model, BatchSource& batches,
                                      Connect connect, std::function<void(const device::Health&)> device_failed) {
  Engine* running = nullptr;
  MetricsBoard metrics;
  TimedModel timed(model, metrics, [&] { running->Stop(); });
  SoloControl control;
  Timeline timeline("", SoloControl::kTrainer);
  EngineOptions options;
  options.trainer = SoloControl::kTrainer;
  options.spec = SpecOfTrial(spec);
  try {
    Engine engine(std::move(options), {.device = device,
                                       .model = timed,
                                       .batches = batches,
                                       .control = control,
                                       .connect = std::move(connect),
                                       .device_failed = std::move(device_failed),
                                       .metrics = metrics,
                                       .timeline = timeline});
    running = &engine;
    absl::Status status = engine.Allocate();
    if (status.ok()) status = engine.Run();
    if (!status.ok()) return status;
  } catch (const std::exception& error) {
    return FromException(error);
  }
  if (timed.fastest() == std::numeric_limits<double>::infinity()) {
    return absl::InternalError("a trial of micro-batch " + std::to_string(spec.micro_batch) + " computed nothing");
  }
  return timed.fastest();
}

std::string ToJson(const absl::StatusOr<MicroBatchTrial>& trial) {
  nlohmann::json json;
  if (trial.ok()) {
    json = {{"bytes", trial->bytes}, {"seconds", trial->seconds}, {"refused", trial->refused}};
  } else {
    json = {{"code", static_cast<int>(trial.status().code())}, {"error", std::string(trial.status().message())}};
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

absl::StatusOr<MicroBatchTrial> TrialFromJson(const std::string& json) {
  const auto parsed = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  const auto has = [&](const char* name, bool (nlohmann::json::*is)() const noexcept) {
    return parsed.is_object() && parsed.contains(name) && (parsed[name].*is)();
  };
  if (has("error", &nlohmann::json::is_string) && has("code", &nlohmann::json::is_number_integer)) {
    return absl::Status(static_cast<absl::StatusCode>(parsed["code"].get<int>()), parsed["error"].get<std::string>());
  }
  if (!has("bytes", &nlohmann::json::is_number) || !has("seconds", &nlohmann::json::is_number) ||
      !has("refused", &nlohmann::json::is_string)) {
    return absl::InternalError("a trial of a micro-batch size left no result");
  }
  return MicroBatchTrial{parsed["bytes"].get<double>(), parsed["seconds"].get<double>(),
                         parsed["refused"].get<std::string>()};
}

}  // namespace rekindle::train
