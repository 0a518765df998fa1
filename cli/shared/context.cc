#include "cli/shared/context.h"

#include <google/protobuf/util/json_util.h>
#include <sys/random.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/connection/diagnosis.h"
#include "cli/text/safe_text.h"
#include "common/digest/hash.h"
#include "common/rpc/rpc.h"

namespace rekindle::cli {
namespace {

constexpr auto kCallDeadline = std::chrono::seconds(10);
// The mark `kInterruptedMark` distinguishes an interruption from a call that failed with the same code.
constexpr const char* kInterruptedMark = "rekindle.cli/interrupted";

// The payload `kNoAnswer` marks the error of a call that no coordinator has answered, for which a fault with TLS may be
// the cause.
constexpr char kNoAnswer[] = "rekindle/no-answer";

// Is thrown if flags, environment variables and context name no coordinator that the command can call.
class ConnectionError : public std::runtime_error {
 public:
  ConnectionError(const absl::Status& status, int code)
      : std::runtime_error(std::string(status.message())), status_(status), code_(code) {}
  const absl::Status& status() const { return status_; }
  int code() const { return code_; }

 private:
  absl::Status status_;
  int code_;
};

int ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return kOk;
  if (status.GetPayload(kInterruptedMark)) return kInterrupted;
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ? kUnreachable : kFailed;
}

}  // namespace

v1::Coordinator::StubInterface& Context::coordinator() {
  if (stub_) return *stub_;
  auto connection = ResolveConnection(flags);
  if (!connection.ok()) throw ConnectionError(connection.status(), kFailed);
  connection_ = *std::move(connection);
  auto channel = common::Connect(connection_.endpoint, {.security = connection_.security});
  if (!channel.ok()) throw ConnectionError(channel.status(), kWrongUse);
  stub_ = v1::Coordinator::NewStub(*channel);
  return *stub_;
}

absl::Status Context::Check(const grpc::Status& status) const {
  if (status.ok()) return absl::OkStatus();
  const absl::Status converted = common::StatusFromGrpc(status);
  if (absl::IsUnauthenticated(converted)) {
    return absl::UnauthenticatedError(ExplainToken(connection_, std::string(converted.message())));
  }
  if (!absl::IsUnavailable(converted) && !absl::IsDeadlineExceeded(converted)) return converted;
  const std::string& endpoint = connection_.endpoint;
  // A coordinator whose error says "try again" cannot serve the call now, but it does answer. So the error for the user
  // must not say that no coordinator answers.
  if (absl::StrContains(converted.message(), "try again")) {
    return absl::UnavailableError("the coordinator at " + endpoint + ": " + std::string(converted.message()));
  }
  absl::Status away = absl::UnavailableError(
      "no coordinator answers at " + endpoint + " (" + std::string(converted.message()) +
      "); start one with `rekindle up`, or name another with --endpoint, REKINDLE_ENDPOINT or a context");
  away.SetPayload(kNoAnswer, absl::Cord(converted.message()));
  return away;
}

void Context::SetDeadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + kCallDeadline);
}

void Context::OnRun(CLI::App* verb, Action action) {
  // Flags like --endpoint and -o may come after the verb.
  verb->fallthrough();
  verb->callback([this, action = std::move(action)] {
    try {
      const absl::Status status = action();
      if (!status.ok()) Fail(status, ExitCodeOf(status));
    } catch (const ConnectionError& error) {
      Fail(error.status(), error.code());
    }
  });
}

void Context::Fail(const absl::Status& status, int code) {
  std::string message(status.message());
  const auto no_answer = status.GetPayload(kNoAnswer);
  // DiagnoseTls would look the host up again, which is useless if the call failed because DNS does not know the host.
  if (no_answer && !absl::StrContains(std::string(*no_answer), "DNS")) {
    const std::string why = DiagnoseTls(connection_);
    if (!why.empty()) message = why;
  }
  PrintError(code == kWrongUse ? kWrongUseCode : absl::StatusCodeToString(status.code()), message);
  exit_code = code;
}

void Context::PrintError(const std::string& code, const std::string& message) const {
  // If stdout and stderr are the same terminal or file, what the command has written to stdout must come before the
  // error.
  std::cout.flush();
  if (!json()) {
    std::fprintf(stderr, "rekindle: %s\n", PrintableLines(message).c_str());
    return;
  }
  using Json = nlohmann::ordered_json;
  const Json error = {{"error", {{"code", code}, {"message", message}}}};
  std::fprintf(stderr, "%s\n", error.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

absl::Status InterruptedError(const std::string& message) {
  absl::Status status = absl::CancelledError(message);
  status.SetPayload(kInterruptedMark, absl::Cord());
  return status;
}

std::string ToJson(const google::protobuf::Message& message, bool indent) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = indent;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  // MessageToJsonString fails only for Any fields and invalid UTF-8, which Rekindle's messages never contain.
  (void)google::protobuf::util::MessageToJsonString(message, &json, options);
  return json;
}

std::string NewRequestId() {
  uint8_t bytes[16] = {};
  (void)getentropy(bytes, sizeof(bytes));
  return common::HexEncode(bytes);
}

}  // namespace rekindle::cli
