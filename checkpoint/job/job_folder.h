// Says where each file of a job lies in a store:
//
//   <root>/<job uid>/shards/<xxh3-128>.safetensors            job_shards.h
//   <root>/<job uid>/manifests/<checkpoint>.json              job_manifests.h
//   <root>/<job uid>/job.json                                 stored_job_file.h
//   <root>/<job uid>/bundle-<address>                         store/stored_bundle.h
//   <root>/<job uid>/generations/<number>                     generation_marks.h
//   <root>/<job uid>/pins/<checkpoint>                        pins.h
//   <root>/<job uid>/removed/<checkpoint>.json                a copy while a collection decides, sweep.h
//   <root>/<job uid>/condemned/<unique>                       condemned_shards.h
//
// A checkpoint's name is <generation>-<step>-<writer>. In a folder, a file that is unfinished has ".tmp-..." behind its
// name. Such a file is never read, and is collected after the grace period. In a bucket, the time of an object
// <shard>.used says when that shard was put again.
#ifndef REKINDLE_CHECKPOINT_JOB_JOB_FOLDER_H_
#define REKINDLE_CHECKPOINT_JOB_JOB_FOLDER_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "checkpoint/backends/store_backend.h"

namespace rekindle::checkpoint {

// Names the folder of one job and the files in it, without touching any. The class is a value, and as thread-safe as
// its backend.
class JobFolder {
 public:
  // The name of a bundle's file is `kBundlePrefix` and the bundle's address.
  static constexpr char kBundlePrefix[] = "bundle-";

  // `backend` is the backend of the store. It must outlive the JobFolder and the copies of the JobFolder.
  JobFolder(StoreBackend& backend, std::string job_uid) : backend_(&backend), uid_(std::move(job_uid)) {}

  StoreBackend& backend() const { return *backend_; }
  const std::string& uid() const { return uid_; }

  // Check and CheckUid return INVALID_ARGUMENT unless the job's uid is a safe name. It has to be checked before it
  // becomes a path, so that nothing outside of the root is ever touched. The error of `CheckUid` also says which names
  // are safe.
  absl::Status Check() const;
  absl::Status CheckUid() const;

  std::string Shards() const { return uid_ + "/shards"; }
  std::string Manifests() const { return uid_ + "/manifests"; }
  std::string JobFile() const { return uid_ + "/job.json"; }
  // `address` is the address of a bundle.
  std::string Bundle(const std::string& address) const { return uid_ + "/" + kBundlePrefix + address; }
  std::string Generations() const { return uid_ + "/generations"; }
  std::string Pins() const { return uid_ + "/pins"; }
  std::string Removed() const { return uid_ + "/removed"; }
  std::string Condemned() const { return uid_ + "/condemned"; }

  // `name` is the name of a checkpoint.
  std::string Manifest(const std::string& name) const { return Manifests() + "/" + name + kManifestSuffix; }
  std::string Removed(const std::string& name) const { return Removed() + "/" + name + kManifestSuffix; }
  std::string Pin(const std::string& name) const { return Pins() + "/" + name; }
  // `file` is the name of a shard's file.
  std::string Shard(const std::string& file) const { return Shards() + "/" + file; }
  // Returns the name of the checkpoint whose manifest is the file `manifest_file`, or "" if no manifest has such a file
  // name.
  static std::string CheckpointOf(const std::string& manifest_file);

 private:
  static constexpr char kManifestSuffix[] = ".json";

  StoreBackend* backend_;
  std::string uid_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_JOB_JOB_FOLDER_H_
