// Runs work that is less urgent than the work beside it.
#ifndef REKINDLE_COMMON_TIME_BACKGROUND_H_
#define REKINDLE_COMMON_TIME_BACKGROUND_H_

#include <functional>

namespace rekindle::common {

// Runs `work` on a thread that lets the other threads of its session or control group go first, and waits for it. On
// cores that others keep busy it gets a few percent of the time, so the caller should have time or reduce the other
// work. Threads that `work` starts have the same low priority. Returns for how many seconds the thread could have run
// and had no processor, which is the most that the low priority has cost. It is 0 if the kernel does not report it.
double RunInBackground(const std::function<void()>& work);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TIME_BACKGROUND_H_
