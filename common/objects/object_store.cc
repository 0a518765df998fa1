#include "common/objects/object_store.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/time/abandon.h"

namespace rekindle::common {
namespace {

// `kMaxAbandoned` hanging calls mean that the store is gone. More threads would not help.
constexpr int kMaxAbandoned = 64;
constexpr double kGiveUpSeconds = 1;

struct Nothing {};

absl::StatusOr<Nothing> FromStatus(const absl::Status& status) {
  if (status.ok()) return Nothing{};
  return status;
}

// Runs one call of a cloud's library for at most `seconds`.
template <typename T>
absl::StatusOr<T> Within(double seconds, const std::string& what, std::function<absl::StatusOr<T>()> call) {
  if (AbandonedCalls() >= kMaxAbandoned) {
    return absl::UnavailableError(absl::StrCat(what, ": ", kMaxAbandoned, " earlier calls still hang"));
  }
  auto result = Abandonable<T>(std::move(call)).Wait(std::max(0.0, seconds));
  if (absl::IsDeadlineExceeded(result.status())) {
    return absl::DeadlineExceededError(absl::StrCat(what, ": ", std::string(result.status().message())));
  }
  return result;
}

}  // namespace

ObjectStore::ObjectStore(std::shared_ptr<ObjectClient> client, std::string prefix, ObjectStoreOptions options,
                         Clock clock)
    : client_(std::move(client)),
      prefix_(std::move(prefix)),
      options_(std::move(options)),
      clock_(std::move(clock)),
      uploads_(std::clamp(options_.uploads, 1, kMaxUploads)) {}

double ObjectStore::Within(double seconds, int64_t bytes) const {
  return seconds + static_cast<double>(bytes) / options_.slowest_bytes_per_second;
}

double ObjectStore::Pace(int64_t bytes) {
  if (options_.bandwidth == nullptr) return 0;
  const double wait = options_.bandwidth->Take(static_cast<double>(bytes), clock_.now());
  if (wait > 0) clock_.sleep(wait);
  return wait;
}

template <typename T>
absl::StatusOr<T> ObjectStore::Call(const std::string& what, const std::function<absl::StatusOr<T>()>& call) {
  absl::StatusOr<T> result = absl::UnknownError("not run");
  const absl::Status status = Retry(options_.retry, options_.deadline_seconds, clock_, [&](Attempt& attempt) {
    result = common::Within<T>(std::min(options_.attempt_seconds, attempt.seconds_left), what, call);
    return result.status();
  });
  if (!status.ok()) return status;
  return result;
}

absl::Status ObjectStore::PutOnce(const std::string& key, const Source& source, int64_t bytes,
                                  const std::function<absl::Status()>& approve, Attempt& attempt) {
  const std::string what = "cannot write " + key;
  double deadline = clock_.now() + std::min(Within(options_.attempt_seconds, bytes), attempt.seconds_left);
  const auto left = [&] { return deadline - clock_.now(); };
  using Upload = std::shared_ptr<ObjectClient::Upload>;
  auto upload = common::Within<Upload>(left(), what, [client = client_, key] { return client->StartUpload(key); });
  if (!upload.ok()) return upload.status();
  absl::Status status;
  for (int64_t at = 0; status.ok() && at < bytes; at += kPiece) {
    const int64_t n = std::min(kPiece, bytes - at);
    const double waited = Pace(n);
    attempt.extend += waited;
    deadline += waited;
    // A shared_ptr holds the piece of the object that is uploaded next, so that copies of the std::function that writes
    // the piece do not copy its bytes.
    auto piece = std::make_shared<std::vector<uint8_t>>(static_cast<size_t>(n));
    status = source(at, piece->data(), piece->size());
    if (!status.ok()) {
      status = Permanent(status);
      break;
    }
    status = common::Within<Nothing>(left(), what, [upload = *upload, piece] {
               return FromStatus(upload->Write(std::move(*piece)));
             }).status();
  }
  if (status.ok() && approve != nullptr) {
    if (absl::Status refused = approve(); !refused.ok()) status = Permanent(refused);
  }
  if (status.ok()) {
    status =
        common::Within<Nothing>(left(), what, [upload = *upload] { return FromStatus(upload->Finish()); }).status();
  }
  // To destroy an unfinished upload takes calls to the store, so the destruction is abandoned, too, if it hangs.
  auto last = std::make_shared<Upload>(*std::move(upload));
  *upload = nullptr;
  common::Within<Nothing>(status.ok() ? left() : std::min(left(), kGiveUpSeconds), what,
                          [last] {
                            last->reset();
                            return FromStatus(absl::OkStatus());
                          })
      .status()
      .IgnoreError();
  return status;
}

absl::StatusOr<ObjectInfo> ObjectStore::Put(const std::string& key, const Source& source, int64_t bytes,
                                            const std::function<absl::Status()>& approve) {
  struct Slot {
    explicit Slot(std::counting_semaphore<kMaxUploads>& all) : all(all) { all.acquire(); }
    ~Slot() { all.release(); }
    std::counting_semaphore<kMaxUploads>& all;
  } slot(uploads_);
  const std::string full = Key(key);
  ObjectInfo info;
  const absl::Status status =
      Retry(options_.retry, Within(options_.deadline_seconds, bytes), clock_, [&](Attempt& attempt) {
        const double end = clock_.now() + attempt.seconds_left;
        if (absl::Status put = PutOnce(full, source, bytes, approve, attempt); !put.ok()) return put;
        // After an upload the size of the object is read back from the store, because servers and proxies have been
        // seen to report success after storing only a part.
        const double left = end + attempt.extend - clock_.now();
        const auto kept = common::Within<ObjectInfo>(std::min(options_.attempt_seconds, left), "cannot look at " + full,
                                                     [client = client_, full] { return client->Head(full); });
        if (absl::IsNotFound(kept.status())) return absl::DataLossError("the store lost " + full);
        if (!kept.ok()) return kept.status();
        if (kept->size != bytes) {
          return absl::DataLossError(absl::StrCat("the store kept ", kept->size, " of ", bytes, " bytes of ", full));
        }
        info = *kept;
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  return info;
}

absl::StatusOr<ObjectInfo> ObjectStore::Put(const std::string& key, std::string_view content) {
  const auto source = [content](int64_t offset, void* out, size_t bytes) {
    std::memcpy(out, content.data() + offset, bytes);
    return absl::OkStatus();
  };
  return Put(key, source, static_cast<int64_t>(content.size()));
}

absl::Status ObjectStore::Get(const std::string& key, int64_t size, int64_t offset, int64_t bytes, const Sink& sink) {
  using Bytes = std::vector<uint8_t>;
  const std::string full = Key(key);
  const auto start = [this, full, size](int64_t at, int64_t n) {
    return Abandonable<Bytes>([client = client_, full, size, at, n] { return client->Read(full, size, at, n); });
  };
  if (AbandonedCalls() >= kMaxAbandoned) {
    return absl::UnavailableError(absl::StrCat("cannot read ", full, ": earlier calls still hang"));
  }
  const int64_t end = offset + bytes;
  std::deque<Abandonable<Bytes>> ahead;
  // `next` is the offset of the first piece that was not requested yet.
  int64_t next = offset;
  for (int64_t at = offset; at < end; at += kPiece) {
    while (next < end && ahead.size() < static_cast<size_t>(std::max(1, options_.reads))) {
      const int64_t n = std::min(kPiece, end - next);
      Pace(n);
      ahead.push_back(start(next, n));
      next += n;
    }
    const int64_t n = std::min(kPiece, end - at);
    absl::StatusOr<Bytes> piece = absl::UnknownError("not read");
    bool first = true;
    const double seconds = Within(options_.deadline_seconds, n);
    const absl::Status status = Retry(options_.retry, seconds, clock_, [&](Attempt& attempt) -> absl::Status {
      const double wait = std::min(Within(options_.attempt_seconds, n), attempt.seconds_left);
      piece = std::exchange(first, false) ? ahead.front().Wait(wait) : start(at, n).Wait(wait);
      if (piece.ok() && piece->size() != static_cast<size_t>(n)) return absl::UnavailableError("a short answer");
      return piece.status();
    });
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat("cannot read ", full, ": ", std::string(status.message())));
    }
    ahead.pop_front();
    if (absl::Status given = sink(at, piece->data(), piece->size()); !given.ok()) return given;
  }
  return absl::OkStatus();
}

absl::StatusOr<ObjectInfo> ObjectStore::Head(const std::string& key) {
  const std::string full = Key(key);
  return Call<ObjectInfo>("cannot look at " + full, [client = client_, full] { return client->Head(full); });
}

absl::StatusOr<std::vector<ObjectInfo>> ObjectStore::List(const std::string& folder) {
  const std::string full = folder.empty() ? prefix_ : Key(folder);
  auto found =
      Call<std::vector<ObjectInfo>>("cannot list " + full, [client = client_, full] { return client->List(full); });
  if (found.ok()) {
    std::sort(found->begin(), found->end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  }
  return found;
}

absl::Status ObjectStore::Delete(const std::string& key) {
  const std::string full = Key(key);
  return Call<Nothing>("cannot delete " + full, [client = client_, full] { return FromStatus(client->Delete(full)); })
      .status();
}

}  // namespace rekindle::common
