// Follows a job's states as they come from the coordinator, over its restarts, and reports since when it does not
// answer.
#ifndef REKINDLE_CLI_WATCH_JOB_FEED_H_
#define REKINDLE_CLI_WATCH_JOB_FEED_H_

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "common/sync/mutex.h"
#include "rekindle/v1/coordinator.grpc.pb.h"

namespace rekindle::cli {

// Follows one job. A stream of the job's states is silent while the job does not change. It is also silent if the
// coordinator was stopped or its machine was cut off. So after a short silence the feed asks the coordinator for the
// job, with a deadline. The feed is thread-safe.
class JobFeed {
 public:
  // Holds the times of the feed, in seconds.
  struct Times {
    // After `quiet` seconds of silence the feed asks the coordinator, and again after each answer or failure.
    double quiet = 0.5;
    // The coordinator has `answer` seconds to answer the feed's question.
    double answer = 1.5;
    // After `away` seconds of silence the coordinator counts as away.
    double away = 2.5;
    // The feed waits `first` seconds for the first answer of a coordinator that neither answers nor refuses.
    double first = 10;
    // The feed waits `patience` seconds for a coordinator that has answered before.
    double patience = 600;
    // Between two attempts to open the stream `retry` seconds pass.
    double retry = 0.2;
  };
  struct News {
    // `job` is the next state of the job. No state comes twice, and none is left out.
    std::optional<v1::Job> job;
    // If `end` is set, no more states come. It is OK after the state in which the job has ended.
    std::optional<absl::Status> end;
    // `away_since` is the time at which the coordinator was heard last, in Unix seconds.
    std::optional<double> away_since;
  };

  // `job` is the name or uid of a job. A later job of the same name is another job. The caller owns `stub`, which must
  // outlive the feed. `check` converts the error of a call. `wake` is called when there is news. Threads of the feed
  // call both functions.
  JobFeed(v1::Coordinator::StubInterface* stub, std::string job, std::function<absl::Status(const grpc::Status&)> check,
          std::function<void()> wake, const Times& times);
  JobFeed(v1::Coordinator::StubInterface* stub, std::string job, std::function<absl::Status(const grpc::Status&)> check,
          std::function<void()> wake)
      : JobFeed(stub, std::move(job), std::move(check), std::move(wake), Times()) {}
  // Cancels the feed's calls.
  ~JobFeed();
  JobFeed(const JobFeed&) = delete;
  JobFeed& operator=(const JobFeed&) = delete;

  // Returns the news so far. Its `end` is set only once Next has returned all states that came before the end.
  News Next();

 private:
  class Call;

  void Listen();
  void AskWhenQuiet();
  // Reads one stream of the job's states to its end. Returns true if the job has ended or the feed is stopped.
  bool ListenOnce();
  // Returns whether the state of the job differs from the last one. A stream begins with the current state, which the
  // stream before it may have sent already.
  bool IsNew(const v1::Job& job);
  bool Hand(v1::Job job);
  void Heard();
  // Ends the feed with `status` if nothing was heard of the coordinator for too long.
  void GiveUpAfter(double seconds_before_first_word, const absl::Status& status);
  void End(const absl::Status& status);
  std::string Wanted();
  // Waits for `seconds` seconds. Returns false if the feed is stopped.
  bool Pause(double seconds);

  v1::Coordinator::StubInterface* const stub_;
  const std::function<absl::Status(const grpc::Status&)> check_;
  const std::function<void()> wake_;
  const Times times_;

  // `newest_` is the newest state of the job, as serialized bytes. Only the thread that reads the stream uses it.
  std::string newest_;

  common::Mutex mutex_;
  // `changed_` says that `stopped_` or `end_` has changed, or that `job_` was taken.
  common::CondVar changed_;
  // `wanted_` is the job for which the feed asks the coordinator: at first the name or uid that the feed was given, and
  // once a state of the job has come, the job's uid.
  std::string wanted_ ABSL_GUARDED_BY(mutex_);
  std::optional<v1::Job> job_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  // `known_` says that a state of the job has come.
  bool known_ ABSL_GUARDED_BY(mutex_) = false;
  // `heard_at_` is the time of the last answer in steady seconds. Before the first answer it is the time of the start.
  double heard_at_ ABSL_GUARDED_BY(mutex_);
  // `heard_wall_` is the moment of `heard_at_` in Unix seconds.
  double heard_wall_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<grpc::ClientContext*> calls_ ABSL_GUARDED_BY(mutex_);

  std::thread listener_;
  std::thread asker_;
};

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_WATCH_JOB_FEED_H_
