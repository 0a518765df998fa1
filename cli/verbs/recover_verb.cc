// Implements the verb recover.
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/shared/context.h"
#include "cli/store/checkpoint_place.h"
#include "cli/text/job_costs.h"
#include "cli/text/job_text.h"
#include "cli/text/number_text.h"
#include "cli/text/plain_table.h"
#include "cli/text/safe_text.h"
#include "cli/verbs/restored_folder.h"
#include "common/time/clock.h"
#include "coordinator/restoring/recover.h"

namespace rekindle::cli {
namespace {

using Json = nlohmann::ordered_json;

struct RecoverFlags {
  std::vector<std::string> stores;
  // If `data` is empty, only the table of the jobs that were found is printed.
  std::string data;
  std::vector<std::string> run;
  coordinator::RecoverOptions options;
};

std::string Age(double seconds) {
  if (seconds < 120) return Fixed(seconds, 0) + " s";
  if (seconds < 2 * 3600) return Fixed(seconds / 60, 0) + " min";
  if (seconds < 48 * 3600) return Fixed(seconds / 3600, 0) + " h";
  return Fixed(seconds / 86400, 0) + " days";
}

std::string StepOf(const coordinator::StoredJob& job) { return job.step < 0 ? "-" : std::to_string(job.step); }

std::string SpentOf(const v1::Cost& cost) {
  std::string text = Money(cost.spent(), cost);
  if (cost.estimated() > 0) text += ", " + Fixed(cost.estimated(), 2) + " of it estimated";
  return text;
}

void PrintTable(const coordinator::Recovered& recovered, double unix_now) {
  std::vector<std::vector<std::string>> rows = {{"NAME", "UID", "STATE", "CHECKPOINT", "RECORD", "SPENT", "REASON"}};
  for (const coordinator::RecoveredJob& job : recovered.jobs) {
    const v1::JobStatus& status = job.record.job().status();
    rows.push_back({Printable(job.record.job().name()), Printable(job.stored.uid), StateName(status.state()),
                    StepOf(job.stored), Age(unix_now - job.stored.file.written_at()) + " old", SpentOf(status.cost()),
                    Printable(status.reason())});
  }
  for (const coordinator::StoredJob& job : recovered.left) {
    rows.push_back({Printable(job.file.record().job().name()), Printable(job.uid), "-", StepOf(job), "-", "-",
                    "not brought back: " + Printable(std::string(job.problem.message()))});
  }
  std::cout << Table(rows);
}

void PrintJson(const coordinator::Recovered& recovered, const std::string& data, double unix_now) {
  Json jobs = Json::array(), left = Json::array();
  for (const coordinator::RecoveredJob& job : recovered.jobs) {
    const v1::JobStatus& status = job.record.job().status();
    jobs.push_back({{"name", job.record.job().name()},
                    {"uid", job.stored.uid},
                    {"store", job.stored.store},
                    {"state", StateName(status.state())},
                    {"over", job.stored.file.over()},
                    {"awaits_trainers", job.record.has_recovered()},
                    {"checkpoint_step", job.stored.step},
                    {"record_age_seconds", unix_now - job.stored.file.written_at()},
                    {"spent", status.cost().spent()},
                    {"estimated", status.cost().estimated()},
                    {"currency", status.cost().currency()}});
  }
  for (const coordinator::StoredJob& job : recovered.left) {
    left.push_back({{"uid", job.uid}, {"store", job.store}, {"problem", std::string(job.problem.message())}});
  }
  std::cout << Json{{"cluster", recovered.identity.cluster},
                    {"epoch", recovered.identity.epoch},
                    {"data", data},
                    {"jobs", jobs},
                    {"left", left}}
                   .dump(1, ' ', false, Json::error_handler_t::replace)
            << "\n";
}

void PrintNext(const std::string& data) {
  std::cout
      << HowToStartOn(data)
      << "Trainers that live are taken over and go on, paused or not; `rekindle jobs` then shows which. Not brought "
         "back: events, jobs\nwithout a checkpoint, and what providers were asked for (their pools' sizes are "
         "taken as they are).\n";
}

using Stores = std::map<std::string, checkpoint::Store>;

// Returns what the stores that `flags` names hold of jobs, and opens them into `stores`, by URI.
absl::StatusOr<std::vector<coordinator::StoredJob>> ReadStores(Context& context, const RecoverFlags& flags,
                                                               Stores& stores) {
  std::vector<coordinator::StoredJob> all;
  for (const std::string& uri : flags.stores) {
    auto store = OpenStore(uri);
    if (!store.ok()) return store.status();
    if (!context.json()) std::cerr << "reading the jobs of " << uri << " ...\n";
    auto jobs = coordinator::ReadStoredJobs(*store, uri);
    if (!jobs.ok()) return jobs.status();
    if (jobs->empty() && !flags.data.empty()) {
      return absl::NotFoundError("store " + uri +
                                 " has no job: give the URI that jobs have as spec.checkpoint.store, and "
                                 "see to it that it is mounted, or leave it out");
    }
    if (!context.json())
      std::cout << "store " << uri << ": " << jobs->size() << (jobs->size() == 1 ? " job\n" : " jobs\n");
    for (coordinator::StoredJob& job : *jobs) all.push_back(std::move(job));
    stores.emplace(uri, *std::move(store));
  }
  return all;
}

// Returns the bundle of that address, from the job's own store, or from another: a bundle's name says what is in it, so
// one of another store is as good.
absl::StatusOr<std::string> ReadBundleOfAny(Stores& stores, const coordinator::StoredJob& job,
                                            const std::string& address) {
  absl::StatusOr<std::string> packed = stores.at(job.store).ReadBundle(job.uid, address);
  for (auto& [uri, store] : stores) {
    if (packed.ok() || uri == job.store) continue;
    absl::StatusOr<std::string> other = store.ReadBundle(job.uid, address);
    if (other.ok()) packed = std::move(other);
  }
  return packed;
}

// Makes the data folder, says which jobs are without their code, and returns the folder's path.
absl::StatusOr<std::string> MakeData(const coordinator::Recovered& recovered, const std::string& folder,
                                     Stores& stores) {
  std::map<std::string, absl::Status> without_code;
  const auto made = coordinator::MakeRecovered(
      recovered, folder,
      [&](const coordinator::StoredJob& job, const std::string& address) {
        return ReadBundleOfAny(stores, job, address);
      },
      &without_code);
  if (!made.ok()) return made.status();
  for (const auto& [uid, why] : without_code) {
    std::cerr << "job " << Printable(uid) << " is without its code, so only nodes that have it already can run it: "
              << Printable(std::string(why.message())) << "\n";
  }
  return *made;
}

absl::Status Recover(Context& context, const RecoverFlags& flags) {
  Stores stores;
  auto all = ReadStores(context, flags, stores);
  if (!all.ok()) return all.status();
  coordinator::RecoverOptions options = flags.options;
  options.run = {flags.run.begin(), flags.run.end()};
  options.unix_now = common::WallSeconds();
  const auto recovered = coordinator::PlanRecovery(coordinator::NewestOfEach(*std::move(all)), options);
  if (!recovered.ok()) return recovered.status();
  std::string data;
  if (!flags.data.empty()) {
    auto made = MakeData(*recovered, flags.data, stores);
    if (!made.ok()) return made.status();
    data = *std::move(made);
  }
  if (context.json()) {
    PrintJson(*recovered, data, options.unix_now);
    return absl::OkStatus();
  }
  PrintTable(*recovered, options.unix_now);
  if (data.empty()) {
    std::cout << "nothing was made: --data DIR makes a coordinator's data folder with these jobs\n";
  } else {
    std::cout << "cluster " << recovered->identity.cluster << " in epoch " << recovered->identity.epoch << " is in "
              << data << "\n";
    PrintNext(data);
  }
  return absl::OkStatus();
}

}  // namespace

void AddRecoverVerb(CLI::App& app, Context& context) {
  auto flags = std::make_shared<RecoverFlags>();
  CLI::App* verb = app.add_subcommand(
      "recover", "Make a coordinator's data folder from checkpoint stores, where nothing else is left of it");
  verb->footer(
      "Without --data it only shows what is there. Jobs that are not over come back PAUSED; their trainers, where they "
      "live, are taken over. Asks no coordinator. With a backup `rekindle restore` brings more back.");
  verb->add_option("--store", flags->stores, "Where checkpoints are; may be given several times")->required();
  verb->add_option("--data", flags->data, "The folder to make; it must be empty, or not be there")->type_name("DIR");
  verb->add_option("--cluster", flags->options.cluster, "Of which cluster, where the stores serve several");
  auto* run = verb->add_option("--run", flags->run, "Names or uids of jobs that go on at once; needs --old-is-gone");
  verb->add_flag("--all", flags->options.run_all, "All jobs go on at once; needs --old-is-gone")->excludes(run);
  verb->add_flag("--old-is-gone", flags->options.old_is_gone, "No trainer of these jobs runs any more, anywhere");
  context.OnRun(verb, [flags, &context] { return Recover(context, *flags); });
}

}  // namespace rekindle::cli
