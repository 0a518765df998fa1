// Implements the service Coordinator: what users ask and change. It is thread-safe, and the state belongs to the loop.
#ifndef REKINDLE_COORDINATOR_SERVER_SERVICES_USER_SERVICE_H_
#define REKINDLE_COORDINATOR_SERVER_SERVICES_USER_SERVICE_H_

#include <functional>
#include <string>

#include "common/metrics/metrics.h"
#include "coordinator/server/loop/loop.h"
#include "coordinator/server/services/backups.h"
#include "coordinator/server/services/bundle_desk.h"
#include "coordinator/server/services/intake.h"
#include "coordinator/server/services/log_streams.h"
#include "rekindle/v1/coordinator.grpc.pb.h"

namespace rekindle::coordinator {

class UserService final : public v1::Coordinator::CallbackService {
 public:
  struct Options {
    Intake::Options intake;
    // `set_market` changes the market of the local pools. It must be thread-safe, and may take seconds.
    std::function<absl::Status(const v1::SetMarketRequest&)> set_market;
    // `backups` serves the calls of Backup. It must not be null, and the caller keeps its ownership.
    Backups* backups = nullptr;
    // `logs` serves the calls of ReadLog. It must not be null, and the caller keeps its ownership.
    LogStreams* logs = nullptr;
    // `bundles` serves the calls of PutBundle. It must not be null, and the caller keeps its ownership.
    BundleDesk* bundles = nullptr;
  };

  UserService(Loop* loop, common::Metrics* metrics, Options options);

  using Context = grpc::CallbackServerContext;
  grpc::ServerUnaryReactor* SubmitJob(Context* context, const v1::SubmitJobRequest* request, v1::Job* reply) override;
  grpc::ServerUnaryReactor* PutBundle(Context* context, const v1::PutBundleRequest* request,
                                      v1::PutBundleReply* reply) override;
  grpc::ServerUnaryReactor* ValidateJob(Context* context, const v1::ValidateJobRequest* request,
                                        v1::Job* reply) override;
  grpc::ServerUnaryReactor* GetJob(Context* context, const v1::GetJobRequest* request, v1::Job* reply) override;
  grpc::ServerUnaryReactor* ListJobs(Context* context, const v1::ListJobsRequest* request,
                                     v1::ListJobsReply* reply) override;
  grpc::ServerUnaryReactor* CancelJob(Context* context, const v1::JobRequest* request, v1::Job* reply) override;
  grpc::ServerUnaryReactor* AdoptJob(Context* context, const v1::JobRequest* request, v1::Job* reply) override;
  grpc::ServerUnaryReactor* ForgetJob(Context* context, const v1::JobRequest* request,
                                      v1::ForgetJobReply* reply) override;
  grpc::ServerUnaryReactor* PauseJob(Context* context, const v1::JobRequest* request, v1::Job* reply) override;
  grpc::ServerUnaryReactor* ResumeJob(Context* context, const v1::JobRequest* request, v1::Job* reply) override;
  grpc::ServerUnaryReactor* ListNodes(Context* context, const v1::ListNodesRequest* request,
                                      v1::ListNodesReply* reply) override;
  grpc::ServerUnaryReactor* DrainNode(Context* context, const v1::DrainNodeRequest* request, v1::Node* reply) override;
  grpc::ServerUnaryReactor* UndrainNode(Context* context, const v1::UndrainNodeRequest* request,
                                        v1::Node* reply) override;
  grpc::ServerUnaryReactor* NodeGone(Context* context, const v1::NodeGoneRequest* request,
                                     v1::NodeGoneReply* reply) override;
  grpc::ServerUnaryReactor* ListPools(Context* context, const v1::ListPoolsRequest* request,
                                      v1::ListPoolsReply* reply) override;
  grpc::ServerUnaryReactor* SetMarket(Context* context, const v1::SetMarketRequest* request,
                                      v1::SetMarketReply* reply) override;
  grpc::ServerWriteReactor<v1::Job>* WatchJob(Context* context, const v1::WatchJobRequest* request) override;
  grpc::ServerWriteReactor<v1::Event>* ListEvents(Context* context, const v1::ListEventsRequest* request) override;
  grpc::ServerWriteReactor<v1::LogLines>* ReadLog(Context* context, const v1::ReadLogRequest* request) override;
  grpc::ServerWriteReactor<v1::BackupChunk>* Backup(Context* context, const v1::BackupRequest* request) override;

 private:
  template <typename Verb>
  grpc::ServerUnaryReactor* ChangeJob(const char* method, Context* context, const v1::JobRequest& request,
                                      v1::Job* reply);
  void Count(const char* method);
  // FindUid, AnswerNode and AnswerJob must be called on the loop's thread.
  absl::StatusOr<std::string> FindUid(const std::string& name_or_uid) const;
  absl::StatusOr<std::string> AnswerNode(const std::string& name) const;
  absl::StatusOr<std::string> AnswerJob(const std::string& name_or_uid) const;

  Loop* const loop_;
  common::Metrics* const metrics_;
  const Options options_;
  const Intake intake_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_SERVICES_USER_SERVICE_H_
