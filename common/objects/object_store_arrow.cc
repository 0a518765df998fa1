// Implements the plugin of object_plugin.h: S3, GCS and Azure through Arrow's filesystems. Nothing else in the project
// sees Arrow.
#include <arrow/buffer.h>
#include <arrow/filesystem/azurefs.h>
#include <arrow/filesystem/gcsfs.h>
#include <arrow/filesystem/s3fs.h>
#include <arrow/io/interfaces.h>
#include <arrow/util/io_util.h>
#include <errno.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/objects/object_errors.h"
#include "common/objects/object_plugin.h"
#include "common/sync/mutex.h"
#include "common/time/retry.h"

namespace rekindle::common {
namespace {

constexpr double kConnectSeconds = 3;
// One request is tried again `kRequestRetries` times, within one attempt of ObjectStore. Otherwise the failure of one
// part would cause a new upload of the whole object.
constexpr int kRequestRetries = 3;
constexpr RetryPolicy kRequestPolicy = {.first_seconds = 0.05, .longest_seconds = 1};
constexpr double kGcsRetrySeconds = 10;

class JitteredRetries : public arrow::fs::S3RetryStrategy {
 public:
  bool ShouldRetry(const AWSErrorDetail& error, int64_t attempted) override {
    return error.should_retry && attempted < kRequestRetries;
  }
  int64_t CalculateDelayBeforeNextRetry(const AWSErrorDetail&, int64_t attempted) override {
    thread_local std::mt19937_64 generator{std::random_device{}()};
    const double random = std::uniform_real_distribution<double>(0, 1)(generator);
    return static_cast<int64_t>(1000 * BackoffSeconds(kRequestPolicy, static_cast<int>(attempted) + 1, random));
  }
};

// Returns whether an object is missing. GCS reports that only in the message.
bool IsAbsent(const arrow::Status& status) {
  return arrow::internal::ErrnoFromStatus(status) == ENOENT ||
         absl::StartsWith(status.message(), "No such file or directory");
}

double Seconds(arrow::fs::TimePoint time) { return std::chrono::duration<double>(time.time_since_epoch()).count(); }

class ArrowUpload : public ObjectClient::Upload {
 public:
  ArrowUpload(std::string what, std::shared_ptr<arrow::io::OutputStream> stream)
      : what_(std::move(what)), stream_(std::move(stream)) {}
  ~ArrowUpload() override {
    // The stream of an upload that is not finished is aborted, because its destructor would complete the object.
    if (!finished_ && !stream_->Abort().ok()) return;
  }

  absl::Status Write(std::vector<uint8_t> piece) override {
    return Check(stream_->Write(arrow::Buffer::FromVector(std::move(piece))));
  }
  absl::Status Finish() override {
    const absl::Status status = Check(stream_->Close());
    finished_ = status.ok();
    return status;
  }

 private:
  absl::Status Check(const arrow::Status& status) {
    return status.ok() ? absl::OkStatus() : ObjectError(what_, status.message());
  }

  const std::string what_;
  const std::shared_ptr<arrow::io::OutputStream> stream_;
  bool finished_ = false;
};

class ArrowClient : public ObjectClient {
 public:
  ArrowClient(std::shared_ptr<arrow::fs::FileSystem> fs, std::string bucket)
      : fs_(std::move(fs)), bucket_(std::move(bucket)), recursive_(fs_->type_name() == "gcs") {}

  absl::StatusOr<std::shared_ptr<Upload>> StartUpload(const std::string& key) override {
    const std::string what = "cannot write " + key;
    auto stream = fs_->OpenOutputStream(Path(key));
    if (!stream.ok()) return Error(what, stream.status());
    return std::make_shared<ArrowUpload>(what, *std::move(stream));
  }

  absl::StatusOr<std::vector<uint8_t>> Read(const std::string& key, int64_t size, int64_t offset,
                                            int64_t bytes) override {
    const std::string what = "cannot read " + key;
    arrow::fs::FileInfo info(Path(key), arrow::fs::FileType::File);
    // Arrow is given the size of the object, because otherwise it would ask the store with one more request.
    info.set_size(size);
    const auto file = fs_->OpenInputFile(info);
    if (!file.ok()) return Error(what, file.status());
    std::vector<uint8_t> piece(static_cast<size_t>(bytes));
    const auto got = (*file)->ReadAt(offset, bytes, piece.data());
    if (!got.ok()) return Error(what, got.status());
    if (*got != bytes) return absl::UnavailableError(absl::StrCat(what, ": got ", *got, " of ", bytes, " bytes"));
    return piece;
  }

  absl::StatusOr<ObjectInfo> Head(const std::string& key) override {
    const std::string what = "cannot look at " + key;
    const auto info = fs_->GetFileInfo(Path(key));
    if (!info.ok()) return Error(what, info.status());
    if (info->type() == arrow::fs::FileType::File) return Convert(*info);
    // If the store has a "folder" in place of the object, the bucket is there, and only the object is missing.
    if (info->type() == arrow::fs::FileType::Directory) return absl::NotFoundError(key + " is not in the store");
    return Absent(what, key + " is not in the store");
  }

  absl::StatusOr<std::vector<ObjectInfo>> List(const std::string& prefix) override {
    const std::string what = "cannot list " + prefix;
    arrow::fs::FileSelector selector;
    selector.base_dir = prefix.empty() ? bucket_ : Path(prefix);
    selector.recursive = recursive_;
    const auto found = fs_->GetFileInfo(selector);
    if (!found.ok() && IsAbsent(found.status())) {
      const absl::Status absent = Absent(what, "");
      if (!absl::IsNotFound(absent)) return absent;
      return std::vector<ObjectInfo>();
    }
    if (!found.ok()) return Error(what, found.status());
    std::map<std::string, ObjectInfo> all;
    for (const arrow::fs::FileInfo& info : *found) {
      const std::string name = info.path().substr(selector.base_dir.size() + 1);
      const size_t slash = name.find('/');
      ObjectInfo& object = all[name.substr(0, slash)];
      object = Convert(info);
      object.name = name.substr(0, slash);
      object.is_prefix = object.is_prefix || slash != std::string::npos;
    }
    std::vector<ObjectInfo> sorted;
    for (auto& [name, object] : all) sorted.push_back(std::move(object));
    return sorted;
  }

  absl::Status Delete(const std::string& key) override {
    const arrow::Status status = fs_->DeleteFile(Path(key));
    if (status.ok()) return absl::OkStatus();
    const absl::Status error = Error("cannot delete " + key, status);
    return absl::IsNotFound(error) ? absl::OkStatus() : error;
  }

 private:
  std::string Path(const std::string& key) const { return absl::StrCat(bucket_, "/", key); }

  static ObjectInfo Convert(const arrow::fs::FileInfo& info) {
    return {.name = info.base_name(),
            .size = info.size(),
            .modified = Seconds(info.mtime()),
            .is_prefix = info.type() == arrow::fs::FileType::Directory};
  }

  // Returns NOT_FOUND for a missing object if its bucket exists. Otherwise returns the error of the missing bucket,
  // because without the bucket nothing is known about the object.
  absl::Status Absent(const std::string& what, const std::string& message) {
    const auto bucket = fs_->GetFileInfo(bucket_);
    if (!bucket.ok() && !IsAbsent(bucket.status())) return ObjectError(what, bucket.status().message());
    if (!bucket.ok() || bucket->type() == arrow::fs::FileType::NotFound) return NoBucket(what);
    return absl::NotFoundError(message);
  }

  absl::Status Error(const std::string& what, const arrow::Status& status) {
    if (IsAbsent(status)) return Absent(what, what + ": it is not in the store");
    return ObjectError(what, status.message());
  }

  const std::shared_ptr<arrow::fs::FileSystem> fs_;
  const std::string bucket_;
  // `recursive_` says that lists are recursive. GCS needs that, because Arrow's non-recursive list of GCS leaves out
  // folders that exist only because there are objects below them.
  const bool recursive_;
};

int (*abandoned_calls)() = nullptr;

arrow::Status StartS3() {
  if (arrow::fs::IsS3Initialized()) return arrow::Status::OK();
  arrow::fs::S3GlobalOptions options = arrow::fs::S3GlobalOptions::Defaults();
  // The log of the S3 library is off, because its lines might contain secrets. Errors are returned as statuses, from
  // which secrets are removed.
  options.log_level = arrow::fs::S3LogLevel::Off;
  // Without a handler of SIGPIPE a connection that breaks would end the process.
  options.install_sigpipe_handler = true;
  ARROW_RETURN_NOT_OK(arrow::fs::InitializeS3(options));
  // FinalizeS3 waits for calls in progress, so it is not called if calls hang.
  std::atexit([] {
    if (abandoned_calls() == 0 && !arrow::fs::FinalizeS3().ok()) return;
  });
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::fs::FileSystem>> MakeS3(const ObjectUri& uri) {
  ARROW_RETURN_NOT_OK(StartS3());
  auto options = uri.anonymous ? arrow::fs::S3Options::Anonymous() : arrow::fs::S3Options::Defaults();
  options.region = uri.region;
  options.scheme = uri.scheme;
  options.endpoint_override = uri.endpoint;
  options.force_virtual_addressing = uri.virtual_addressing;
  options.connect_timeout = kConnectSeconds;
  // S3 uploads the parts of an object in parallel.
  options.background_writes = true;
  // An object that fits one part is uploaded with one request.
  options.allow_delayed_open = true;
  options.retry_strategy = std::make_shared<JitteredRetries>();
  ARROW_ASSIGN_OR_RAISE(auto fs, arrow::fs::S3FileSystem::Make(options));
  return fs;
}

arrow::Result<std::shared_ptr<arrow::fs::FileSystem>> MakeGcs(const ObjectUri& uri) {
  auto options = uri.anonymous ? arrow::fs::GcsOptions::Anonymous() : arrow::fs::GcsOptions::Defaults();
  options.scheme = uri.scheme;
  options.endpoint_override = uri.endpoint;
  options.retry_limit_seconds = kGcsRetrySeconds;
  ARROW_ASSIGN_OR_RAISE(auto fs, arrow::fs::GcsFileSystem::Make(options));
  return fs;
}

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

arrow::Result<std::shared_ptr<arrow::fs::FileSystem>> MakeAzure(const ObjectUri& uri) {
  arrow::fs::AzureOptions options;
  options.account_name = uri.account;
  if (!uri.endpoint.empty()) options.blob_storage_authority = options.dfs_storage_authority = uri.endpoint;
  options.blob_storage_scheme = options.dfs_storage_scheme = uri.scheme;
  // Azure's own tools read AZURE_STORAGE_KEY and AZURE_STORAGE_SAS_TOKEN, but the credential chain of the SDK knows
  // neither. So these variables are read here.
  const std::string key = Environment("AZURE_STORAGE_KEY"), token = Environment("AZURE_STORAGE_SAS_TOKEN");
  if (uri.anonymous) {
    ARROW_RETURN_NOT_OK(options.ConfigureAnonymousCredential());
  } else if (!key.empty()) {
    ARROW_RETURN_NOT_OK(options.ConfigureAccountKeyCredential(key));
  } else if (!token.empty()) {
    ARROW_RETURN_NOT_OK(options.ConfigureSASCredential(token));
  } else {
    ARROW_RETURN_NOT_OK(options.ConfigureDefaultCredential());
  }
  ARROW_ASSIGN_OR_RAISE(auto fs, arrow::fs::AzureFileSystem::Make(options));
  return fs;
}

absl::StatusOr<std::shared_ptr<ObjectClient>> Open(const ObjectUri& uri, int (*abandoned)()) {
  // Arrow requires that its caller initializes S3 only once.
  static Mutex mutex;
  const MutexLock lock(mutex);
  abandoned_calls = abandoned;
  arrow::Result<std::shared_ptr<arrow::fs::FileSystem>> fs = arrow::Status::Invalid("a folder is no bucket");
  if (uri.kind == ObjectUri::Kind::kS3) fs = MakeS3(uri);
  if (uri.kind == ObjectUri::Kind::kGcs) fs = MakeGcs(uri);
  if (uri.kind == ObjectUri::Kind::kAzure) fs = MakeAzure(uri);
  if (!fs.ok()) return ObjectError("cannot open the store", fs.status().message());
  return std::make_shared<ArrowClient>(*std::move(fs), uri.bucket);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const ObjectPlugin RekindleObjectPlugin;
const ObjectPlugin RekindleObjectPlugin = {kObjectPluginVersion, Open};

}  // namespace rekindle::common
