#include "cli/help/live_names.h"

#include <grpcpp/client_context.h>

#include <chrono>
#include <memory>

#include "cli/connection/connection.h"
#include "cli/connection/context_file.h"
#include "common/rpc/rpc.h"
#include "rekindle/v1/coordinator.grpc.pb.h"

namespace rekindle::cli {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(200);
// At most `kMost` names are asked for, because users read only the first page of candidates.
constexpr int kMost = 1000;

std::string Given(const GivenFlags& given, const std::string& flag) {
  const auto found = given.find(flag);
  return found == given.end() ? "" : found->second;
}

std::vector<std::string> ContextNames() {
  std::vector<std::string> names;
  const auto file = ReadContexts(ContextsPath());
  if (!file.ok()) return names;
  for (const auto& [name, context] : file->contexts) names.push_back(name);
  return names;
}

std::unique_ptr<v1::Coordinator::Stub> Connect(const GivenFlags& given) {
  ConnectionFlags flags{.context = Given(given, "--context"), .endpoint = Given(given, "--endpoint")};
  flags.security = {.tls_cert = Given(given, "--tls-cert"),
                    .tls_key = Given(given, "--tls-key"),
                    .tls_ca = Given(given, "--tls-ca"),
                    .token_file = Given(given, "--token-file")};
  const auto connection = ResolveConnection(flags);
  if (!connection.ok()) return nullptr;
  auto channel = common::Connect(connection->endpoint, {.security = connection->security});
  return channel.ok() ? v1::Coordinator::NewStub(*channel) : nullptr;
}

}  // namespace

std::vector<std::string> LiveNames(Names names, const GivenFlags& given) {
  if (names == Names::kContexts) return ContextNames();
  const auto stub = Connect(given);
  std::vector<std::string> found;
  if (stub == nullptr) return found;
  grpc::ClientContext call;
  call.set_deadline(std::chrono::system_clock::now() + kPatience);
  if (names == Names::kJobs) {
    v1::ListJobsRequest request;
    request.set_page_size(kMost);
    v1::ListJobsReply reply;
    if (!stub->ListJobs(&call, request, &reply).ok()) return found;
    for (const v1::Job& job : reply.jobs()) found.push_back(job.name());
  } else if (names == Names::kNodes) {
    v1::ListNodesRequest request;
    request.set_page_size(kMost);
    v1::ListNodesReply reply;
    if (!stub->ListNodes(&call, request, &reply).ok()) return found;
    for (const v1::Node& node : reply.nodes()) found.push_back(node.name());
  } else {
    v1::ListPoolsReply reply;
    if (!stub->ListPools(&call, v1::ListPoolsRequest(), &reply).ok()) return found;
    for (const v1::ListPoolsReply::Pool& pool : reply.pools()) found.push_back(pool.name());
  }
  return found;
}

}  // namespace rekindle::cli
