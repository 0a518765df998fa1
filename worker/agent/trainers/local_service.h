// Serves NodeLocal, by which the trainers of this node report to its agent over the Unix socket in the node's folder.
#ifndef REKINDLE_WORKER_AGENT_TRAINERS_LOCAL_SERVICE_H_
#define REKINDLE_WORKER_AGENT_TRAINERS_LOCAL_SERVICE_H_

#include "rekindle/v1/node_local.grpc.pb.h"
#include "worker/agent/trainers/supervisor.h"

namespace rekindle::agent {

class LocalService final : public v1::NodeLocal::Service {
 public:
  explicit LocalService(Supervisor* supervisor) : supervisor_(supervisor) {}

  grpc::Status Attach(grpc::ServerContext*, const v1::AttachRequest* request, v1::AttachReply* reply) override {
    *reply = supervisor_->Attach(*request);
    return grpc::Status::OK;
  }

 private:
  Supervisor* const supervisor_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_TRAINERS_LOCAL_SERVICE_H_
