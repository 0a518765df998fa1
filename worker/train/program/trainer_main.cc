#include "worker/train/program/trainer_main.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <thread>

#include "checkpoint/client/client.h"
#include "checkpoint/weights/weight_set.h"
#include "common/agreed/agreed_limits.h"
#include "common/agreed/exit_codes.h"
#include "common/digest/hash.h"
#include "common/files/file.h"
#include "common/log/log.h"
#include "common/memory/huge_pages.h"
#include "common/process/life_lock.h"
#include "common/process/process.h"
#include "common/time/clock.h"
#include "worker/comm/connect/host_communicator.h"
#include "worker/comm/connect/listener.h"
#include "worker/contract/out_of_memory.h"
#include "worker/contract/user_lines.h"
#include "worker/data/files/rooted_files.h"
#include "worker/models/declared/model_kind.h"
#include "worker/models/declared/tensors.h"
#include "worker/train/engine/engine.h"
#include "worker/train/levers/optimizer_kind.h"
#include "worker/train/micro_batch/device_search.h"
#include "worker/train/program/device_choice.h"
#include "worker/train/program/memory_exit.h"
#include "worker/train/program/signal_watch.h"
#include "worker/train/program/stop_request.h"
#include "worker/train/program/trainer_flags.h"
#include "worker/train/program/trainer_parts.h"
#include "worker/train/program/trial_main.h"
#include "worker/train/sessions/coordinator_session.h"
#include "worker/train/sessions/job_file.h"
#include "worker/train/sessions/node_session.h"
#include "worker/train/state/optimizer_probe.h"

namespace rekindle::train {
namespace {

// Found is the outcome of the search for the micro-batch size. If `reason` is empty, the size comes from the job's
// file.
struct Found {
  std::string reason;
  double seconds = 0;
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

// Raises the priority of this process to normal. The agent starts trainers at a low priority, so that they do not slow
// down the trainers that step while they load and probe.
void EndStartPriority() {
  constexpr double kPatienceSeconds = 2;
  constexpr auto kPause = std::chrono::milliseconds(20);
  const double until = common::SteadySeconds() + kPatienceSeconds;
  while (!common::SetSessionNice(0) && common::SteadySeconds() < until) std::this_thread::sleep_for(kPause);
}

// Tells the coordinator that this trainer can never start, and waits at most 5 s until the coordinator answers with
// EXIT. Returns `status`.
absl::Status ReportFailure(ControlPlane& control, const absl::Status& status) {
  constexpr double kPatienceSeconds = 5;
  Report report;
  report.phase = Phase::kFailed;
  report.error = std::string(status.message());
  report.traceback = TracebackOf(status);
  report.error_is_jobs_fault = true;
  control.Publish(report, true);
  const double end = common::SteadySeconds() + kPatienceSeconds;
  const DirectiveBox& directives = control.directives();
  while (common::SteadySeconds() < end && directives.Latest().action != Directive::Action::kExit) {
    directives.WaitForChange(directives.Version(), end - common::SteadySeconds());
  }
  return status;
}

// Returns a function that loads the weights that the job starts from, or null if the seed alone decides the initial
// weights.
std::function<absl::Status(std::span<float>)> LoaderOf(const TrainerJob& job, const ParameterLayout& layout) {
  if (job.weights.empty()) return nullptr;
  return [&job, tensors = models::TensorsOf(layout)](std::span<float> weights) -> absl::Status {
    data::RootedFiles files(job.data.roots);
    const auto set = checkpoint::WeightSet::Open(
        files, job.weights, [&](const std::string& name) { return models::WeightNameOf(job.model.kind, name); });
    const auto digest = set.ok() ? set->Load(tensors, weights) : set.status();
    if (!digest.ok()) return absl::InvalidArgumentError("model.weights: " + std::string(digest.status().message()));
    if (*digest == job.weights_digest) return absl::OkStatus();
    return absl::InvalidArgumentError("model.weights: " + job.weights +
                                      " is another set on this node than where the job " + "was submitted (" + *digest +
                                      "): copy the same one to every node");
  };
}

// Says of an error of a model whether another trainer, or this one started again, may do better. So the job goes on.
bool MayPass(const absl::Status& error) {
  return absl::IsCancelled(error) || absl::IsUnavailable(error) || absl::IsDeadlineExceeded(error);
}

// Finds the micro-batch size of a job whose spec does not state one. Tells the coordinator that the search runs, tries
// sizes, and puts the size into the job's spec.
absl::StatusOr<Found> FindMicroBatch(const Flags& flags, ControlPlane& control, TrainerJob* job) {
  if (job->spec.micro_batch > 0) return Found{};
  const double start = common::SteadySeconds();
  Report report;
  report.micro_batch = common::kSearchingMicroBatch;
  control.Publish(report, true);
  std::atomic<bool> stopping = false;
  SignalWatch signals([&] { stopping = true; });
  const auto choice = SearchMicroBatchOnDevice(
      {.command = OwnCommand(flags),
       .result_file = flags.job_file + ".trial",
       .global_batch = job->spec.global_batch,
       .at_most = job->micro_batch_at_most,
       .memory_bytes = flags.memory,
       .device_bytes = flags.device == kCudaDevice ? flags.device_memory : 0,
       .cancelled = [&] { return stopping || control.directives().Latest().action == Directive::Action::kExit; },
       // A trial whose device has failed has left the last words of this trainer.
       .device_failed = [](int exit_code) { ::_exit(exit_code); }});
  if (!choice.ok()) {
    return MayPass(choice.status()) ? choice.status() : ReportFailure(control, choice.status());
  }
  auto resolved = LoadJob(flags, choice->micro_batch);
  if (!resolved.ok()) return resolved.status();
  *job = *std::move(resolved);
  const Found found{choice->reason, common::SteadySeconds() - start};
  report.micro_batch = choice->micro_batch;
  report.micro_batch_reason = found.reason;
  report.micro_batch_search_seconds = found.seconds;
  control.Publish(report, true);
  return found;
}

EngineOptions OptionsOf(const Flags& flags, const TrainerJob& job, const data::OpenedData& data, const Found& found,
                        const std::string& probe) {
  EngineOptions options;
  options.trainer = flags.trainer;
  options.spec = job.spec;
  options.spec_digest = job.spec_digest;
  options.retention = job.retention;
  options.data_fingerprint = data.fingerprint;
  options.unigram_bits_per_byte = data.unigram_bits_per_byte;
  options.micro_batch_reason = found.reason;
  options.micro_batch_search_seconds = found.seconds;
  options.probe_digest = common::Xxh3_128Hex(probe + OptimizerProbe());
  return options;
}

// Returns a function that opens stores of the job. Both arguments must outlive it.
OpenStore OpenerOf(const Flags& flags, const TrainerJob& job) {
  return [&](const std::string& store) {
    return checkpoint::CheckpointClient::Create(
        {.socket = flags.dir + "/checkpoint.sock",
         .store = store,
         .archive_store = job.retention.archive_store,
         .job_uid = job.uid,
         .trainer = flags.trainer,
         .bundle = job.python.bundle,
         .allow_nonfinite = job.spec.checkpoint.allow_nonfinite,
         // An exact job with exact checkpoints was promised a bit-exact result, so it must not resume from a 16-bit
         // checkpoint.
         .exact_only = job.spec.exact && job.spec.checkpoint.precision == checkpoint::Precision::kExact});
  };
}

// Computes the digest that identifies the arithmetic of this trainer. If the device fails meanwhile, or has no room for
// LibTorch, the process ends, because that is no fault of the job.
absl::StatusOr<std::string> ProbeOrEnd(const Flags& flags, JobRuntime& runtime, const TrainerJob& job,
                                       device::Device& device) {
  absl::StatusOr<std::string> probe = absl::UnknownError("");
  try {
    probe = runtime.Probe(job);
  } catch (const std::exception& error) {
    probe = FromException(error);
  }
  if (probe.ok()) return probe;
  const device::Health health = device.Look();
  if (health.state != device::Health::State::kFine) EndWithFailedDevice(flags, health);
  if (absl::IsResourceExhausted(probe.status()) && !device.IsHost()) {
    EndWithoutDevice(flags, common::kExitOutOfDeviceMemory, std::string(probe.status().message()));
  }
  return probe;
}

// Opens the job's own store. Returns null if the job has none.
absl::StatusOr<std::unique_ptr<checkpoint::CheckpointClient>> OpenCheckpoints(const TrainerJob& job,
                                                                              const OpenStore& open_store) {
  if (job.store.empty()) return nullptr;
  return open_store(job.store);
}

// Returns what a model may ask and tell the trainer. `running` is the engine, or null before there is one. Until then a
// report is made of the note alone, so that whoever waits for the job reads why it takes long. All arguments must
// outlive the model.
ModelHooks HooksOf(const StopRequest& stop, ControlPlane& control, Engine* const& running) {
  return {.go_on = [&] { return !stop.made() && control.directives().Latest().action != Directive::Action::kExit; },
          .note =
              [&](const std::string& text) {
                if (!text.empty()) log::Info("the model", {{"does", text}});
                if (running != nullptr) return running->Note(text);
                Report report;
                report.note = NoteOf(text);
                control.Publish(report, true);
              }};
}

// Holds what a trainer needs of a job beside its device.
struct OpenedJob {
  std::unique_ptr<Model> model;
  data::OpenedData data;
  std::string probe;
};

// Opens the model and the data of a job, and probes its arithmetic. Tells the coordinator of an error that is the job's
// fault. Returns CANCELLED if the trainer has to end.
absl::StatusOr<OpenedJob> OpenJob(const Flags& flags, JobRuntime& runtime, const TrainerJob& job, ControlPlane& control,
                                  device::Device& device, const ModelHooks& hooks) {
  auto model = runtime.OpenModel(flags, job, hooks);
  if (absl::IsInvalidArgument(model.status())) return ReportFailure(control, model.status());
  if (absl::IsResourceExhausted(model.status())) {
    EndWithoutDevice(flags, common::kExitOutOfMemory, std::string(model.status().message()));
  }
  if (!model.ok()) return model.status();
  auto data = OpenJobData(flags, runtime, job);
  auto probe = data.ok() ? ProbeOrEnd(flags, runtime, job, device) : data.status();
  if (!probe.ok()) return MayPass(probe.status()) ? probe.status() : ReportFailure(control, probe.status());
  return OpenedJob{.model = *std::move(model), .data = *std::move(data), .probe = *std::move(probe)};
}

// Takes the memory of the device that the job needs, and ends the process if the device does not have it.
void AllocateOrEnd(const Flags& flags, device::Device& device, Engine& engine) {
  const absl::Status room = engine.Allocate();
  if (room.ok()) return;
  if (!absl::IsResourceExhausted(room)) EndWithFailedDevice(flags, device.Look());
  EndWithoutDevice(flags, device.IsHost() ? common::kExitOutOfMemory : common::kExitOutOfDeviceMemory,
                   std::string(room.message()));
}

// Says how the run has ended, also to the agent, and returns the exit code.
int ExitCodeOf(const Flags& flags, const absl::Status& status) {
  if (status.ok()) return 0;
  const std::string why(status.message());
  log::Error("ended", {{"error", why}});
  LeaveLastWords(flags, why);
  return 1;
}

// Returns INVALID_ARGUMENT if the job needs an optimizer that its device does not have. A job that does not say on what
// it computes is refused here, and any other one when it is submitted.
absl::Status CheckOptimizer(const Flags& flags, const TrainerJob& job) {
  const std::string& kind = job.spec.optimizer.kind;
  if (flags.device != kCudaDevice || FindOptimizer(kind)->elementwise) return absl::OkStatus();
  return absl::InvalidArgumentError("optimizer.kind: " + kind +
                                    " has no form for a GPU yet; choose another one, or set workers.device: cpu");
}

absl::Status RunJob(const Flags& flags, JobRuntime& runtime, TrainerJob job, comm::Listener& listener,
                    ControlPlane& control) {
  if (const absl::Status optimizer = CheckOptimizer(flags, job); !optimizer.ok()) {
    return ReportFailure(control, optimizer);
  }
  const auto found = FindMicroBatch(flags, control, &job);
  if (!found.ok()) return absl::IsCancelled(found.status()) ? absl::OkStatus() : found.status();
  runtime.Prepare(job.threads);
  const absl::StatusOr<TrainerDevice> device = runtime.OpenDevice(flags, &job);
  if (!device.ok()) return device.status();
  StopRequest stop;
  SignalWatch signals([&] { stop.Make(); });
  Engine* running = nullptr;
  const ModelHooks hooks = HooksOf(stop, control, running);
  auto opened = OpenJob(flags, runtime, job, control, *device->device, hooks);
  if (!opened.ok()) return absl::IsCancelled(opened.status()) ? absl::OkStatus() : opened.status();
  EngineOptions options = OptionsOf(flags, job, opened->data, *found, opened->probe);
  options.device = device->described;
  options.spec.nccl_bucket_bytes = device->nccl_bucket_bytes;
  const OpenStore open_store = OpenerOf(flags, job);
  const auto checkpoints = OpenCheckpoints(job, open_store);
  if (!checkpoints.ok()) return checkpoints.status();
  ResizableBatches batches(job, flags, runtime, std::move(opened->data.batches));
  MetricsBoard metrics;
  Timeline timeline(TimelinePath(flags.trainer), flags.trainer, job.uid);
  timeline.Mark("start", 0, 0, 0);
  Engine engine(std::move(options),
                {.device = *device->device,
                 .model = *opened->model,
                 .batches = batches,
                 .control = control,
                 .connect = ConnectOver(listener, *opened->model),
                 .checkpoints = checkpoints->get(),
                 .open_store = open_store,
                 .load_weights = LoaderOf(job, opened->model->layout()),
                 .resize_batches = [&](int size) { return batches.Resize(size); },
                 .nccl = device->nccl,
                 .device_failed = [&](const device::Health& health) { EndWithFailedDevice(flags, health); },
                 .metrics = metrics,
                 .timeline = timeline});
  AllocateOrEnd(flags, *device->device, engine);
  auto node = AttachToNode({.socket = flags.dir + "/agent.sock",
                            .trainer = flags.trainer,
                            .job_uid = job.uid,
                            .job_name = job.name,
                            .job_secret = job.secret},
                           metrics, [&](const std::string&) { stop.Make(); });
  if (!node.ok()) return node.status();
  running = &engine;
  stop.Follow([&] { engine.Stop(); });
  EndStartPriority();
  if (const std::string why = common::WhyNoHugePages(); !why.empty()) {
    log::Info("its state lies in small pages", {{"why", why}});
  }
  const absl::Status status = engine.Run();
  stop.Follow(nullptr);
  // The device, and NCCL's threads, may hold up an orderly end for ever.
  if (engine.HasLeftNccl()) std::_Exit(ExitCodeOf(flags, status));
  return status;
}

}  // namespace

int RunTrainer(int argc, char** argv, JobRuntime& runtime) {
  ExitWhereMemoryRunsOut();
  int exit_code = 0;
  const std::optional<Flags> parsed = ParseFlags(runtime.program(), argc, argv, &exit_code);
  if (!parsed) return exit_code;
  const Flags& flags = *parsed;
  log::Init(runtime.program());
  // All files that the trainer writes belong to the job alone, so other users may not read them.
  umask(0077);
  if (flags.try_micro_batch > 0) return TryMicroBatch(flags, runtime);
  SignalWatch::Block();
  const absl::Status held = common::HoldLifeLock(common::LifeLockPath(flags.dir, flags.trainer));
  if (!held.ok()) {
    log::Warning("if this trainer dies, its agent hears of it only when its memory is freed",
                 {{"why", std::string(held.message())}});
  }
  auto job = LoadJob(flags);
  auto listener = job.ok() ? comm::Listener::Create(flags.listen + ":0", job->secret) : job.status();
  auto control =
      listener.ok()
          ? ConnectCoordinator(flags.coordinator, {.job_uid = job->uid,
                                                   .trainer = flags.trainer,
                                                   .node = flags.node,
                                                   .job_secret = job->secret,
                                                   .address = flags.listen + ":" + std::to_string((*listener)->port()),
                                                   .host = comm::HostIdentity(),
                                                   .obeys = job->wanted_by})
          : listener.status();
  if (!control.ok()) {
    return ExitCodeOf(flags, control.status());
  }
  log::SetContext({{"job", job->name}, {"trainer", flags.trainer}});
  const absl::Status status = RunJob(flags, runtime, *std::move(job), **listener, **control);
  return ExitCodeOf(flags, status);
}

}  // namespace rekindle::train
