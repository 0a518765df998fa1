// Lets verbs that follow something, such as a log, wait for a coordinator that goes away and comes back, and tells the
// user that they wait.
#ifndef REKINDLE_CLI_SHARED_PATIENCE_H_
#define REKINDLE_CLI_SHARED_PATIENCE_H_

#include <grpcpp/client_context.h>

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "common/rpc/rpc.h"
#include "common/time/clock.h"

namespace rekindle::cli {

// Decides whether to wait for a coordinator. It is thread-compatible.
class Patience {
 public:
  // A coordinator may be away for `kSeconds` seconds.
  static constexpr double kSeconds = 60;

  struct Options {
    // `now` returns seconds of the steady clock.
    common::TimeSource now;
    // `pause` is called before the next attempt to reach the coordinator.
    std::function<void()> pause;
    // Messages to the user are written to `says`, which the caller owns.
    std::ostream* says = nullptr;
  };

  // Makes a `Patience` that waits in real time and writes its messages to standard error.
  explicit Patience(std::string endpoint);
  Patience(std::string endpoint, Options options) : endpoint_(std::move(endpoint)), options_(std::move(options)) {}

  // Records that the coordinator answers.
  void Heard();
  // Decides what to do after a call has ended with `status`. Returns true, after a pause, if the call has to be made
  // again. Returns false if the coordinator has never answered, has been away for too long, or has refused the call.
  bool Waits(const absl::Status& status);

 private:
  const std::string endpoint_;
  const Options options_;
  bool was_there_ = false;
  std::optional<double> away_since_;
};

// Waits until a coordinator has begun to serve the stream of `call`. Returns false if none does.
template <typename Stream>
bool IsServed(const grpc::ClientContext& call, Stream& stream) {
  stream.WaitForInitialMetadata();
  return call.GetServerInitialMetadata().count(common::kServesStream) > 0;
}

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_SHARED_PATIENCE_H_
