// submit, validate, jobs, get, cancel, pause, resume, rm.
#include <iostream>
#include <memory>

#include "cli/context.h"
#include "cli/estimate.h"
#include "cli/jobs.h"
#include "cli/submit.h"
#include "cli/text.h"

namespace rekindle::cli {
namespace {

void AddSubmit(CLI::App& app, Context& context) {
  struct Flags {
    std::string file;
    bool wait = false;
    EstimateFlags estimate;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("submit", "Submit a job file; prints the job with its resolved spec");
  verb->add_option("JOB.yaml", flags->file, "Job file: YAML or JSON (docs/jobs.md)")->required();
  verb->add_flag("--wait", flags->wait, "Show progress until the job has ended; exit 0 only if it succeeded");
  AddEstimateFlags(verb, &flags->estimate);
  context.OnRun(verb, [flags, &context]() -> absl::Status {
    auto job = ReadJobFile(flags->file);
    if (!job.ok()) return job.status();
    if (absl::Status status = PrepareWeights(context, &*job); !status.ok()) return status;
    if (flags->estimate.wanted) {
      const auto go_on = EstimateAndAsk(context, *job, flags->file, flags->estimate);
      if (!go_on.ok() || !*go_on) return go_on.status();
    }
    return SubmitJob(context, *job, flags->wait);
  });
}

void AddValidate(CLI::App& app, Context& context) {
  auto file = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("validate", "Check a job file and print it with every default filled in");
  verb->add_option("JOB.yaml", *file, "Job file")->required();
  context.OnRun(verb, [file, &context]() -> absl::Status {
    auto job = ReadJobFile(*file);
    if (!job.ok()) return job.status();
    if (absl::Status status = PrepareWeights(context, &*job); !status.ok()) return status;
    v1::ValidateJobRequest request;
    *request.mutable_job() = *std::move(job);
    v1::Job resolved;
    absl::Status status = context.Call(&v1::Coordinator::StubInterface::ValidateJob, request, &resolved);
    if (!status.ok()) return status;
    std::cout << ToJson(resolved) << "\n";
    return absl::OkStatus();
  });
}

void AddJobs(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("jobs", "List jobs");
  context.OnRun(verb, [&context]() -> absl::Status {
    const absl::StatusOr<v1::ListJobsReply> all = ListAllJobs(context);
    if (!all.ok()) return all.status();
    if (context.json()) {
      std::cout << ToJson(*all) << "\n";
      return absl::OkStatus();
    }
    std::vector<std::vector<std::string>> rows = {{"NAME", "STATE", "STEP", "LOSS", "MEMBERS", "GENERATION", "REASON"}};
    for (const v1::Job& job : all->jobs()) {
      const v1::JobStatus& s = job.status();
      rows.push_back({job.name(), StateName(s.state()),
                      std::to_string(s.step()) + "/" + std::to_string(s.resolved_spec().training().steps()),
                      s.step() > 0 ? Fixed(s.loss(), 4) : "-", std::to_string(s.members_size()),
                      std::to_string(s.generation()), Printable(s.reason())});
    }
    std::cout << Table(rows);
    return absl::OkStatus();
  });
}

void AddGet(CLI::App& app, Context& context) {
  auto name = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("get", "Show one job");
  verb->add_option("JOB", *name, "Name or uid")->required();
  context.OnRun(verb, [name, &context]() -> absl::Status {
    const absl::StatusOr<v1::Job> job = FindJob(context, *name);
    if (job.ok()) PrintJob(context, *job);
    return job.status();
  });
}

using JobMethod = grpc::Status (v1::Coordinator::StubInterface::*)(grpc::ClientContext*, const v1::JobRequest&,
                                                                   v1::Job*);

// `request` carries what its flags say.
CLI::App* AddChange(CLI::App& app, Context& context, const char* name, const char* help, JobMethod method,
                    const std::shared_ptr<v1::JobRequest>& request = std::make_shared<v1::JobRequest>()) {
  auto job_name = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand(name, help);
  verb->add_option("JOB", *job_name, "Name or uid")->required();
  context.OnRun(verb, [job_name, method, request, &context]() -> absl::Status {
    request->set_job(*job_name);
    request->set_request_id(NewRequestId());
    v1::Job job;
    absl::Status status = context.Call(method, *request, &job);
    if (status.ok()) PrintJob(context, job);
    return status;
  });
  return verb;
}

void AddRm(CLI::App& app, Context& context) {
  auto name = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("rm", "Forget a job that is over; its checkpoints stay in their store");
  verb->add_option("JOB", *name, "Name or uid")->required();
  context.OnRun(verb, [name, &context]() -> absl::Status {
    v1::JobRequest request;
    request.set_job(*name);
    request.set_request_id(NewRequestId());
    v1::ForgetJobReply reply;
    absl::Status status = context.Call(&v1::Coordinator::StubInterface::ForgetJob, request, &reply);
    if (!status.ok()) return status;
    if (context.json()) {
      std::cout << ToJson(reply) << "\n";
      return absl::OkStatus();
    }
    std::cout << "job " << reply.job().name() << " is forgotten; "
              << (reply.checkpoints().empty() ? "it kept no checkpoints"
                                              : "its checkpoints stay in " + Printable(reply.checkpoints()))
              << "\n";
    return absl::OkStatus();
  });
}

}  // namespace

void AddJobVerbs(CLI::App& app, Context& context) {
  AddSubmit(app, context);
  AddValidate(app, context);
  AddJobs(app, context);
  AddGet(app, context);
  AddRm(app, context);
  using Stub = v1::Coordinator::StubInterface;
  auto cancel = std::make_shared<v1::JobRequest>();
  AddChange(app, context, "cancel", "End a job for good", &Stub::CancelJob, cancel)
      ->add_flag_callback(
          "--discard", [cancel] { cancel->set_discard(true); },
          "Also one whose steps are all made and whose final state could not be saved: gives that up");
  AddChange(app, context, "pause", "Stop a job at the next step boundary; nothing is lost", &Stub::PauseJob);
  AddChange(app, context, "adopt", "Take over a job that is FOUND: its trainers run, and there is no record of it",
            &Stub::AdoptJob);
  auto resume = std::make_shared<v1::JobRequest>();
  CLI::App* verb =
      AddChange(app, context, "resume", "Go on with a paused job, or one that waits for a checkpoint or its final save",
                &Stub::ResumeJob, resume);
  verb->add_option_function<double>(
          "--budget", [resume](double budget) { resume->set_budget(budget); },
          "What the job may cost in all from now on, paused or not")
      ->check(CLI::PositiveNumber);
  verb->add_option_function<std::string>(
      "--from", [resume](const std::string& from) { resume->set_from(from); },
      "Go on from this checkpoint, or from `scratch`, although there may be newer state");
  verb->add_flag_callback(
      "--yes", [resume] { resume->set_confirmed(true); }, "With --from: steps may be given up");
  verb->add_option_function<std::string>(
      "--store", [resume](const std::string& store) { resume->set_store(store); },
      "Where the final checkpoint goes, of a job whose final state could not be saved");
  verb->add_flag_callback(
      "--old-is-gone", [resume] { resume->set_old_is_gone(true); },
      "Of a job that `recover` brought back: none of its trainers of before runs any more");
}

}  // namespace rekindle::cli
