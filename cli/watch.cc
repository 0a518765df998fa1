#include "cli/watch.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <thread>

#include "cli/text.h"
#include "common/clock.h"

namespace rekindle::cli {
namespace {

constexpr double kLineSeconds = 5;       // Without a terminal: a line so often, and one for each event.
constexpr double kPatienceSeconds = 60;  // For a coordinator that is away.
constexpr auto kRetry = std::chrono::milliseconds(200);

// " (12/4)": who computes how much of a step, where that is short to say.
std::string Shares(const v1::JobStatus& status) {
  constexpr int kMost = 8;
  if (status.members_size() < 2 || status.members_size() > kMost) return "";
  std::string shares;
  for (const v1::MemberStatus& m : status.members()) {
    shares += (shares.empty() ? " (" : "/") + std::to_string(m.micro_batch_end() - m.micro_batch_begin());
  }
  return shares + ")";
}

std::string Progress(const v1::Job& job) {
  const v1::JobStatus& s = job.status();
  const int steps = s.resolved_spec().training().steps();
  std::string line =
      job.name() + " " + StateName(s.state()) + "  step " + std::to_string(s.step()) + "/" + std::to_string(steps);
  if (s.step() > 0) line += "  loss " + Fixed(s.loss(), 4) + "  " + Short(s.tokens_per_second()) + " tok/s";
  line +=
      "  members " + std::to_string(s.members_size()) + Shares(s) + "  generation " + std::to_string(s.generation());
  return line;
}

// Two lines that are drawn over each other: the bar, and what happened last and why.
class View {
 public:
  explicit View(bool json) : json_(json), terminal_(!json && isatty(STDOUT_FILENO)) {}

  void Show(const v1::Job& job) {
    if (json_) {
      std::cout << ToJson(job, false) << std::endl;
    } else if (terminal_) {
      Draw(job);
    } else {
      PrintLine(job);
    }
  }

  void End() {
    if (terminal_ && drawn_) std::cout << "\n" << std::flush;
  }

 private:
  void Draw(const v1::Job& job) {
    const v1::JobStatus& s = job.status();
    winsize size = {};
    const int columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
    const int bar = std::clamp(columns / 4, 10, 40);
    const std::string event = Printable(s.last_event().empty() ? s.reason() : s.last_event());
    if (drawn_) std::cout << "\r\033[1A";
    std::cout << "\033[2K" << Bar(s.step(), s.resolved_spec().training().steps(), bar) << "  " << Progress(job)
              << "\n\033[2K  " << event.substr(0, static_cast<size_t>(columns - 3)) << std::flush;
    drawn_ = true;
  }

  void PrintLine(const v1::Job& job) {
    const double now = common::SteadySeconds();
    const bool news = job.status().last_event() != event_;
    if (!news && now - printed_at_ < kLineSeconds && !Ended(job.status().state())) return;
    std::cout << Progress(job);
    if (news) std::cout << "  | " << Printable(job.status().last_event());
    std::cout << std::endl;
    event_ = job.status().last_event();
    printed_at_ = now;
  }

  const bool json_;
  const bool terminal_;
  bool drawn_ = false;
  double printed_at_ = 0;
  std::string event_;
};

}  // namespace

absl::Status WatchJob(Context& context, const std::string& job, v1::Job* last) {
  View view(context.json());
  v1::WatchJobRequest request;
  request.set_job(job);
  double heard_at = common::SteadySeconds();
  for (;;) {
    grpc::ClientContext call;
    auto stream = context.coordinator().WatchJob(&call, request);
    while (stream->Read(last)) {
      heard_at = common::SteadySeconds();
      view.Show(*last);
      if (Ended(last->status().state())) {
        view.End();
        return absl::OkStatus();
      }
    }
    const absl::Status status = context.Check(stream->Finish());
    const bool away = status.ok() || absl::IsUnavailable(status);
    if (!away || common::SteadySeconds() - heard_at > (last->uid().empty() ? 0 : kPatienceSeconds)) {
      view.End();
      return status;
    }
    std::this_thread::sleep_for(kRetry);
  }
}

void AddWatchVerb(CLI::App& app, Context& context) {
  auto job = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("watch", "Live progress of a job: step, loss, speed, members, last event");
  verb->add_option("JOB", *job, "Name or uid")->required();
  context.OnRun(verb, [job, &context]() -> absl::Status {
    v1::Job last;
    return WatchJob(context, *job, &last);
  });
}

}  // namespace rekindle::cli
