// Holds the options of a checkpoint client: which service and store it uses, for whom, and how long it waits.
#ifndef REKINDLE_CHECKPOINT_CLIENT_CLIENT_OPTIONS_H_
#define REKINDLE_CHECKPOINT_CLIENT_CLIENT_OPTIONS_H_

#include <string>

namespace rekindle::checkpoint {

struct ClientOptions {
  // `socket` is the path of the service's socket, <node dir>/checkpoint.sock.
  std::string socket;
  // `store` is the URI of the checkpoint store: a folder or a bucket (common/objects/object_uri.h).
  std::string store;
  // `archive_store` is the cold store, or empty if there is no archive. If the archive has a checkpoint of the job,
  // FindNewest fails rather than find nothing.
  std::string archive_store;
  std::string job_uid;
  // `trainer` is the trainer that uses the client. The manifests that the client commits name this trainer as their
  // writer.
  std::string trainer;
  // `bundle` is the address of the bundle with the job's code (common/bundle/bundle.h). The service puts it into the
  // store with the checkpoints. It is empty if the job has none.
  std::string bundle;
  // A call waits for `patience_seconds` for the service to come back.
  double patience_seconds = 10;
  // One shard has `commit_seconds` to become durable or to be restored.
  double commit_seconds = 300;
  // If `allow_nonfinite` is set, states with NaN or infinities are saved.
  bool allow_nonfinite = false;
  // If `exact_only` is set, FindNewest skips checkpoints from which not every bit can be restored.
  bool exact_only = false;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_CLIENT_CLIENT_OPTIONS_H_
