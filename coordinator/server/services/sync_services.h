// Serves Trainers.Sync and Nodes.Sync, which carry reports into the loop and directives out when they change.
// Nodes.KeepLines hands lines to the logs, and Nodes.GetBundle asks the bundles.
#ifndef REKINDLE_COORDINATOR_SERVER_SERVICES_SYNC_SERVICES_H_
#define REKINDLE_COORDINATOR_SERVER_SERVICES_SYNC_SERVICES_H_

#include "common/metrics/metrics.h"
#include "coordinator/server/loop/loop.h"
#include "coordinator/server/services/bundle_desk.h"
#include "coordinator/server/services/log_streams.h"
#include "coordinator/server/services/voice.h"
#include "rekindle/v1/node.grpc.pb.h"
#include "rekindle/v1/trainer.grpc.pb.h"

namespace rekindle::coordinator {

class TrainersService final : public v1::Trainers::CallbackService {
 public:
  TrainersService(Loop* loop, Voice* voice, common::Metrics* metrics);
  grpc::ServerUnaryReactor* Sync(grpc::CallbackServerContext* context, const v1::TrainerReport* report,
                                 v1::TrainerDirective* directive) override;
  grpc::ServerUnaryReactor* RenewLease(grpc::CallbackServerContext* context, const v1::RenewLeaseRequest* request,
                                       v1::RenewLeaseReply* reply) override;

 private:
  Loop* const loop_;
  Voice* const voice_;
  prometheus::Counter& calls_;
  prometheus::Counter& renewals_;
};

class NodesService final : public v1::Nodes::CallbackService {
 public:
  NodesService(Loop* loop, Voice* voice, LogStreams* logs, BundleDesk* bundles, common::Metrics* metrics);
  grpc::ServerUnaryReactor* Sync(grpc::CallbackServerContext* context, const v1::NodeReport* report,
                                 v1::NodeDirective* directive) override;
  grpc::ServerUnaryReactor* KeepLines(grpc::CallbackServerContext* context, const v1::LogReport* report,
                                      v1::LogReply* reply) override;
  grpc::ServerUnaryReactor* GetBundle(grpc::CallbackServerContext* context, const v1::GetBundleRequest* request,
                                      v1::GetBundleReply* reply) override;

 private:
  Loop* const loop_;
  Voice* const voice_;
  LogStreams* const logs_;
  BundleDesk* const bundles_;
  prometheus::Counter& calls_;
  prometheus::Counter& log_reports_;
  prometheus::Counter& bundle_pieces_;
};

// Returns the counter in the metrics that counts the calls of the given method of a service.
prometheus::Counter& CallCounter(common::Metrics* metrics, const std::string& method);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_SERVICES_SYNC_SERVICES_H_
