#include "kernels/cuda/step/cuda_kernels.h"

#include "kernels/cuda/entry.h"
#include "kernels/cuda/planes/cuda_plane_split.h"

namespace rekindle::cuda {
namespace {

constexpr char kCopyName[] = "copy";
constexpr char kFillName[] = "fill memory";
constexpr char kAccumulateName[] = "accumulate";
constexpr char kSquaresName[] = "squares";
constexpr char kUpdateName[] = "update";
constexpr char kRunningMeanName[] = "running_mean";
constexpr char kToBf16Name[] = "to_bf16";
constexpr char kFromBf16Name[] = "from_bf16";
constexpr char kHashName[] = "hash";
constexpr char kDropoutMaskName[] = "dropout_mask";
constexpr char kSplitHalfName[] = "split_half";
constexpr char kMergeHalfName[] = "merge_half";
constexpr char kSplitBf16Name[] = "split_bf16";
constexpr char kMergeBf16Name[] = "merge_bf16";

}  // namespace

cudaError_t Copy(const RekindleCopy& args, cudaStream_t stream) {
  return cudaMemcpyAsync(args.to, args.from, args.bytes, cudaMemcpyDefault, stream);
}

cudaError_t Fill(const RekindleFill& args, cudaStream_t stream) {
  return cudaMemsetAsync(args.memory, args.byte, args.bytes, stream);
}

cudaError_t Update(const RekindleUpdate& args, cudaStream_t stream) {
  switch (args.optimizer) {
#define REKINDLE_CASE(Name) \
  case kRekindle##Name:     \
    return Update##Name(args, stream);
    REKINDLE_ELEMENTWISE_OPTIMIZERS(REKINDLE_CASE)
#undef REKINDLE_CASE
  }
  return cudaErrorInvalidValue;
}

constexpr RekindleKernels kKernels = {
    .copy = &Entry<kCopyName, RekindleCopy, &Copy>,
    .fill = &Entry<kFillName, RekindleFill, &Fill>,
    .accumulate = &Entry<kAccumulateName, RekindleAccumulate, &Accumulate>,
    .squares = &Entry<kSquaresName, RekindleSquares, &Squares>,
    .update = &Entry<kUpdateName, RekindleUpdate, &Update>,
    .running_mean = &Entry<kRunningMeanName, RekindleRunningMean, &RunningMean>,
    .to_bf16 = &Entry<kToBf16Name, RekindleToBf16, &ToBf16>,
    .from_bf16 = &Entry<kFromBf16Name, RekindleFromBf16, &FromBf16>,
    .hash = &Entry<kHashName, RekindleHash, &Hash>,
    .dropout_mask = &Entry<kDropoutMaskName, RekindleDropoutMask, &DropoutMask>,
    .split_half = &Entry<kSplitHalfName, RekindleSplitHalf, &SplitHalf>,
    .merge_half = &Entry<kMergeHalfName, RekindleMergeHalf, &MergeHalf>,
    .split_bf16 = &Entry<kSplitBf16Name, RekindleSplitBf16, &SplitBf16>,
    .merge_bf16 = &Entry<kMergeBf16Name, RekindleMergeBf16, &MergeBf16>,
};

}  // namespace rekindle::cuda
