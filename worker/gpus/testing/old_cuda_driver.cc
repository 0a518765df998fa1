// Stands in for a CUDA driver that is too old in tests. It has only two of the functions that the agent needs.
extern "C" {

int cuInit(unsigned) { return 0; }
int cuGetErrorString(int, const char** words) {
  *words = "unknown error";
  return 0;
}
}
