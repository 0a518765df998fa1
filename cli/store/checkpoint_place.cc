#include "cli/store/checkpoint_place.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "checkpoint/store/store_opener.h"
#include "checkpoint/wire/convert.h"
#include "cli/text/bar.h"
#include "cli/text/terminal_columns.h"
#include "cli/watch/terminal.h"
#include "common/files/file.h"

namespace rekindle::cli {
namespace {

constexpr int kBarCells = 30;

absl::StatusOr<Place> PlaceOfJob(Context& context, const std::string& name) {
  v1::GetJobRequest request;
  request.set_job(name);
  v1::Job job;
  absl::Status status = context.Call(&v1::Coordinator::StubInterface::GetJob, request, &job);
  if (!status.ok()) return status;
  const auto& spec = job.status().resolved_spec().checkpoint();
  const bool elsewhere = job.status().state() == v1::SUCCEEDED && !job.status().final_store().empty();
  const std::string& store = elsewhere ? job.status().final_store() : spec.store();
  if (store.empty()) return absl::FailedPreconditionError("job " + job.name() + " has no checkpoint store");
  auto retention = checkpoint::RetentionOf(spec);
  if (!retention.ok()) return retention.status();
  return Place{.job = job.name(), .store = store, .uid = job.uid(), .retention = *std::move(retention)};
}

}  // namespace

std::shared_ptr<PlaceFlags> AddPlace(CLI::App* verb, const std::string& usage) {
  auto flags = std::make_shared<PlaceFlags>();
  verb->add_option("JOB", flags->args, "JOB is a name or uid, and left out with --store")->option_text(usage);
  auto* store = verb->add_option("--store", flags->store, "Work on this store, without a coordinator");
  auto* uid = verb->add_option("--job-uid", flags->job_uid, "Whose checkpoints, with --store");
  store->needs(uid);
  uid->needs(store);
  return flags;
}

absl::StatusOr<Place> PlaceOf(Context& context, const PlaceFlags& flags, size_t least, size_t most) {
  const bool has_job = flags.store.empty();
  const size_t given = flags.args.size() - (has_job && !flags.args.empty() ? 1 : 0);
  if (has_job && flags.args.empty()) throw CLI::ValidationError("JOB", "is missing: name a job, or use --store");
  if (given < least) throw CLI::ValidationError("too few arguments are given");
  if (given > most) throw CLI::ValidationError("too many arguments are given");
  absl::StatusOr<Place> place = Place{.job = flags.job_uid, .store = flags.store, .uid = flags.job_uid};
  if (has_job) place = PlaceOfJob(context, flags.args.front());
  if (place.ok()) place->args.assign(flags.args.begin() + (has_job ? 1 : 0), flags.args.end());
  return place;
}

absl::StatusOr<checkpoint::Store> OpenStore(const std::string& uri) {
  static auto* opener = new checkpoint::StoreOpener(*common::PosixFileSystem());
  return opener->Open(uri);
}

absl::StatusOr<std::string> NewestOf(checkpoint::Store& store, const Place& place) {
  const auto all = store.List(place.uid);
  if (!all.ok()) return all.status();
  for (const checkpoint::StoredCheckpoint& checkpoint : *all) {
    if (checkpoint.problem.empty()) return checkpoint.name;
    if (checkpoint.of_newer_release) {
      return absl::FailedPreconditionError(checkpoint.name + ": " + checkpoint.problem);
    }
  }
  return absl::NotFoundError("job " + place.job + " has no whole checkpoint in its store");
}

ProgressBar::ProgressBar(const Context& context, std::string label)
    : draws_(!context.json() && Terminal(STDERR_FILENO).CanRedraw()), label_(std::move(label)) {}

ProgressBar::~ProgressBar() {
  if (draws_) std::fprintf(stderr, "\r\033[2K");
}

void ProgressBar::Show(int64_t done, int64_t total) {
  if (!draws_) return;
  const std::string bar = Bar(static_cast<double>(done), static_cast<double>(total), kBarCells);
  const int columns = Terminal(STDERR_FILENO).Size().columns - 1;
  std::fprintf(stderr, "\r%s", CutTo(bar + "  " + label_, columns).c_str());
}

}  // namespace rekindle::cli
