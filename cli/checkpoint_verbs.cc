// checkpoint ls, checkpoint verify.
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "checkpoint/inspect.h"
#include "cli/context.h"
#include "cli/text.h"

namespace rekindle::cli {
namespace {

struct Place {
  std::string store;
  std::string uid;
};

absl::StatusOr<Place> PlaceOf(Context& context, const std::string& job_name) {
  v1::GetJobRequest request;
  request.set_job(job_name);
  v1::Job job;
  absl::Status status = context.Call(&v1::Coordinator::StubInterface::GetJob, request, &job);
  if (!status.ok()) return status;
  const std::string& store = job.status().resolved_spec().checkpoint().store();
  if (store.empty()) return absl::FailedPreconditionError("job " + job.name() + " has no checkpoint store");
  return Place{store, job.uid()};
}

void AddList(CLI::App& parent, Context& context) {
  auto name = std::make_shared<std::string>();
  CLI::App* verb = parent.add_subcommand("ls", "List a job's checkpoints, newest first");
  verb->add_option("JOB", *name, "Name or uid")->required();
  context.OnRun(verb, [name, &context]() -> absl::Status {
    const auto place = PlaceOf(context, *name);
    if (!place.ok()) return place.status();
    const auto found = checkpoint::ListCheckpoints(place->store, place->uid);
    if (!found.ok()) return found.status();
    if (context.json()) {
      nlohmann::ordered_json all = nlohmann::json::array();
      for (const checkpoint::CheckpointInfo& c : *found) {
        all.push_back({{"name", c.name},
                       {"generation", c.generation},
                       {"step", c.step},
                       {"writer", c.writer},
                       {"shards", c.shards},
                       {"bytes", static_cast<double>(c.bytes)},
                       {"written", c.written},
                       {"problem", c.problem}});
      }
      std::cout << nlohmann::ordered_json{{"store", place->store}, {"checkpoints", all}}.dump(1) << "\n";
      return absl::OkStatus();
    }
    std::vector<std::vector<std::string>> rows = {{"CHECKPOINT", "STEP", "SHARDS", "BYTES", "WRITTEN", "PROBLEM"}};
    for (const checkpoint::CheckpointInfo& c : *found) {
      rows.push_back({c.name, std::to_string(c.step), std::to_string(c.shards), Short(static_cast<double>(c.bytes)),
                      LocalTime(c.written), c.problem.empty() ? "-" : Printable(c.problem)});
    }
    std::cout << Table(rows);
    return absl::OkStatus();
  });
}

// Reads every byte of one checkpoint; draws progress on a terminal.
absl::Status VerifyOne(const Context& context, const Place& place, const std::string& name) {
  const bool draw = !context.json() && isatty(STDERR_FILENO);
  const absl::Status status =
      checkpoint::VerifyCheckpoint(place.store, place.uid, name, [&](int64_t done, int64_t all) {
        if (draw) {
          std::fprintf(stderr, "\r%s  %s", Bar(static_cast<double>(done), static_cast<double>(all), 30).c_str(),
                       name.c_str());
        }
      });
  if (draw) std::fprintf(stderr, "\r\033[2K");
  return status;
}

void AddVerify(CLI::App& parent, Context& context) {
  struct Flags {
    std::string job;
    std::string checkpoint;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = parent.add_subcommand("verify", "Read every byte of a job's checkpoints and say which are whole");
  verb->add_option("JOB", flags->job, "Name or uid")->required();
  verb->add_option("CHECKPOINT", flags->checkpoint, "Only this one");
  context.OnRun(verb, [flags, &context]() -> absl::Status {
    const auto place = PlaceOf(context, flags->job);
    if (!place.ok()) return place.status();
    std::vector<std::string> names = {flags->checkpoint};
    if (flags->checkpoint.empty()) {
      const auto found = checkpoint::ListCheckpoints(place->store, place->uid);
      if (!found.ok()) return found.status();
      names.clear();
      for (const checkpoint::CheckpointInfo& c : *found) names.push_back(c.name);
    }
    nlohmann::ordered_json all = nlohmann::json::array();
    int broken = 0;
    for (const std::string& name : names) {
      const absl::Status status = VerifyOne(context, *place, name);
      broken += status.ok() ? 0 : 1;
      const std::string problem(status.message());
      all.push_back({{"name", name}, {"whole", status.ok()}, {"problem", problem}});
      if (!context.json()) std::cout << name << "  " << (status.ok() ? "whole" : Printable(problem)) << "\n";
    }
    if (context.json()) std::cout << nlohmann::ordered_json{{"checkpoints", all}}.dump(1) << "\n";
    if (broken == 0) return absl::OkStatus();
    return absl::DataLossError(std::to_string(broken) + " of " + std::to_string(names.size()) +
                               " checkpoints are not whole; a restore passes over them");
  });
}

}  // namespace

void AddCheckpointVerbs(CLI::App& app, Context& context) {
  CLI::App* parent = app.add_subcommand("checkpoint", "Look at a job's checkpoints");
  parent->require_subcommand(1);
  parent->fallthrough();
  AddList(*parent, context);
  AddVerify(*parent, context);
}

}  // namespace rekindle::cli
