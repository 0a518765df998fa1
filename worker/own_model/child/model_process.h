// Starts the process that runs the user's Python, and says how it fares.
#ifndef REKINDLE_WORKER_OWN_MODEL_CHILD_MODEL_PROCESS_H_
#define REKINDLE_WORKER_OWN_MODEL_CHILD_MODEL_PROCESS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/files/unique_fd.h"
#include "common/process/process.h"
#include "worker/own_model/child/frozen_watch.h"
#include "worker/own_model/child/warm_line.h"
#include "worker/own_model/wire/channel.h"
#include "worker/own_model/wire/description.h"
#include "worker/user_code/confinement.h"
#include "worker/user_code/output_pump.h"
#include "worker/user_code/scrubber.h"

namespace rekindle::own_model {

// A process that has closed its socket is on its way to its end, and gets so long for it.
inline constexpr double kClosedSeconds = 2;
// A process that was killed and has not ended after this time hangs in the kernel, and is left to itself.
inline constexpr double kKilledSeconds = 10;

struct ModelProcessOptions {
  // `interpreter` is the path of the node's Python.
  std::string interpreter;
  // `task` names the task as "module:attribute", and `folder` is the folder in which the module is looked for.
  std::string task;
  std::string folder;
  // `faults_file` is where the process writes the lines that ran when it died of a signal.
  std::string faults_file;
  // `environment` is the whole environment of the process, with entries "NAME=value".
  std::vector<std::string> environment;
  uint64_t seed = 0;
  // `precision` is "fp32", "bf16" or "fp16".
  std::string precision = "fp32";
  bool exact = true;
  int threads = 1;
  // `data_workers` is the number of processes that read the data. With 0 the task decides.
  int data_workers = 0;
  // If `nice` is not 0, a process that was forked gets a smaller share of the processor (see common::SetSessionNice)
  // until it is told for the first time which micro-batches come next.
  int nice = 0;
  // A process that has not described its module after `start_seconds` is given up.
  double start_seconds = 1800;
  // How the process is kept from what is not its own. Without `confinement` it runs as this process's user.
  std::shared_ptr<const user_code::Confinement> confinement;
  // `scrubber` keeps values of the environment out of the process's output, and out of what it says.
  std::shared_ptr<const user_code::Scrubber> scrubber;
  // `warm` is the line to a process that has the imports and forks model processes. Without it, and where that process
  // forks none, the process starts cold.
  std::shared_ptr<WarmLine> warm;
};

// ModelProcess is thread-compatible. The process ends with the thread that has started it, or with this object.
class ModelProcess {
 public:
  // Starts a process and waits until it has described the module. `note` is told now and then what it does meanwhile.
  // Returns CANCELLED soon after `go_on` returns false. Returns INVALID_ARGUMENT, with the user's lines, if the task is
  // at fault, and UNAVAILABLE if the process has ended or a signal has stopped it.
  static absl::StatusOr<std::unique_ptr<ModelProcess>> Start(const ModelProcessOptions& options,
                                                             const std::function<bool()>& go_on,
                                                             const std::function<void(const std::string&)>& note);
  ~ModelProcess();

  const Description& description() const { return description_; }
  Channel& channel() { return channel_; }

  // Returns what the process says is wrong in a message of type kFailed, without secrets. Returns the errors of
  // DecodeFailed().
  absl::StatusOr<Failed> Explain(const std::string& text) const;

  // Returns what the system says of the process.
  ProcessView View() const;
  // Returns whether the process has ended. It may be asked until End() is called.
  bool HasEnded() const { return process_.Exited(); }
  const common::ProcessIdentity& identity() const { return process_.identity(); }
  // Kills the process unless it ends by itself within `patience` seconds, and in any case the processes of its group.
  // Waits for its end, and returns how it has ended. If it died of a signal of its own, the text has the line of the
  // user's code that ran.
  std::string End(double patience = 0);
  // Returns whether somebody else has killed the process, as the system does where memory runs out. It is known once
  // End() was called.
  bool WasKilled() const { return was_killed_; }

 private:
  ModelProcess(common::Process process, Channel channel, ModelProcessOptions options)
      : process_(std::move(process)), channel_(std::move(channel)), options_(std::move(options)) {}
  // Starts the process with the socket `model` and the output `log`: a fork of the warm process if that is possible.
  // `is_fork` is set to whether it is one.
  static absl::StatusOr<common::Process> StartProcess(const ModelProcessOptions& options, int model, int log,
                                                      const std::function<bool()>& go_on,
                                                      const std::function<void(const std::string&)>& note,
                                                      bool* is_fork);
  static absl::StatusOr<common::Process> StartCold(const ModelProcessOptions& options, int model, int log);
  // Kills the process and those of its group.
  void Kill();
  absl::StatusOr<common::ExitStatus> ExitOf();
  std::string Scrubbed(const std::string& text) const {
    return options_.scrubber == nullptr ? text : options_.scrubber->Scrub(text);
  }
  absl::Status AwaitReady(const ModelProcessOptions& options, const std::function<bool()>& go_on,
                          const std::function<void(const std::string&)>& note);

  common::Process process_;
  Channel channel_;
  const ModelProcessOptions options_;
  // `pump_` carries the output of the process to that of this one.
  std::unique_ptr<user_code::OutputPump> pump_;
  // `is_fork_` says that the process is a fork of the warm process, and no child of this one.
  bool is_fork_ = false;
  Description description_;
  // `faults_` is the file of the faults, which has no name any more. It is invalid before the process is ready.
  common::UniqueFd faults_;
  // `ended_` says how the process has ended, once that is known.
  std::string ended_;
  bool was_killed_ = false;
};

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_CHILD_MODEL_PROCESS_H_
