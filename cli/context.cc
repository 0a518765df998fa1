#include "cli/context.h"

#include <google/protobuf/util/json_util.h>
#include <sys/random.h>

#include <chrono>
#include <cstdio>
#include <span>

#include "absl/strings/match.h"
#include "common/hash.h"
#include "common/rpc.h"

namespace rekindle::cli {
namespace {

constexpr auto kCallDeadline = std::chrono::seconds(10);

int ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return kOk;
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ? kUnreachable : kFailed;
}

}  // namespace

v1::Coordinator::StubInterface& Context::coordinator() {
  if (!stub_) {
    auto channel = common::Connect(endpoint);
    if (!channel.ok()) throw CLI::ValidationError("--endpoint", std::string(channel.status().message()));
    stub_ = v1::Coordinator::NewStub(*channel);
  }
  return *stub_;
}

absl::Status Context::Check(const grpc::Status& status) const {
  if (status.ok()) return absl::OkStatus();
  const absl::Status converted = common::StatusFromGrpc(status);
  if (!absl::IsUnavailable(converted) && !absl::IsDeadlineExceeded(converted)) return converted;
  if (absl::StrContains(converted.message(), "try again")) {  // Its own words: it answers, and cannot serve this now.
    return absl::UnavailableError("the coordinator at " + endpoint + ": " + std::string(converted.message()));
  }
  return absl::UnavailableError("no coordinator answers at " + endpoint + " (" + std::string(converted.message()) +
                                "); start one with `rekindle up`, or name another with --endpoint or "
                                "REKINDLE_ENDPOINT");
}

void Context::SetDeadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + kCallDeadline);
}

void Context::OnRun(CLI::App* verb, Action action) {
  verb->fallthrough();  // --endpoint and -o may come after the verb.
  verb->callback([this, action = std::move(action)] {
    const absl::Status status = action();
    if (status.ok()) return;
    std::fprintf(stderr, "rekindle: %s\n", std::string(status.message()).c_str());
    exit_code = ExitCodeOf(status);
  });
}

std::string ToJson(const google::protobuf::Message& message, bool indent) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = indent;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  // Fails only for Any fields and invalid UTF-8, which these messages never hold.
  (void)google::protobuf::util::MessageToJsonString(message, &json, options);
  return json;
}

std::string NewRequestId() {
  uint8_t bytes[16] = {};
  (void)getentropy(bytes, sizeof(bytes));
  return common::HexEncode(bytes);
}

}  // namespace rekindle::cli
