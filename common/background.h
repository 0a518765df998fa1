// Work that others wait for less than for what runs beside it.
#ifndef REKINDLE_COMMON_BACKGROUND_H_
#define REKINDLE_COMMON_BACKGROUND_H_

#include <functional>

namespace rekindle::common {

// Runs `work` on a thread that lets the other threads of its session go first (nice value 10), and waits for it.
void RunInBackground(const std::function<void()>& work);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_BACKGROUND_H_
