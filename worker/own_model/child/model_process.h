// Starts the process that runs the user's Python, and says how it fares.
#ifndef REKINDLE_WORKER_OWN_MODEL_CHILD_MODEL_PROCESS_H_
#define REKINDLE_WORKER_OWN_MODEL_CHILD_MODEL_PROCESS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process/process.h"
#include "worker/own_model/child/frozen_watch.h"
#include "worker/own_model/wire/channel.h"
#include "worker/own_model/wire/description.h"

namespace rekindle::own_model {

// A process that has closed its socket is on its way to its end, and gets so long for it.
inline constexpr double kClosedSeconds = 2;

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
  int data_workers = 1;
  // A process that has not described its module after `start_seconds` is given up.
  double start_seconds = 1800;
};

// ModelProcess is thread-compatible. The process ends with the thread that has started it, or with this object.
class ModelProcess {
 public:
  // Starts a process and waits until it has described the module. `note` is told what it does meanwhile. Returns
  // CANCELLED soon after `go_on` returns false. Returns INVALID_ARGUMENT, with the user's lines, if the task is at
  // fault, and UNAVAILABLE if the process has ended.
  static absl::StatusOr<std::unique_ptr<ModelProcess>> Start(const ModelProcessOptions& options,
                                                             const std::function<bool()>& go_on,
                                                             const std::function<void(const std::string&)>& note);
  ~ModelProcess();

  const Description& description() const { return description_; }
  Channel& channel() { return channel_; }

  // Returns what the system says of the process.
  ProcessView View() const;
  // Returns whether the process has ended. It may be asked until End() is called.
  bool HasEnded() const { return process_.Exited(); }
  const common::ProcessIdentity& identity() const { return process_.identity(); }
  // Kills the process unless it ends by itself within `patience` seconds, waits for its end, and returns how it has
  // ended. If it died of a signal of its own, the text has the line of the user's code that ran.
  std::string End(double patience = 0);

 private:
  ModelProcess(common::Process process, Channel channel, ModelProcessOptions options)
      : process_(std::move(process)), channel_(std::move(channel)), options_(std::move(options)) {}
  absl::Status AwaitReady(const ModelProcessOptions& options, const std::function<bool()>& go_on,
                          const std::function<void(const std::string&)>& note);

  common::Process process_;
  Channel channel_;
  const ModelProcessOptions options_;
  Description description_;
  // `ended_` says how the process has ended, once that is known.
  std::string ended_;
};

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_CHILD_MODEL_PROCESS_H_
