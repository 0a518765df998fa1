// Implements the verb pause.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>
#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "cli/shared/context.h"
#include "cli/shared/jobs.h"
#include "cli/submit/submit.h"
#include "cli/text/job_text.h"
#include "cli/text/number_text.h"
#include "cli/text/safe_text.h"
#include "common/spec/flag_values.h"
#include "common/time/clock.h"

namespace rekindle::cli {
namespace {

// While the coordinator is away, the verb calls it again every `kRetry`.
constexpr auto kRetry = std::chrono::milliseconds(200);

struct PauseFlags {
  std::string job;
  bool wait = false;
  double timeout = 600;
};

std::string Step(const v1::Job& job) {
  return absl::StrCat("step ", job.status().step(), " of ", job.status().resolved_spec().training().steps());
}

std::string Stopped(const v1::Job& job) {
  const v1::JobStatus& status = job.status();
  std::string text = absl::StrCat("job ", job.name(), " is paused at ", Step(job));
  if (status.checkpoint_step() >= 0)
    absl::StrAppend(&text, "; its newest checkpoint is of step ", status.checkpoint_step());
  return absl::StrCat(text, "\n`rekindle resume ", job.name(), "` lets it go on\n");
}

// Describes the coordinator's answer to a pause: the job runs until the end of its step.
std::string Taken(const v1::Job& job) {
  if (job.status().state() == v1::PAUSED) return Stopped(job);
  const bool saves = !job.status().resolved_spec().checkpoint().store().empty();
  return absl::StrCat("the pause of job ", job.name(), " is taken: it stops at the end of a step",
                      saves ? ", with a checkpoint" : "", " (", Step(job), ")\n`rekindle pause ", job.name(),
                      " --wait` waits for that\n");
}

// Shows the progress of a pause on one line, which is drawn again on a terminal. Elsewhere it prints only the first
// line.
class Progress {
 public:
  explicit Progress(const Context& context) : silent_(context.json()), terminal_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (!silent_ && terminal_ && shown_) std::cerr << "\r\033[2K" << std::flush;
  }

  void Show(const std::string& text) {
    if (silent_ || (shown_ && !terminal_)) return;
    std::cerr << (terminal_ ? "\r\033[2K" : "") << text << (terminal_ ? "" : "\n") << std::flush;
    shown_ = true;
  }

 private:
  const bool silent_;
  const bool terminal_;
  bool shown_ = false;
};

// Returns the error for a job that is over or is only writing its final checkpoint, because no pause can stop it any
// more.
absl::Status TooLate(const v1::Job& job) {
  return absl::FailedPreconditionError(absl::StrCat("job ", job.name(), " is ", StateName(job.status().state()), " at ",
                                                    Step(job), ": the pause came too late. ",
                                                    Printable(job.status().reason())));
}

bool HasStopped(const v1::Job& job) { return job.status().state() == v1::PAUSED; }
bool GoesNoFurther(const v1::Job& job) {
  return HasStopped(job) || Ended(job.status().state()) || job.status().state() == v1::FINISHING;
}

// Waits until the job stops, also over restarts of the coordinator, which keeps the request to pause.
absl::Status AwaitStop(Context& context, const PauseFlags& flags, v1::Job* job) {
  Progress progress(context);
  const double begin = common::SteadySeconds();
  const double end = flags.timeout > 0 ? begin + flags.timeout : std::numeric_limits<double>::infinity();
  v1::WatchJobRequest request;
  request.set_job(job->uid());
  while (!GoesNoFurther(*job)) {
    const double now = common::SteadySeconds();
    if (now >= end) {
      return absl::AbortedError(absl::StrCat("job ", job->name(), " has not stopped within ", Fixed(flags.timeout, 0),
                                             " s (", Step(*job), "); the pause stands, and it stops when it can"));
    }
    grpc::ClientContext call;
    // One call of WatchJob lasts an hour at most, even without a limit, because the clock cannot represent an infinite
    // deadline.
    call.set_deadline(std::chrono::system_clock::now() +
                      std::chrono::milliseconds(static_cast<int64_t>(1e3 * std::min(end - now, 3600.0))));
    const auto stream = context.coordinator().WatchJob(&call, request);
    while (!GoesNoFurther(*job) && stream->Read(job)) {
      progress.Show(absl::StrCat("job ", job->name(), " stops at the end of a step: ", Step(*job), ", ",
                                 Fixed(common::SteadySeconds() - begin, 0), " s"));
    }
    if (GoesNoFurther(*job)) call.TryCancel();
    const grpc::Status ended = stream->Finish();
    if (GoesNoFurther(*job) || ended.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) continue;
    const absl::Status status = context.Check(ended);
    if (!status.ok() && !absl::IsUnavailable(status)) return status;
    progress.Show(absl::StrCat("job ", job->name(), ": the coordinator is away"));
    std::this_thread::sleep_for(kRetry);
  }
  return absl::OkStatus();
}

absl::Status Pause(Context& context, const PauseFlags& flags) {
  v1::JobRequest request;
  request.set_job(flags.job);
  request.set_request_id(NewRequestId());
  v1::Job job;
  absl::Status status = context.Call(&v1::Coordinator::StubInterface::PauseJob, request, &job);
  if (!status.ok()) return status;
  if (flags.wait) {
    status = AwaitStop(context, flags, &job);
    if (!status.ok()) return status;
    if (!HasStopped(job)) return TooLate(job);
  }
  if (context.json()) {
    PrintJob(context, job);
  } else {
    std::cout << (flags.wait ? Stopped(job) : Taken(job));
  }
  return absl::OkStatus();
}

}  // namespace

void AddPauseVerb(CLI::App& app, Context& context) {
  auto flags = std::make_shared<PauseFlags>();
  CLI::App* verb = app.add_subcommand("pause", "Stop a job at the next step boundary; nothing is lost");
  verb->add_option("JOB", flags->job, "Name or uid")->required();
  CLI::Option* wait = verb->add_flag("--wait", flags->wait, "Until it has stopped");
  verb->add_option("--timeout", flags->timeout, "Wait so long at most, and fail then; the pause stands. 0: for ever")
      ->transform(common::Seconds())
      ->needs(wait)
      ->default_str("10m");
  context.OnRun(verb, [flags, &context] { return Pause(context, *flags); });
}

}  // namespace rekindle::cli
