// For verbs that follow something: a coordinator that goes away and comes back is waited for, and the user is told.
#ifndef REKINDLE_CLI_PATIENCE_H_
#define REKINDLE_CLI_PATIENCE_H_

#include <grpcpp/client_context.h>

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "common/rpc.h"

namespace rekindle::cli {

// Thread-compatible.
class Patience {
 public:
  static constexpr double kSeconds = 60;  // So long a coordinator may be away.

  struct Options {
    std::function<double()> now;   // Steady seconds.
    std::function<void()> pause;   // Before the next try.
    std::ostream* says = nullptr;  // Not owned.
  };

  // Says it on standard error.
  explicit Patience(std::string endpoint);
  Patience(std::string endpoint, Options options) : endpoint_(std::move(endpoint)), options_(std::move(options)) {}

  // The coordinator answers.
  void Heard();
  // A call has ended with that. True, after a pause: it is to be made again. False: that is the end of it, as the
  // coordinator was never there, has been away for too long, or has refused.
  bool Waits(const absl::Status& status);

 private:
  const std::string endpoint_;
  const Options options_;
  bool was_there_ = false;
  std::optional<double> away_since_;
};

// Waits until a coordinator has begun to serve that stream; false: none does.
template <typename Stream>
bool IsServed(const grpc::ClientContext& call, Stream& stream) {
  stream.WaitForInitialMetadata();
  return call.GetServerInitialMetadata().count(common::kServesStream) > 0;
}

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_PATIENCE_H_
