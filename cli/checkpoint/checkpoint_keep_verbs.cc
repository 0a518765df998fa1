// Implements the verbs checkpoint pin, unpin, rm, gc and archive.
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "checkpoint/store/archive.h"
#include "cli/checkpoint/checkpoint_verbs.h"
#include "cli/store/checkpoint_place.h"
#include "cli/text/number_text.h"
#include "cli/text/plain_table.h"
#include "common/objects/object_uri.h"
#include "common/spec/flag_values.h"
#include "common/text/duration.h"
#include "common/time/clock.h"

namespace rekindle::cli {
namespace {

using Json = nlohmann::ordered_json;

// Prints what a verb did, as JSON or as a line for people.
void Tell(const Context& context, const Json& json, const std::string& line) {
  std::cout << (context.json() ? json.dump(1) : line) << "\n";
}

void AddPin(CLI::App& parent, Context& context) {
  CLI::App* verb = parent.add_subcommand("pin", "Keep a checkpoint, hot, until it is unpinned");
  auto flags = AddPlace(verb, "JOB CHECKPOINT");
  auto why = std::make_shared<std::string>();
  verb->add_option("--why", *why, "A reason, which `show` tells");
  context.OnRun(verb, [flags, why, &context]() -> absl::Status {
    const auto place = PlaceOf(context, *flags, 1, 1);
    if (!place.ok()) return place.status();
    auto store = OpenStore(place->store);
    if (!store.ok()) return store.status();
    const absl::Status status = store->PutPin(place->uid, place->args[0], {.why = *why, .when = common::WallSeconds()});
    if (status.ok()) Tell(context, {{"pinned", place->args[0]}}, place->args[0] + "  pinned");
    return status;
  });
}

void AddUnpin(CLI::App& parent, Context& context) {
  CLI::App* verb = parent.add_subcommand("unpin", "Let the job's rules decide about a checkpoint again");
  auto flags = AddPlace(verb, "JOB CHECKPOINT");
  context.OnRun(verb, [flags, &context]() -> absl::Status {
    const auto place = PlaceOf(context, *flags, 1, 1);
    if (!place.ok()) return place.status();
    auto store = OpenStore(place->store);
    absl::Status status = store.ok() ? store->RemovePin(place->uid, place->args[0]) : store.status();
    if (status.ok()) Tell(context, {{"unpinned", place->args[0]}}, place->args[0] + "  unpinned");
    return status;
  });
}

const char* FateName(checkpoint::Fate fate) {
  return fate == checkpoint::Fate::kKeep ? "stays" : fate == checkpoint::Fate::kArchive ? "archive" : "goes";
}

void TellCollected(const Context& context, const checkpoint::Collected& done, bool dry_run) {
  Json verdicts = Json::array();
  std::vector<std::vector<std::string>> rows = {{"CHECKPOINT", "FATE", "WHY"}};
  for (const checkpoint::Verdict& verdict : done.verdicts) {
    verdicts.push_back({{"name", verdict.name}, {"fate", FateName(verdict.fate)}, {"reason", verdict.reason}});
    rows.push_back({verdict.name, FateName(verdict.fate), verdict.reason});
  }
  const Json json = {{"dry_run", dry_run},          {"checkpoints", verdicts},
                     {"removed", done.manifests},   {"shards", done.shards},
                     {"temporary", done.temporary}, {"bytes", static_cast<double>(done.bytes)}};
  const std::string summary = std::string(dry_run ? "would remove " : "removed ") +
                              std::to_string(done.manifests.size()) + " checkpoints, " + std::to_string(done.shards) +
                              " shards, " + std::to_string(done.temporary) +
                              " unfinished files: " + Short(static_cast<double>(done.bytes)) + " bytes";
  Tell(context, json, Table(rows) + summary);
}

void AddRemove(CLI::App& parent, Context& context) {
  CLI::App* verb = parent.add_subcommand("rm", "Remove checkpoints");
  auto flags = AddPlace(verb, "JOB CHECKPOINT...");
  auto force = std::make_shared<bool>(false);
  verb->add_flag("--force", *force, "Even a pinned one, or the newest whole one");
  context.OnRun(verb, [flags, force, &context]() -> absl::Status {
    const auto place = PlaceOf(context, *flags, 1, SIZE_MAX);
    if (!place.ok()) return place.status();
    auto store = OpenStore(place->store);
    if (!store.ok()) return store.status();
    const auto removed = store->Remove(place->uid, place->args, *force, common::WallSeconds());
    if (!removed.ok()) return removed.status();
    std::string line;
    for (const std::string& name : removed->manifests) line += name + "  removed\n";
    line += std::to_string(removed->shards) + " shards, " + Short(static_cast<double>(removed->bytes)) + " bytes";
    Tell(context,
         {{"removed", removed->manifests}, {"shards", removed->shards}, {"bytes", static_cast<double>(removed->bytes)}},
         line);
    return absl::OkStatus();
  });
}

void AddCollect(CLI::App& parent, Context& context) {
  struct Flags {
    bool dry_run = false;
    int last = -1, every = -1, best = -1;
  };
  CLI::App* verb = parent.add_subcommand("gc", "Remove what the job's rules do not keep, and what a crash left behind");
  verb->footer("Safe beside a running job. Files younger than an hour that no checkpoint names are left alone.");
  auto place_flags = AddPlace(verb, "JOB");
  auto flags = std::make_shared<Flags>();
  verb->add_flag("--dry-run", flags->dry_run, "Only tell what would go, and why");
  verb->add_option("--keep-last", flags->last, "In place of the job's; 0: all")
      ->check(common::WholeNumber(0, std::numeric_limits<int>::max()));
  verb->add_option("--keep-every", flags->every, "In place of the job's; 0: none")
      ->check(common::WholeNumber(0, std::numeric_limits<int>::max()));
  verb->add_option("--keep-best", flags->best, "In place of the job's; 0: none")
      ->check(common::WholeNumber(0, std::numeric_limits<int>::max()));
  context.OnRun(verb, [place_flags, flags, &context]() -> absl::Status {
    auto place = PlaceOf(context, *place_flags, 0, 0);
    if (!place.ok()) return place.status();
    checkpoint::Retention& retention = place->retention;
    if (flags->last >= 0) retention.keep_last = flags->last;
    if (flags->every >= 0) retention.keep_every = flags->every;
    if (flags->best >= 0) retention.keep_best = flags->best;
    auto store = OpenStore(place->store);
    if (!store.ok()) return store.status();
    const auto done = store->Collect(place->uid, retention, common::WallSeconds(), {.dry_run = flags->dry_run});
    if (done.ok()) TellCollected(context, *done, flags->dry_run);
    return done.status();
  });
}

struct ArchiveFlags {
  std::string to;
  std::string after;
  bool restore = false;
  bool force = false;
};

absl::Status Copy(const Context& context, checkpoint::Store& from, checkpoint::Store& to, const Place& place,
                  const std::string& name) {
  ProgressBar bar(context, name);
  return checkpoint::CopyCheckpoint(from, to, place.uid, name, [&](int64_t done, int64_t total) {
    bar.Show(done, total);
    return true;
  });
}

absl::Status Restore(const Context& context, checkpoint::Store& hot, checkpoint::Store& cold, const Place& place) {
  std::vector<std::string> names = place.args;
  if (names.empty()) {
    const auto newest = NewestOf(cold, place);
    if (!newest.ok()) return newest.status();
    names = {*newest};
  }
  std::vector<std::string> done;
  absl::Status status;
  for (const std::string& name : names) {
    status = Copy(context, cold, hot, place, name);
    if (!status.ok()) break;
    done.push_back(name);
  }
  Tell(context, {{"restored", done}}, std::to_string(done.size()) + " restored; the archive keeps its copies");
  return status;
}

// Archives the named checkpoints now, whatever their age.
absl::Status ArchiveNamed(const Context& context, checkpoint::Store& hot, checkpoint::Store& cold, const Place& place,
                          bool force) {
  const auto pinned = hot.Pinned(place.uid);
  if (!pinned.ok()) return pinned.status();
  std::vector<std::string> done;
  absl::Status status;
  for (const std::string& name : place.args) {
    if (pinned->contains(name)) {
      status = absl::FailedPreconditionError(name + " is pinned, and so stays hot: unpin it first");
    }
    if (status.ok()) status = Copy(context, hot, cold, place, name);
    if (status.ok()) status = hot.Remove(place.uid, {name}, force, common::WallSeconds()).status();
    if (!status.ok()) break;
    done.push_back(name);
  }
  Tell(context, {{"archived", done}}, std::to_string(done.size()) + " archived");
  return status;
}

absl::Status ArchiveOld(const Context& context, checkpoint::Store& hot, checkpoint::Store& cold, const Place& place) {
  checkpoint::Retention retention = place.retention;
  // With `keep_last` 0 no retention rule removes a checkpoint, so `archive` decides by age alone. The verb `gc` applies
  // the rules.
  retention.keep_last = 0;
  ProgressBar bar(context, "archiving");
  const auto archived =
      checkpoint::ArchiveDue(hot, cold, place.uid, retention, common::WallSeconds(), [&](int64_t done, int64_t total) {
        bar.Show(done, total);
        return true;
      });
  if (!archived.ok()) return archived.status();
  std::string line;
  for (const std::string& name : archived->copied) line += name + "  archived\n";
  line += std::to_string(archived->copied.size()) + " archived after " + Fixed(retention.archive_seconds / 86400, 1) +
          " days";
  Tell(context, {{"archived", archived->copied}, {"problems", archived->problems}}, line);
  if (archived->problems.empty()) return absl::OkStatus();
  return absl::DataLossError("not archived: " + archived->problems.front());
}

void AddArchive(CLI::App& parent, Context& context) {
  CLI::App* verb =
      parent.add_subcommand("archive", "Move old checkpoints to the job's archive store, or bring one back");
  verb->footer(
      "Without CHECKPOINT: those older than checkpoint.archive_after, or with --restore the newest of the archive.\n"
      "A checkpoint leaves the store only when it is whole in the archive. Storage classes are the buckets' own "
      "rules:\n"
      "what a cloud has frozen must be thawed there before it can be brought back.");
  auto place_flags = AddPlace(verb, "JOB [CHECKPOINT...]");
  auto flags = std::make_shared<ArchiveFlags>();
  verb->add_option("--archive-store", flags->to, "In place of the job's");
  verb->add_option("--after", flags->after, "In place of the job's, as 90d");
  verb->add_flag("--restore", flags->restore, "Bring back; the archive keeps its copy");
  verb->add_flag("--force", flags->force, "Even the newest whole one");
  context.OnRun(verb, [place_flags, flags, &context]() -> absl::Status {
    auto place = PlaceOf(context, *place_flags, 0, SIZE_MAX);
    if (!place.ok()) return place.status();
    checkpoint::Retention& retention = place->retention;
    if (!flags->to.empty()) retention.archive_store = flags->to;
    if (!flags->after.empty()) {
      const auto after = common::ParseDuration(flags->after);
      if (!after.ok()) throw CLI::ValidationError("--after", std::string(after.status().message()));
      retention.archive_seconds = *after;
    }
    if (retention.archive_store.empty()) {
      return absl::FailedPreconditionError("job " + place->job + " has no archive: set checkpoint.archive_store, or " +
                                           "name one with --archive-store");
    }
    auto hot = OpenStore(place->store);
    auto cold = hot.ok() ? OpenStore(retention.archive_store) : hot.status();
    if (!cold.ok()) return cold.status();
    if (flags->restore) return Restore(context, *hot, *cold, *place);
    if (!place->args.empty()) return ArchiveNamed(context, *hot, *cold, *place, flags->force);
    return ArchiveOld(context, *hot, *cold, *place);
  });
}

}  // namespace

void AddCheckpointKeepVerbs(CLI::App& parent, Context& context) {
  AddPin(parent, context);
  AddUnpin(parent, context);
  AddRemove(parent, context);
  AddCollect(parent, context);
  AddArchive(parent, context);
}

}  // namespace rekindle::cli
