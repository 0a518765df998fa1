// A job's states as they come from the coordinator, over its restarts, and since when it does not answer.
#ifndef REKINDLE_CLI_WATCH_JOB_FEED_H_
#define REKINDLE_CLI_WATCH_JOB_FEED_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "rekindle/v1/coordinator.grpc.pb.h"

namespace rekindle::cli {

// A stream says nothing while a job does not change, and nothing either when its coordinator has been stopped, or its
// machine cut off. So after a short silence the coordinator is asked for the job, with a deadline. Thread-safe.
class JobFeed {
 public:
  // Seconds.
  struct Times {
    double quiet = 0.5;     // After such a silence the coordinator is asked, and again after each answer or failure.
    double answer = 1.5;    // What it is given for an answer.
    double away = 2.5;      // After such a silence it counts as away.
    double first = 10;      // How long the first word is waited for where it neither answers nor refuses.
    double patience = 600;  // How long a coordinator that was heard is waited for.
    double retry = 0.2;     // Between two tries to open the stream.
  };
  struct News {
    std::optional<v1::Job> job;        // The next state; none twice, none left out.
    std::optional<absl::Status> end;   // Nothing more comes: OK after the state in which the job has ended.
    std::optional<double> away_since;  // Unix seconds at which it was heard last.
  };

  // `job`: name or uid; a later job of that name is another one. `stub` is not owned and outlives the feed. `check`
  // makes an error of a call; `wake` says that there is news. Both are called by threads of the feed.
  JobFeed(v1::Coordinator::StubInterface* stub, std::string job, std::function<absl::Status(const grpc::Status&)> check,
          std::function<void()> wake, const Times& times);
  JobFeed(v1::Coordinator::StubInterface* stub, std::string job, std::function<absl::Status(const grpc::Status&)> check,
          std::function<void()> wake)
      : JobFeed(stub, std::move(job), std::move(check), std::move(wake), Times()) {}
  ~JobFeed();  // Cancels its calls.
  JobFeed(const JobFeed&) = delete;
  JobFeed& operator=(const JobFeed&) = delete;

  // What there is now. `end` is there once all states before it have been taken.
  News Next();

 private:
  class Call;

  void Listen();
  void AskWhenQuiet();
  // One stream, to its end; true: the job has ended, or the feed is stopped.
  bool ListenOnce();
  // A stream begins with the state of now, which the one before it may have had already.
  bool IsNew(const v1::Job& job);
  bool Hand(v1::Job job);
  void Heard();
  // Ends the feed with `status` where nothing was heard for too long.
  void GiveUpAfter(double seconds_before_first_word, const absl::Status& status);
  void End(const absl::Status& status);
  std::string Wanted();
  bool Pause(double seconds);  // False: the feed is stopped.

  v1::Coordinator::StubInterface* const stub_;
  const std::function<absl::Status(const grpc::Status&)> check_;
  const std::function<void()> wake_;
  const Times times_;

  std::string newest_;  // Only the thread that listens uses it.

  std::mutex mutex_;
  std::condition_variable changed_;  // stopped_, end_, or job_ was taken.
  std::string wanted_;               // Its uid once that is known.
  std::optional<v1::Job> job_;
  std::optional<absl::Status> end_;
  bool known_ = false;  // A state of the job has come.
  double heard_at_;     // Steady seconds of the last word; before the first one, of the start.
  double heard_wall_;   // That moment in Unix seconds.
  bool stopped_ = false;
  std::set<grpc::ClientContext*> calls_;

  std::thread listener_;
  std::thread asker_;
};

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_WATCH_JOB_FEED_H_
