// events, logs.
#include <iostream>
#include <memory>

#include "cli/context.h"
#include "cli/text.h"

namespace rekindle::cli {
namespace {

// Without --follow one JSON document with all items; with it one a line.
template <typename Item, typename PrintText>
absl::Status PrintStream(Context& context, grpc::ClientReaderInterface<Item>& stream, const char* list, bool follow,
                         const PrintText& print_text) {
  const bool document = context.json() && !follow;
  if (document) std::cout << "{\"" << list << "\": [";
  bool first = true;
  Item item;
  while (stream.Read(&item)) {
    if (document) {
      std::cout << (first ? "\n" : ",\n") << ToJson(item, false);
    } else if (context.json()) {
      std::cout << ToJson(item, false) << std::endl;
    } else {
      print_text(item);
    }
    first = false;
  }
  if (document) std::cout << "\n]}\n";
  return context.Check(stream.Finish());
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
  verb->add_option("--after", flags->after, "Only events after this revision");
  verb->add_flag("-f,--follow", flags->follow, "Go on with new ones");
  context.OnRun(verb, [flags, &context]() -> absl::Status {
    v1::ListEventsRequest request;
    request.set_job(flags->job);
    request.set_after_revision(flags->after);
    request.set_follow(flags->follow);
    grpc::ClientContext call;
    if (!flags->follow) Context::SetDeadline(call);
    auto stream = context.coordinator().ListEvents(&call, request);
    return PrintStream(context, *stream, "events", flags->follow, [](const v1::Event& event) {
      std::cout << LocalTime(event.at()) << "  " << (event.job().empty() ? "-" : event.job()) << "  " << event.kind()
                << "  " << Printable(event.text()) << std::endl;
    });
  });
}

void AddLogs(CLI::App& app, Context& context) {
  struct Flags {
    std::string job;
    int tail = 200;
    bool follow = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("logs", "The newest log lines of a job's trainers");
  verb->add_option("JOB", flags->job, "Name or uid")->required();
  verb->add_option("--tail", flags->tail, "So many lines")->capture_default_str();
  verb->add_flag("-f,--follow", flags->follow, "Go on with new ones");
  context.OnRun(verb, [flags, &context]() -> absl::Status {
    v1::GetLogsRequest request;
    request.set_job(flags->job);
    request.set_tail(flags->tail);
    request.set_follow(flags->follow);
    grpc::ClientContext call;
    if (!flags->follow) Context::SetDeadline(call);
    auto stream = context.coordinator().GetLogs(&call, request);
    return PrintStream(context, *stream, "lines", flags->follow, [](const v1::LogLine& line) {
      std::cout << line.trainer() << ": " << Printable(line.text()) << std::endl;
    });
  });
}

}  // namespace

void AddStreamVerbs(CLI::App& app, Context& context) {
  AddEvents(app, context);
  AddLogs(app, context);
}

}  // namespace rekindle::cli
