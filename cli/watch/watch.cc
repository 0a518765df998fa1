#include "cli/watch/watch.h"

#include <unistd.h>

#include <iostream>
#include <memory>

#include "cli/text/job_text.h"
#include "cli/text/safe_text.h"
#include "cli/watch/job_feed.h"
#include "cli/watch/printer.h"
#include "cli/watch/signals.h"
#include "common/time/clock.h"

namespace rekindle::cli {
namespace {

// While nothing changes, the view is shown again every `kTickSeconds` seconds.
constexpr double kTickSeconds = 0.5;

absl::Status Interrupted(const v1::Job& job) {
  if (job.uid().empty()) return InterruptedError("stopped before the coordinator had answered");
  const std::string name = Printable(job.name());
  return InterruptedError("job " + name + " goes on: `rekindle watch " + name + "` shows it again, `rekindle cancel " +
                          name + "` ends it");
}

}  // namespace

absl::Status WatchJob(Context& context, const std::string& job, v1::Job* last) {
  Signals signals;
  const Terminal terminal(STDOUT_FILENO);
  const std::unique_ptr<Printer> printer = MakePrinter(context.json(), terminal, std::cout);
  Watched watched;
  JobFeed feed(
      &context.coordinator(), job, [&context](const grpc::Status& status) { return context.Check(status); },
      [&signals] { signals.Wake(); });
  for (;; signals.Wait(kTickSeconds)) {
    if (signals.Interrupted()) return Interrupted(watched.job);
    if (signals.TakeContinued()) printer->StartAnew();
    JobFeed::News news = feed.Next();
    if (news.end) return *news.end;
    watched.now = common::WallSeconds();
    watched.away_since = news.away_since;
    if (news.job) {
      watched.job = *std::move(news.job);
      watched.heard_at = watched.now;
    }
    if (watched.job.uid().empty()) continue;
    printer->Show(watched, news.job.has_value());
    // If nobody reads the output any more, WatchJob returns OK, because the program itself reports that at its end.
    if (!std::cout.good()) return absl::OkStatus();
    *last = watched.job;
  }
}

void AddWatchVerb(CLI::App& app, Context& context) {
  auto job = std::make_shared<std::string>();
  CLI::App* verb =
      app.add_subcommand("watch", "Live progress of a job: step, ETA, loss, speed, cost, members, last event");
  verb->add_option("JOB", *job, "Name or uid")->required();
  verb->footer(
      "Draws in place on a UTF-8 terminal, and prints a line now and then elsewhere.\n"
      "Ctrl-C stops watching; the job goes on (exit code 130).");
  context.OnRun(verb, [job, &context]() -> absl::Status {
    v1::Job last;
    const absl::Status status = WatchJob(context, *job, &last);
    if (!context.json()) std::cout << TracebackText(last.status());
    return status;
  });
}

}  // namespace rekindle::cli
