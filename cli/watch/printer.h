// How a watched job is shown where the output goes: drawn, printed or as JSON.
#ifndef REKINDLE_CLI_WATCH_PRINTER_H_
#define REKINDLE_CLI_WATCH_PRINTER_H_

#include <memory>
#include <ostream>

#include "cli/watch/progress_view.h"
#include "cli/watch/terminal.h"

namespace rekindle::cli {

// Thread-compatible. Its end leaves the terminal as it was found, below what was drawn.
class Printer {
 public:
  virtual ~Printer() = default;
  // Called at each change, and in between as time passes; `changed`: the job is in another state than at the last call.
  virtual void Show(const Watched& watched, bool changed) = 0;
  // The program was stopped and goes on: others may have written to the terminal, or changed it.
  virtual void StartAnew() {}
};

// Drawn over and over where `terminal`, to which `out` leads, can do that. Elsewhere a line at each event and every few
// seconds, as the job changes. With `json` one object a change. `out` is not owned.
std::unique_ptr<Printer> MakePrinter(bool json, const Terminal& terminal, std::ostream& out);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_WATCH_PRINTER_H_
