// Shows a watched job in the way that fits the output: drawn, printed or as JSON.
#ifndef REKINDLE_CLI_WATCH_PRINTER_H_
#define REKINDLE_CLI_WATCH_PRINTER_H_

#include <memory>
#include <ostream>

#include "cli/watch/progress_view.h"
#include "cli/watch/terminal.h"

namespace rekindle::cli {

// Shows one job. A Printer is thread-compatible. Its destructor leaves the terminal as it was found, below what was
// drawn.
class Printer {
 public:
  virtual ~Printer() = default;
  // Shows the job. Show is called at each change, and also in between as time passes. `changed` says that the job is in
  // another state than at the last call.
  virtual void Show(const Watched& watched, bool changed) = 0;
  // Begins the drawing again after the program was stopped and continued, because others may have written to the
  // terminal or changed it.
  virtual void StartAnew() {}
};

// Makes a printer. If `terminal`, to which `out` leads, can be redrawn, it draws in place. Otherwise it prints a line
// at each event and every few seconds as the job changes. With `json` it prints one object per change. The caller owns
// `out`.
std::unique_ptr<Printer> MakePrinter(bool json, const Terminal& terminal, std::ostream& out);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_WATCH_PRINTER_H_
