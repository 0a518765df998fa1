// Asks each source as often as it documents, on a thread of its own, so that one that hangs delays neither the agent
// nor the others: its answer is waited for some seconds, then it is told once that it cannot be heard, and it is asked
// again when it has answered, less and less often while it fails.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_WATCHER_H_
#define REKINDLE_WORKER_AGENT_NOTICES_WATCHER_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/abandon.h"
#include "worker/agent/notices/judge.h"
#include "worker/agent/notices/registry.h"
#include "worker/agent/waker.h"

namespace rekindle::agent {

// Until the next poll, after so many failures in a row.
double NextPollSeconds(double interval_seconds, int failures);

// Thread-safe.
class NoticeWatcher {
 public:
  // On a source's thread; must not block.
  using Count = std::function<void(const std::string& source, const NoticeCounts& counts)>;

  // `waker` is woken when verdict() or settled() has changed, and must outlive the watcher. `count` is told what is
  // new.
  NoticeWatcher(std::vector<OpenSource> sources, const Waker* waker, Count count = nullptr);
  ~NoticeWatcher();  // Waits for no source.

  Verdict verdict() const;
  // Every source was asked once, or does not answer: a report before that might take back what an agent before us told.
  bool settled() const;
  // Stops asking. Tells the sources that wait for it that nothing of any job is left here; at most some seconds.
  void AcknowledgeAll();

 private:
  struct Watched {
    OpenSource open;
    bool heard = false;      // At least once, or given up.
    bool in_a_call = false;  // That has been abandoned.
    std::thread thread;
  };

  struct Heard {
    absl::StatusOr<std::vector<Notice>> notices;
  };
  using Call = common::Abandonable<Heard>;

  void Loop(Watched& watched);
  // Nothing when it hangs, or when we stop.
  std::optional<Heard> Await(Watched& watched, Call& call);
  void Note(Watched& watched, const absl::StatusOr<std::vector<Notice>>& heard, int failures);
  void Stop();

  const Waker* const waker_;
  const Count count_;
  mutable std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  Judge judge_;
  Verdict verdict_;
  std::vector<Watched> watched_;  // Not resized once a thread runs.
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_WATCHER_H_
