// Provides what every verb shares: the connection to the coordinator, the format of the output, and the exit code that
// follows from an outcome.
#ifndef REKINDLE_CLI_SHARED_CONTEXT_H_
#define REKINDLE_CLI_SHARED_CONTEXT_H_

#include <google/protobuf/message.h>
#include <grpcpp/client_context.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "cli/connection/connection.h"
#include "rekindle/v1/coordinator.grpc.pb.h"

namespace rekindle::cli {

enum ExitCode { kOk = 0, kFailed = 1, kWrongUse = 2, kUnreachable = 3, kInterrupted = 130 };
// Errors in JSON have the code of gRPC, such as "NOT_FOUND". The error of a command line that makes no sense has the
// code `kWrongUseCode`.
inline constexpr char kWrongUseCode[] = "WRONG_USE";

// `Context` is the state of one command. It is thread-compatible and lives as long as the command.
class Context {
 public:
  ConnectionFlags flags;
  // `output` is "text", "wide" (text that is not cut to the terminal) or "json".
  std::string output = "text";

  bool json() const { return output == "json"; }
  bool wide() const { return output == "wide"; }
  // Returns the coordinator's stub. UNAVAILABLE errors of its calls name the endpoint and the fix (see Check). If
  // neither the flags, nor the environment variables, nor the current context name a coordinator, coordinator() throws
  // an exception that OnRun turns into the verb's outcome.
  v1::Coordinator::StubInterface& coordinator();
  // Returns the address of the coordinator. It throws as coordinator() does.
  const std::string& endpoint() { return coordinator(), connection_.endpoint; }
  // Makes one unary call with a deadline.
  template <typename Request, typename Reply>
  absl::Status Call(grpc::Status (v1::Coordinator::StubInterface::*method)(grpc::ClientContext*, const Request&,
                                                                           Reply*),
                    const Request& request, Reply* reply) {
    grpc::ClientContext context;
    SetDeadline(context);
    return Check((coordinator().*method)(&context, request, reply));
  }
  absl::Status Check(const grpc::Status& status) const;
  // Prints an error to stderr: a line for people, or {"error": {"code", "message"}}.
  void PrintError(const std::string& code, const std::string& message) const;
  static void SetDeadline(grpc::ClientContext& context);

  // Makes `verb` run `action` when the command line has given the verb. The outcome sets the exit code of the command.
  using Action = std::function<absl::Status()>;
  void OnRun(CLI::App* verb, Action action);
  int exit_code = kOk;

 private:
  void Fail(const absl::Status& status, int code);

  Connection connection_;
  std::unique_ptr<v1::Coordinator::StubInterface> stub_;
};

// Returns the status of a verb that the user has ended early with Ctrl-C (SIGINT, or another signal that ends
// programs). `message` tells the user what goes on without the verb. The exit code of the command is kInterrupted.
absl::Status InterruptedError(const std::string& message);

// Returns the message as JSON with proto field names. Primitive fields are included even if they have their default
// value. If `indent` is false, the JSON is one line.
std::string ToJson(const google::protobuf::Message& message, bool indent = true);
// Returns a random 128-bit id of a request, in hex. With it, a mutating call that is sent twice has one effect.
std::string NewRequestId();

// Each of the functions named Add...Verbs or Add...Verb adds its verbs to the command.
void AddJobVerbs(CLI::App& app, Context& context);
void AddCostVerbs(CLI::App& app, Context& context);
void AddWatchVerb(CLI::App& app, Context& context);
void AddStreamVerbs(CLI::App& app, Context& context);
void AddNodeVerbs(CLI::App& app, Context& context);
void AddCheckpointVerbs(CLI::App& app, Context& context);
void AddSimulateVerb(CLI::App& app, Context& context);
void AddMarketVerb(CLI::App& app, Context& context);
void AddBackupVerbs(CLI::App& app, Context& context);
void AddRecoverVerb(CLI::App& app, Context& context);
void AddUpVerb(CLI::App& app, Context& context);
void AddPauseVerb(CLI::App& app, Context& context);
void AddListVerbs(CLI::App& app, Context& context);
void AddContextVerbs(CLI::App& app, Context& context);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_SHARED_CONTEXT_H_
