// Holds limits of a job's data that hold for every kind of data, or for the models that read it.
#ifndef REKINDLE_WORKER_DATA_DECLARED_LIMITS_H_
#define REKINDLE_WORKER_DATA_DECLARED_LIMITS_H_

namespace rekindle::data {

// At least a tenth of a job's samples is for training.
inline constexpr double kMostValidationFraction = 0.9;
// A row of a table has at most `kMostFeatures` features.
inline constexpr int kMostFeatures = 4096;

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_DECLARED_LIMITS_H_
