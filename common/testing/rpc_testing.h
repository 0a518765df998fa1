// Provides tests of rpc.h with a service that echoes its request, and with a folder that hides the user's own copies of
// tokens.
#ifndef REKINDLE_COMMON_TESTING_RPC_TESTING_H_
#define REKINDLE_COMMON_TESTING_RPC_TESTING_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "common/rpc/rpc.h"
#include "common/testing/temporary_folder_testing.h"
#include "rekindle/v1/coordinator.grpc.pb.h"

namespace rekindle::common {

class EchoService final : public v1::Coordinator::CallbackService {
  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context, const v1::GetJobRequest* request,
                                   v1::Job* reply) override {
    reply->set_name(request->job());
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

class RpcTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
    setenv("HOME", folder_.c_str(), 1);
  }

  std::string Write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ + "/" + name) << content;
    return folder_ + "/" + name;
  }

  absl::StatusOr<std::string> Call(const std::string& address, const Security& security, const std::string& text = "x",
                                   int max_message_bytes = kMaxMessageBytes) {
    auto channel = Connect(address, {security, max_message_bytes});
    if (!channel.ok()) return channel.status();
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
    v1::GetJobRequest request;
    request.set_job(text);
    v1::Job reply;
    const grpc::Status status = v1::Coordinator::NewStub(*channel)->GetJob(&context, request, &reply);
    if (!status.ok()) return StatusFromGrpc(status);
    return reply.name();
  }

  std::unique_ptr<Server> Serve(const ServerOptions& options) {
    auto server = Server::Start(options, {&service_});
    EXPECT_TRUE(server.ok()) << server.status();
    return server.ok() ? *std::move(server) : nullptr;
  }

  absl::Status Refusal(const ServerOptions& options) { return Server::Start(options, {&service_}).status(); }

  TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  EchoService service_;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TESTING_RPC_TESTING_H_
