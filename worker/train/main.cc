// rekindle-trainer: one rank of one job on one device. Started by the agent; survives agent, coordinator and
// checkpoint service.
#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "checkpoint/client.h"
#include "checkpoint/weight_set.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/process.h"
#include "common/version.h"
#include "worker/comm/host_communicator.h"
#include "worker/data/open_data.h"
#include "worker/models/layout.h"
#include "worker/models/registry.h"
#include "worker/models/runtime.h"
#include "worker/train/coordinator_session.h"
#include "worker/train/cuda_plugin.h"
#include "worker/train/engine.h"
#include "worker/train/job_file.h"
#include "worker/train/node_session.h"
#include "worker/train/optimizer_probe.h"

namespace rekindle::train {
namespace {

struct Flags {
  std::string job_file;
  std::string dir;
  std::string coordinator;
  std::string node;
  std::string trainer;
  std::string listen = "127.0.0.1";
};

// Validation micro-batches are capped by the spec; the rest is the data's.
class CappedBatches final : public BatchSource {
 public:
  CappedBatches(BatchSource& batches, int most) : batches_(batches), most_(most) {}
  MicroBatch Train(int64_t step, int index) override { return batches_.Train(step, index); }
  MicroBatch Validation(int index) override { return batches_.Validation(index); }
  int validation_micro_batches() const override { return std::min(most_, batches_.validation_micro_batches()); }

 private:
  BatchSource& batches_;
  const int most_;
};

absl::StatusOr<data::OpenedData> OpenData(const TrainerJob& job, const std::string& dir) {
  return data::OpenData(job.data,
                        {.seed = job.spec.seed,
                         .context = job.model.context,
                         .classes = job.model.classes,
                         .global_batch = job.spec.global_batch,
                         .micro_batch = job.spec.micro_batch},
                        dir + "/data");
}

Connect ConnectOver(comm::Listener& listener) {
  return [&listener](const Membership& membership, int rank, const comm::Deadlines& deadlines,
                     OnCommunicatorError on_error, const std::function<bool()>& cancelled,
                     std::vector<comm::Accusation>* accused) {
    comm::HostOptions options;
    options.generation = membership.generation;
    options.rank = rank;
    for (const Member& member : membership.members) options.peers.push_back({member.address, member.host});
    options.deadlines = deadlines;
    options.on_error = std::move(on_error);
    return comm::ConnectHost(listener, std::move(options), cancelled, accused);
  };
}

// SIGTERM and SIGINT end the engine between steps.
class SignalWatch {
 public:
  explicit SignalWatch(std::function<void()> on_signal)
      : thread_([on_signal = std::move(on_signal)] {
          sigset_t set = Signals();
          int signal = 0;
          sigwait(&set, &signal);
          if (signal != SIGUSR1) on_signal();
        }) {}
  ~SignalWatch() {
    pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
  }
  // Before any thread starts.
  static void Block() {
    sigset_t set = Signals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
  }

 private:
  static sigset_t Signals() {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&set, signal);
    return set;
  }
  std::thread thread_;
};

std::string TimelinePath(const std::string& trainer) {
  const char* folder = std::getenv("REKINDLE_TIMELINE");
  if (folder == nullptr || *folder == '\0') return "";
  std::string name = trainer;
  for (char& c : name) {
    if (c == '/') c = '-';
  }
  return std::string(folder) + "/" + name + ".jsonl";
}

// The agent starts trainers at a low priority, so that loading and probing do not slow down those that train.
void EndStartPriority() {
  constexpr double kPatienceSeconds = 2;
  constexpr auto kPause = std::chrono::milliseconds(20);
  const double until = common::SteadySeconds() + kPatienceSeconds;
  while (!common::SetSessionNice(0) && common::SteadySeconds() < until) std::this_thread::sleep_for(kPause);
}

// Tells the coordinator that this trainer can never start, and waits until it has answered that with EXIT or an error.
void ReportFailure(ControlPlane& control, const absl::Status& status) {
  constexpr double kPatienceSeconds = 5;
  Report report;
  report.phase = Phase::kFailed;
  report.error = std::string(status.message());
  report.error_is_jobs_fault = true;
  control.Publish(report, true);
  const double end = common::SteadySeconds() + kPatienceSeconds;
  while (common::SteadySeconds() < end && control.Latest().action != Directive::Action::kExit) {
    control.WaitForChange(control.Version(), end - common::SteadySeconds());
  }
}

// Null where the seed alone decides.
std::function<absl::Status(std::span<float>)> LoaderOf(const TrainerJob& job, const ParameterLayout& layout) {
  if (job.weights.empty()) return nullptr;
  return [&job, tensors = models::TensorsOf(layout)](std::span<float> weights) -> absl::Status {
    const auto set = checkpoint::WeightSet::Open(*common::PosixFileSystem(), job.weights, [&](const std::string& name) {
      return models::WeightNameOf(job.model.kind, name);
    });
    const auto digest = set.ok() ? set->Load(tensors, weights) : set.status();
    if (!digest.ok()) return absl::InvalidArgumentError("model.weights: " + std::string(digest.status().message()));
    if (*digest == job.weights_digest) return absl::OkStatus();
    return absl::InvalidArgumentError("model.weights: " + job.weights +
                                      " is another set on this node than where the job " + "was submitted (" + *digest +
                                      "): copy the same one to every node");
  };
}

absl::Status RunJob(const Flags& flags, const TrainerJob& job, comm::Listener& listener, ControlPlane& control) {
  models::PinThreads(job.threads);
  const auto gpu = LoadCudaPlugin(DefaultCudaPluginPath());
  log::Info(gpu.ok() ? "CUDA plugin loaded" : "computes on the CPU",
            {{"reason", std::string(gpu.ok() ? "a GPU is present" : gpu.status().message())}});
  auto data = OpenData(job, flags.dir);
  auto model = data.ok() ? models::MakeModel(job.model) : data.status();
  auto probe = model.ok() ? models::ProbeDigest(job.model, job.spec.micro_batch) : model.status();
  if (!probe.ok()) {
    ReportFailure(control, probe.status());
    return probe.status();
  }
  EngineOptions options;
  options.trainer = flags.trainer;
  options.spec = job.spec;
  options.spec_digest = job.spec_digest;
  options.retention = job.retention;
  options.data_fingerprint = data->fingerprint;
  options.unigram_bits_per_byte = data->unigram_bits_per_byte;
  options.probe_digest = common::Xxh3_128Hex(*probe + OptimizerProbe());
  std::unique_ptr<checkpoint::CheckpointClient> checkpoints;
  if (!job.store.empty()) {
    auto client = checkpoint::CheckpointClient::Create(
        {.socket = flags.dir + "/checkpoint.sock",
         .store = job.store,
         .archive_store = job.retention.archive_store,
         .job_uid = job.uid,
         .trainer = flags.trainer,
         .allow_nonfinite = job.spec.checkpoint.allow_nonfinite,
         // Bit for bit is what such a job was promised, whatever happens to it.
         .exact_only = job.spec.exact && job.spec.checkpoint.precision == checkpoint::Precision::kExact});
    if (!client.ok()) return client.status();
    checkpoints = *std::move(client);
  }
  CappedBatches batches(*data->batches, job.spec.evaluate_micro_batches);
  MetricsBoard metrics;
  Timeline timeline(TimelinePath(flags.trainer), flags.trainer);
  timeline.Mark("start", 0, 0, 0);
  Engine engine(std::move(options), {.model = **model,
                                     .batches = batches,
                                     .control = control,
                                     .connect = ConnectOver(listener),
                                     .checkpoints = checkpoints.get(),
                                     .load_weights = LoaderOf(job, (*model)->layout()),
                                     .metrics = metrics,
                                     .timeline = timeline});
  auto node = AttachToNode({.socket = flags.dir + "/agent.sock",
                            .trainer = flags.trainer,
                            .job_uid = job.uid,
                            .job_name = job.name,
                            .job_secret = job.secret},
                           metrics, [&](const std::string&) { engine.Stop(); });
  if (!node.ok()) return node.status();
  SignalWatch signals([&] { engine.Stop(); });
  EndStartPriority();
  return engine.Run();
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("rekindle-trainer: one rank of one job. The agent (rekindle-worker) starts it.");
  app.set_version_flag("--version", common::kVersion);
  app.add_option("--job-file", flags.job_file, "Resolved job and its secret, as the agent wrote it")->required();
  app.add_option("--dir", flags.dir, "The node's folder")->required();
  app.add_option("--coordinator", flags.coordinator, "host:port")->required();
  app.add_option("--node", flags.node, "Name of the node")->required();
  app.add_option("--trainer", flags.trainer, "Identity of this process: node/slot/incarnation")->required();
  app.add_option("--listen", flags.listen, "Address of the data plane that peers can reach")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }
  SignalWatch::Block();
  log::Init("rekindle-trainer");
  auto job = LoadJobFile(flags.job_file);
  auto listener = job.ok() ? comm::Listener::Create(flags.listen + ":0", job->secret) : job.status();
  auto control =
      listener.ok()
          ? ConnectCoordinator(flags.coordinator, {.job_uid = job->uid,
                                                   .trainer = flags.trainer,
                                                   .node = flags.node,
                                                   .job_secret = job->secret,
                                                   .address = flags.listen + ":" + std::to_string((*listener)->port()),
                                                   .host = comm::HostIdentity()})
          : listener.status();
  if (!control.ok()) {
    log::Error("cannot start", {{"error", std::string(control.status().message())}});
    return 1;
  }
  log::SetContext({{"job", job->name}, {"trainer", flags.trainer}});
  const absl::Status status = RunJob(flags, *job, **listener, **control);
  if (!status.ok()) log::Error("ended", {{"error", std::string(status.message())}});
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace rekindle::train

int main(int argc, char** argv) { return rekindle::train::Main(argc, argv); }
