// Helps verbs that follow something to wait for a coordinator that goes away and comes back. The user is informed.
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

namespace rekindle::cli {

// Decides whether to wait for a coordinator. It is thread-compatible.
class Patience {
 public:
  // A coordinator may be away for `kSeconds`.
  static constexpr double kSeconds = 60;

  struct Options {
    // `now` returns steady seconds.
    std::function<double()> now;
    // `pause` is called before the next attempt.
    std::function<void()> pause;
    // Messages are written to `says`, which the caller owns.
    std::ostream* says = nullptr;
  };

  // Writes messages to standard error.
  explicit Patience(std::string endpoint);
  Patience(std::string endpoint, Options options) : endpoint_(std::move(endpoint)), options_(std::move(options)) {}

  // Records that the coordinator answers.
  void Heard();
  // Decides what to do after a call has ended with `status`. Returns true, after a pause, if the call has to be made
  // again. Returns false if the coordinator was never there, has been away for too long, or has refused.
  bool Waits(const absl::Status& status);

 private:
  const std::string endpoint_;
  const Options options_;
  bool was_there_ = false;
  std::optional<double> away_since_;
};

// Waits until a coordinator has begun to serve that stream. Returns false if none does.
template <typename Stream>
bool IsServed(const grpc::ClientContext& call, Stream& stream) {
  stream.WaitForInitialMetadata();
  return call.GetServerInitialMetadata().count(common::kServesStream) > 0;
}

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_SHARED_PATIENCE_H_
