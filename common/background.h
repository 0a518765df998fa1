// Work that others wait for less than for what runs beside it.
#ifndef REKINDLE_COMMON_BACKGROUND_H_
#define REKINDLE_COMMON_BACKGROUND_H_

#include <functional>

namespace rekindle::common {

// Runs `work` on a thread that lets the other threads of its session or control group go first, and waits for it. On
// cores that others keep busy it gets a few percent of them: whoever waits should help, or have time. Threads that
// `work` starts are as patient. Returns the seconds for which the thread could have run and had no processor (0 where
// the kernel does not tell): what the low priority has cost at most.
double RunInBackground(const std::function<void()>& work);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_BACKGROUND_H_
