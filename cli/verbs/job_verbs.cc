// Implements the verbs get, cancel, adopt, resume and rm. The verb jobs is in list/, submit and validate are in
// submit/, and pause is in pause_verb.cc.
#include <iostream>
#include <memory>

#include "cli/shared/context.h"
#include "cli/shared/jobs.h"
#include "cli/submit/job_file_verbs.h"
#include "cli/submit/submit.h"
#include "cli/text/safe_text.h"
#include "common/spec/flag_values.h"

namespace rekindle::cli {
namespace {

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

// Adds a verb that changes a job. `request` has the values of its flags.
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
  AddSubmitVerb(app, context);
  AddValidateVerb(app, context);
  AddGet(app, context);
  AddRm(app, context);
  using Stub = v1::Coordinator::StubInterface;
  auto cancel = std::make_shared<v1::JobRequest>();
  AddChange(app, context, "cancel", "End a job for good", &Stub::CancelJob, cancel)
      ->add_flag_callback(
          "--discard", [cancel] { cancel->set_discard(true); },
          "Also one whose steps are all made and whose final state could not be saved: gives that up");
  AddChange(app, context, "adopt", "Take over a job that is FOUND: its trainers run, and there is no record of it",
            &Stub::AdoptJob);
  auto resume = std::make_shared<v1::JobRequest>();
  CLI::App* verb =
      AddChange(app, context, "resume",
                "Go on with a job that is paused or has failed, or one that waits for a checkpoint or its final save",
                &Stub::ResumeJob, resume);
  verb->add_option_function<double>(
          "--budget", [resume](double budget) { resume->set_budget(budget); },
          "What the job may cost in all from now on, paused or not")
      ->check(common::NumberAbove(0));
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
