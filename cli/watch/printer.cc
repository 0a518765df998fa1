#include "cli/watch/printer.h"

#include <optional>
#include <string>

#include "cli/shared/context.h"
#include "cli/text/bar.h"
#include "cli/text/safe_text.h"
#include "cli/text/terminal_columns.h"
#include "cli/watch/drawing.h"

namespace rekindle::cli {
namespace {

// While a job has no new event, lines about it are printed at least `kLineSeconds` seconds apart.
constexpr double kLineSeconds = 5;
constexpr int kAsciiBarColumns = 10;

class JsonPrinter final : public Printer {
 public:
  explicit JsonPrinter(std::ostream& out) : out_(out) {}

  void Show(const Watched& watched, bool changed) override {
    if (changed) out_ << ToJson(watched.job, false) << std::endl;
  }

 private:
  std::ostream& out_;
};

class LinePrinter final : public Printer {
 public:
  // If `ascii` is set, the reader of the printed lines can show only ASCII.
  LinePrinter(std::ostream& out, bool ascii) : out_(out), ascii_(ascii) {}

  void Show(const Watched& watched, bool changed) override {
    const bool away = watched.away_since.has_value();
    if (away != away_) Print(away ? DescribeAway(watched) : "the coordinator answers again");
    away_ = away;
    if (!changed) return;
    const v1::JobStatus& s = watched.job.status();
    const bool news = s.last_event() != event_ || s.state() != state_;
    if (!news && watched.now - printed_at_ < kLineSeconds && watched.now >= printed_at_) return;
    std::string line = ProgressLine(watched);
    if (ascii_) line = AsciiBar(s.step(), s.resolved_spec().training().steps(), kAsciiBarColumns) + " " + line;
    if (s.last_event() != event_) line += "  | " + Printable(s.last_event());
    Print(line);
    event_ = s.last_event();
    state_ = s.state();
    printed_at_ = watched.now;
  }

 private:
  void Print(const std::string& line) { out_ << (ascii_ ? ToAscii(line) : line) << std::endl; }

  std::ostream& out_;
  const bool ascii_;
  bool away_ = false;
  double printed_at_ = 0;
  v1::JobState state_ = v1::JOB_STATE_UNSPECIFIED;
  std::string event_;
};

class ScreenPrinter final : public Printer {
 public:
  ScreenPrinter(const Terminal& terminal, std::ostream& out)
      : terminal_(terminal), keyboard_(std::in_place, terminal.fd()), drawing_(out) {}
  ~ScreenPrinter() override { drawing_.Leave(); }

  void Show(const Watched& watched, bool) override {
    const TerminalSize size = terminal_.Size();
    drawing_.Draw(ProgressLines(watched, size), size);
  }

  void StartAnew() override {
    drawing_.Leave();
    keyboard_.emplace(terminal_.fd());
  }

 private:
  const Terminal terminal_;
  std::optional<QuietKeyboard> keyboard_;
  Drawing drawing_;
};

}  // namespace

std::unique_ptr<Printer> MakePrinter(bool json, const Terminal& terminal, std::ostream& out) {
  if (json) return std::make_unique<JsonPrinter>(out);
  if (terminal.CanRedraw()) return std::make_unique<ScreenPrinter>(terminal, out);
  return std::make_unique<LinePrinter>(out, terminal.IsTerminal() && !terminal.IsUtf8());
}

}  // namespace rekindle::cli
