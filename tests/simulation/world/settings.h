// Defines what all parts of a simulated cluster agree on. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_WORLD_SETTINGS_H_
#define REKINDLE_TESTS_SIMULATION_WORLD_SETTINGS_H_

namespace rekindle::core::simulation {

// Trainers report `kData` as the fingerprint of their data and `kProbe` as the digest of their arithmetic probe.
inline constexpr char kData[] = "data";
inline constexpr char kProbe[] = "probe";

// A rank waits `kProgressDeadline` seconds for the others.
inline constexpr double kProgressDeadline = 2;

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_WORLD_SETTINGS_H_
