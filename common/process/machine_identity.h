// Identifies this machine, as far as that is needed to decide whether a process still runs. It works on Linux.
#ifndef REKINDLE_COMMON_PROCESS_MACHINE_IDENTITY_H_
#define REKINDLE_COMMON_PROCESS_MACHINE_IDENTITY_H_

#include <string>

namespace rekindle::common {

struct MachineIdentity {
  // `boot` is the id that the kernel gives to this boot of the machine. Each boot has another one.
  std::string boot;
  // `processes` is the pid namespace. Two processes whose `boot` and `processes` are equal see the same processes.
  std::string processes;
  // `hardware` stays the same over boots. It consists of the installation's id and the network hardware, so that a copy
  // of the disk in another machine is distinguished. It is empty if no such hardware is visible, as in most containers.
  std::string hardware;
};

// Reads the machine again at each call. Fields that cannot be read are empty.
MachineIdentity IdentifyMachine();

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_PROCESS_MACHINE_IDENTITY_H_
