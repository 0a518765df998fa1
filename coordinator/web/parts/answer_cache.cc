#include "coordinator/web/parts/answer_cache.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/digest/hash.h"
#include "common/sync/mutex.h"

namespace rekindle::coordinator::web {

std::shared_ptr<Shared<Answer>> AnswerCache::Find(const std::string& key) {
  const common::MutexLock lock(mutex_);
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
  } else {
    entries_.push_front({key, std::make_shared<Shared<Answer>>(seconds_)});
    if (entries_.size() > kAnswers) entries_.pop_back();
  }
  return entries_.front().answer;
}

absl::StatusOr<Answer> AnswerCache::Get(const std::string& key,
                                        const std::function<absl::StatusOr<std::string>()>& make) {
  const auto made = Find(key)->Get([&]() -> absl::StatusOr<Answer> {
    absl::StatusOr<std::string> text = make();
    if (!text.ok()) return text.status();
    std::string tag = absl::StrCat("\"", common::Xxh3_128Hex(*text), "\"");
    return Answer{std::make_shared<const std::string>(*std::move(text)), std::move(tag)};
  });
  if (!made.ok()) return made.status();
  return **made;
}

}  // namespace rekindle::coordinator::web
