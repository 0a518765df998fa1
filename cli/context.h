// What every verb shares: where the coordinator is, how to print, how an outcome becomes an exit code.
#ifndef REKINDLE_CLI_CONTEXT_H_
#define REKINDLE_CLI_CONTEXT_H_

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
// The code of errors in JSON is that of gRPC, as "NOT_FOUND"; of a command line that makes no sense it is this.
inline constexpr char kWrongUseCode[] = "WRONG_USE";

// Thread-compatible. Lives as long as the command.
class Context {
 public:
  ConnectionFlags flags;
  std::string output = "text";  // Or "wide", text that is not cut to the terminal; or "json".

  bool json() const { return output == "json"; }
  bool wide() const { return output == "wide"; }
  // The coordinator. UNAVAILABLE errors of calls name the endpoint and the fix, see Check. Throws what OnRun takes for
  // the verb's outcome where flags, variables or context lead to none.
  v1::Coordinator::StubInterface& coordinator();
  // Whose address is that; throws as coordinator() does.
  const std::string& endpoint() { return coordinator(), connection_.endpoint; }
  // One unary call with a deadline.
  template <typename Request, typename Reply>
  absl::Status Call(grpc::Status (v1::Coordinator::StubInterface::*method)(grpc::ClientContext*, const Request&,
                                                                           Reply*),
                    const Request& request, Reply* reply) {
    grpc::ClientContext context;
    SetDeadline(context);
    return Check((coordinator().*method)(&context, request, reply));
  }
  absl::Status Check(const grpc::Status& status) const;
  // On stderr: a line for people, or {"error": {"code", "message"}}.
  void PrintError(const std::string& code, const std::string& message) const;
  static void SetDeadline(grpc::ClientContext& context);

  // Runs when its verb was given; the exit code of the command.
  using Action = std::function<absl::Status()>;
  void OnRun(CLI::App* verb, Action action);
  int exit_code = kOk;

 private:
  void Fail(const absl::Status& status, int code);

  Connection connection_;
  std::unique_ptr<v1::Coordinator::StubInterface> stub_;
};

// What a verb returns that Ctrl-C (SIGINT, or another signal that ends programs) has stopped in order: the message says
// what goes on without it. The command ends with kInterrupted.
absl::Status InterruptedError(const std::string& message);

// Proto field names, all primitives. `indent` false: one line.
std::string ToJson(const google::protobuf::Message& message, bool indent = true);
// A random 128-bit hex id: a mutating call sent twice has one effect.
std::string NewRequestId();

// Each adds its verbs to the command.
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

#endif  // REKINDLE_CLI_CONTEXT_H_
