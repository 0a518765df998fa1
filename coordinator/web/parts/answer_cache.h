// Caches the page's answers as text. Each answer is made at most once per interval, however many viewers ask. A tag
// lets a browser know that it has the newest answer.
#ifndef REKINDLE_COORDINATOR_WEB_PARTS_ANSWER_CACHE_H_
#define REKINDLE_COORDINATOR_WEB_PARTS_ANSWER_CACHE_H_

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/sync/mutex.h"
#include "coordinator/web/parts/shared.h"

namespace rekindle::coordinator::web {

struct Answer {
  std::shared_ptr<const std::string> body;
  // Answers with different bodies have different tags.
  std::string tag;
};

// An AnswerCache is thread-safe.
class AnswerCache {
 public:
  // The cache keeps `kAnswers` answers: those that were asked for last.
  static constexpr size_t kAnswers = 128;

  explicit AnswerCache(double seconds) : seconds_(seconds) {}

  // Returns the answer that `make` returned for the key before, if that is at most `seconds` old, and otherwise calls
  // `make`.
  absl::StatusOr<Answer> Get(const std::string& key, const std::function<absl::StatusOr<std::string>()>& make);

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<Shared<Answer>> answer;
  };
  std::shared_ptr<Shared<Answer>> Find(const std::string& key);

  const double seconds_;
  common::Mutex mutex_;
  // `entries_` has the cached answers. The first one is the answer that was asked for last.
  std::list<Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_PARTS_ANSWER_CACHE_H_
