// Implements NCCL's calls behind nccl_api.h. The first call opens the NCCL library, because a job on one GPU needs
// none. If LibTorch has already loaded the NCCL library into the process, the plugin uses that copy and never loads a
// second one.
#include "worker/comm/nccl/nccl_plugin.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nccl.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "worker/comm/contract/communicator.h"

struct RekindleNcclComm {
  ncclComm_t comm = nullptr;
};

namespace rekindle::comm {
namespace {

static_assert(kRekindleNcclIdBytes == NCCL_UNIQUE_ID_BYTES);

struct Library {
  decltype(&ncclGetVersion) get_version;
  decltype(&ncclGetUniqueId) get_unique_id;
  decltype(&ncclCommInitRankConfig) init;
  decltype(&ncclCommGetAsyncError) async_error;
  decltype(&ncclCommFinalize) finalize;
  decltype(&ncclCommAbort) abort;
  decltype(&ncclGetLastError) last_error;
  decltype(&ncclGetErrorString) error_string;
  decltype(&ncclAllReduce) all_reduce;
  decltype(&ncclBroadcast) broadcast;
  decltype(&ncclAllGather) all_gather;
  decltype(&ncclSend) send;
  decltype(&ncclRecv) recv;
  // `problem` says why the NCCL library cannot be used. It is empty if it can be used.
  char problem[256] = "";
};

Library Open() {
  Library library = {};
  void* handle = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    std::snprintf(library.problem, sizeof(library.problem), "cannot be loaded: %s", dlerror());
    return library;
  }
  const auto find = [&](auto* function, const char* name) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(handle, name));
    if (*function == nullptr) std::snprintf(library.problem, sizeof(library.problem), "the library has no %s", name);
  };
  find(&library.get_version, "ncclGetVersion");
  find(&library.get_unique_id, "ncclGetUniqueId");
  find(&library.init, "ncclCommInitRankConfig");
  find(&library.async_error, "ncclCommGetAsyncError");
  find(&library.finalize, "ncclCommFinalize");
  find(&library.abort, "ncclCommAbort");
  find(&library.last_error, "ncclGetLastError");
  find(&library.error_string, "ncclGetErrorString");
  find(&library.all_reduce, "ncclAllReduce");
  find(&library.broadcast, "ncclBroadcast");
  find(&library.all_gather, "ncclAllGather");
  find(&library.send, "ncclSend");
  find(&library.recv, "ncclRecv");
  int version = 0;
  // An NCCL library older than the header is refused, because it does not know the configuration struct of that header.
  if (library.problem[0] == 0 && (library.get_version(&version) != ncclSuccess || version < NCCL_VERSION_CODE)) {
    std::snprintf(library.problem, sizeof(library.problem),
                  "version %d is older than %d, which the plugin was built for", version, NCCL_VERSION_CODE);
  }
  return library;
}

const Library& Nccl() {
  static const Library library = Open();
  return library;
}

int Fail(char* error, std::size_t error_size, const char* what) {
  std::snprintf(error, error_size, "%s", what);
  return kRekindleNcclFailed;
}

int FromNccl(ncclResult_t result, ncclComm_t comm, char* error, std::size_t error_size) {
  if (result == ncclSuccess) return kRekindleNcclDone;
  if (result == ncclInProgress) return kRekindleNcclPending;
  const char* detail = Nccl().last_error(comm);
  std::snprintf(error, error_size, "%s%s%s", Nccl().error_string(result), detail != nullptr && *detail ? ": " : "",
                detail != nullptr ? detail : "");
  return kRekindleNcclFailed;
}

int FromCuda(cudaError_t code, char* error, std::size_t error_size) {
  if (code == cudaSuccess) return kRekindleNcclDone;
  if (code == cudaErrorNotReady) return kRekindleNcclPending;
  return Fail(error, error_size, cudaGetErrorString(code));
}

int Version(int* version, char* error, std::size_t error_size) {
  if (Nccl().problem[0] != 0) return Fail(error, error_size, Nccl().problem);
  return FromNccl(Nccl().get_version(version), nullptr, error, error_size);
}

int MakeId(unsigned char* id, char* error, std::size_t error_size) {
  if (Nccl().problem[0] != 0) return Fail(error, error_size, Nccl().problem);
  ncclUniqueId made;
  const int result = FromNccl(Nccl().get_unique_id(&made), nullptr, error, error_size);
  if (result == kRekindleNcclDone) std::memcpy(id, made.internal, sizeof(made.internal));
  return result;
}

void Abort(RekindleNcclComm* comm) {
  if (comm->comm != nullptr) Nccl().abort(comm->comm);
}

void Release(RekindleNcclComm* comm) { delete comm; }

int Join(int device, int world, int rank, const unsigned char* id, RekindleNcclComm** out, char* error,
         std::size_t error_size) {
  if (Nccl().problem[0] != 0) return Fail(error, error_size, Nccl().problem);
  auto comm = std::make_unique<RekindleNcclComm>();
  if (int result = FromCuda(cudaSetDevice(device), error, error_size); result != kRekindleNcclDone) return result;
  ncclUniqueId unique;
  std::memcpy(unique.internal, id, sizeof(unique.internal));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  const int result = FromNccl(Nccl().init(&comm->comm, world, unique, rank, &config), nullptr, error, error_size);
  if (result == kRekindleNcclFailed) {
    Abort(comm.get());
    return result;
  }
  *out = comm.release();
  return result;
}

int Poll(RekindleNcclComm* comm, char* error, std::size_t error_size) {
  ncclResult_t state = ncclSuccess;
  const ncclResult_t asked = Nccl().async_error(comm->comm, &state);
  return FromNccl(asked == ncclSuccess ? state : asked, comm->comm, error, error_size);
}

ncclDataType_t TypeOf(std::uint32_t type) {
  switch (static_cast<DataType>(type)) {
    case DataType::kInt64:
      return ncclInt64;
    case DataType::kFloat32:
      return ncclFloat32;
    case DataType::kBfloat16:
      return ncclBfloat16;
    case DataType::kUint8:
      break;
  }
  return ncclUint8;
}

int Start(RekindleNcclComm* comm, const RekindleNcclOperation* o, char* error, std::size_t error_size) {
  const ncclDataType_t type = TypeOf(o->type);
  const auto stream = static_cast<cudaStream_t>(o->stream);
  ncclResult_t result = ncclInvalidArgument;
  switch (o->kind) {
    case RekindleNcclOperation::kAllReduce: {
      const ncclRedOp_t op = static_cast<ReduceOp>(o->op) == ReduceOp::kSum ? ncclSum : ncclMax;
      result = Nccl().all_reduce(o->in, o->out, o->count, type, op, comm->comm, stream);
      break;
    }
    case RekindleNcclOperation::kBroadcast:
      result = Nccl().broadcast(o->in, o->out, o->count, type, o->peer, comm->comm, stream);
      break;
    case RekindleNcclOperation::kAllGather:
      result = Nccl().all_gather(o->in, o->out, o->count, type, comm->comm, stream);
      break;
    case RekindleNcclOperation::kSend:
      result = Nccl().send(o->in, o->count, type, o->peer, comm->comm, stream);
      break;
    case RekindleNcclOperation::kRecv:
      result = Nccl().recv(o->out, o->count, type, o->peer, comm->comm, stream);
      break;
  }
  return FromNccl(result, comm->comm, error, error_size);
}

int Finish(RekindleNcclComm* comm, char* error, std::size_t error_size) {
  return FromNccl(Nccl().finalize(comm->comm), comm->comm, error, error_size);
}

}  // namespace

constexpr RekindleNcclApi kNcclApi = {.version = &Version,
                                      .make_id = &MakeId,
                                      .join = &Join,
                                      .start = &Start,
                                      .poll = &Poll,
                                      .finish = &Finish,
                                      .abort = &Abort,
                                      .release = &Release};

}  // namespace rekindle::comm
