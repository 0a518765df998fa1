// Implements the verbs events and logs.
#include <iostream>
#include <limits>
#include <memory>

#include "cli/shared/context.h"
#include "cli/shared/patience.h"
#include "cli/text/json_list.h"
#include "cli/text/log_text.h"
#include "cli/text/number_text.h"
#include "cli/text/safe_text.h"
#include "common/spec/flag_values.h"
#include "common/time/clock.h"

namespace rekindle::cli {
namespace {

// Prints events or lines of a log, as text or as JSON. If the verb waits for later items (`follow`), the JSON is one
// item per line. Otherwise it is one document with all items.
class Output {
 public:
  Output(const Context& context, const std::string& list, bool follow)
      : json_(context.json()), is_document_(context.json() && !follow), document_(std::cout, list) {}

  template <typename Item, typename PrintText>
  void Print(const Item& item, const PrintText& print_text) {
    if (is_document_) {
      document_.Add(ToJson(item, false));
    } else {
      std::cout << (json_ ? ToJson(item, false) : print_text(item)) << '\n';
    }
  }
  // Flushes the output. Returns false if nobody reads the output any more, so that the verb can end.
  static bool Flush() { return (std::cout << std::flush).good(); }

  void End(const absl::Status& status) {
    if (is_document_ && status.ok()) document_.Finish();
    Flush();
  }

 private:
  const bool json_;
  const bool is_document_;
  JsonList document_;
};

std::string EventText(const v1::Event& event) {
  return LocalTime(event.at()) + "  " + (event.job().empty() ? "-" : event.job()) + "  " + event.kind() + "  " +
         Printable(event.text());
}

absl::Status PrintEvents(Context& context, v1::ListEventsRequest request) {
  Output output(context, "events", request.follow());
  Patience patience(context.endpoint());
  for (;;) {
    grpc::ClientContext call;
    if (!request.follow()) Context::SetDeadline(call);
    const auto stream = context.coordinator().ListEvents(&call, request);
    if (IsServed(call, *stream)) patience.Heard();
    for (v1::Event event; stream->Read(&event);) {
      output.Print(event, EventText);
      if (request.follow() && !Output::Flush()) call.TryCancel();
      request.set_after_revision(event.revision());
    }
    const absl::Status status = context.Check(stream->Finish());
    // If the output could not be written, the verb returns OK, because the program itself reports that at its end.
    if (!std::cout.good()) return absl::OkStatus();
    if (request.follow() && patience.Waits(status)) continue;
    output.End(status);
    return status;
  }
}

void AddEvents(CLI::App& app, Context& context) {
  struct Flags {
    std::string job;
    int after = 0;
    bool follow = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("events", "What was decided, and why");
  verb->add_option("JOB", flags->job, "Name or uid; without it the whole cluster's");
  verb->add_option("--after", flags->after, "Only events after this revision")
      ->check(common::WholeNumber(0, std::numeric_limits<int>::max()));
  verb->add_flag("-f,--follow", flags->follow, "Go on with new ones, also after a restart of the coordinator");
  context.OnRun(verb, [flags, &context]() -> absl::Status {
    v1::ListEventsRequest request;
    request.set_job(flags->job);
    request.set_after_revision(flags->after);
    request.set_follow(flags->follow);
    return PrintEvents(context, request);
  });
}

absl::Status PrintLog(Context& context, v1::ReadLogRequest request) {
  Output output(context, "lines", request.follow());
  Patience patience(context.endpoint());
  for (;;) {
    grpc::ClientContext call;
    if (!request.follow()) Context::SetDeadline(call);
    const auto stream = context.coordinator().ReadLog(&call, request);
    if (IsServed(call, *stream)) patience.Heard();
    bool has_got_on = false;
    for (v1::LogLines page; stream->Read(&page);) {
      request.set_log(page.log());
      for (const v1::LogLine& line : page.lines()) {
        output.Print(line, [](const v1::LogLine& each) { return LogText(each, common::WallSeconds()); });
        if (line.has_gap()) continue;
        request.set_after(line.number());
        has_got_on = true;
      }
      if (!Output::Flush()) call.TryCancel();
    }
    const absl::Status status = context.Check(stream->Finish());
    // If the output could not be written, the verb returns OK, because the program itself reports that at its end.
    if (!std::cout.good()) return absl::OkStatus();
    if (request.follow() && patience.Waits(status)) continue;
    // A log may be so long that a call reaches its deadline. The next call reads on after the last line that has come.
    if (absl::IsUnavailable(status) && has_got_on && !request.follow()) continue;
    output.End(status);
    return status;
  }
}

void AddLogs(CLI::App& app, Context& context) {
  struct Flags {
    std::string job;
    int tail = 0;
    bool follow = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("logs", "What a job's trainers wrote, and where some of that is missing");
  verb->add_option("JOB", flags->job, "Name or uid")->required();
  verb->add_option("--tail", flags->tail, "The newest so many lines; default: all that are kept")
      ->check(common::WholeNumber(1, std::numeric_limits<int>::max()));
  verb->add_flag("-f,--follow", flags->follow, "Go on with new ones, also after a restart of the coordinator");
  context.OnRun(verb, [flags, &context]() -> absl::Status {
    v1::ReadLogRequest request;
    request.set_job(flags->job);
    request.set_tail(flags->tail);
    request.set_follow(flags->follow);
    return PrintLog(context, request);
  });
}

}  // namespace

void AddStreamVerbs(CLI::App& app, Context& context) {
  AddEvents(app, context);
  AddLogs(app, context);
}

}  // namespace rekindle::cli
