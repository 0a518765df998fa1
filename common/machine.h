// Which machine this is, as far as it matters for telling whether a process still runs. Linux.
#ifndef REKINDLE_COMMON_MACHINE_H_
#define REKINDLE_COMMON_MACHINE_H_

#include <string>

namespace rekindle::common {

struct Machine {
  std::string boot;       // Changes with each boot.
  std::string processes;  // The pid namespace: two with equal boot and processes see the same processes.
  // Stays over boots: the installation's id and the network hardware, so that a copy of the disk in another machine is
  // told apart. Empty where there is no such hardware to be seen, as in most containers.
  std::string hardware;
};

// Read anew each time. What cannot be read is empty.
Machine ThisMachine();

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_MACHINE_H_
