// Time of launches by events on the card.
#include "runtime/cuda/timing.h"

#include <algorithm>

#include "tilewright/error.h"

namespace tilewright::cuda {
namespace {

/// What a measurement holds on the card; everything goes back when it leaves scope, also after a fault.
struct Session {
  explicit Session(CudaDevice& owner) : device(owner), api(owner.api()) {
    device.make_current();
    api.check(api.cuStreamCreate(&stream, kStreamNonBlocking), "cuStreamCreate");
    api.check(api.cuEventCreate(&begin, 0), "cuEventCreate");
    api.check(api.cuEventCreate(&end, 0), "cuEventCreate");
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (exec != nullptr) api.cuGraphExecDestroy(exec);
    if (graph != nullptr) api.cuGraphDestroy(graph);
    if (scratch != 0) api.cuMemFree_v2(scratch);
    if (begin != nullptr) api.cuEventDestroy_v2(begin);
    if (end != nullptr) api.cuEventDestroy_v2(end);
    if (stream != nullptr) api.cuStreamDestroy_v2(stream);
  }

  void record(const Enqueue& enqueue) {
    api.check(api.cuStreamBeginCapture_v2(stream, kCaptureThreadLocal), "cuStreamBeginCapture");
    try {
      enqueue(stream);
    } catch (...) {
      Graph unfinished = nullptr;
      api.cuStreamEndCapture(stream, &unfinished);
      if (unfinished != nullptr) api.cuGraphDestroy(unfinished);
      throw;
    }
    api.check(api.cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
    api.check(api.cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiateWithFlags");
  }

  CudaDevice& device;
  const DriverApi& api;
  Stream stream = nullptr;
  Event begin = nullptr, end = nullptr;
  Graph graph = nullptr;
  GraphExec exec = nullptr;
  DevicePointer scratch = 0;
};

}  // namespace

std::vector<double> time_each_launch_ms(runtime::Device& any, const Enqueue& enqueue, const TimingOptions& options) {
  auto* device = dynamic_cast<CudaDevice*>(&any);
  if (device == nullptr)
    throw Error("times are measured on a CUDA device only, given device '" + std::string(any.kind()) + "'");
  if (options.runs == 0) throw Error("a measurement of 0 runs: expected at least 1");
  const DriverApi& api = device->api();
  device->synchronize();  // inputs written on other streams are in place
  Session session(*device);
  if (options.flush_bytes > 0) session.scratch = device->allocate(options.flush_bytes);
  if (options.graph) session.record(enqueue);

  std::vector<double> times;
  for (unsigned run = 0; run < options.warmups + options.runs; ++run) {
    if (options.flush_bytes > 0)
      api.check(api.cuMemsetD8Async(session.scratch, static_cast<unsigned char>(run), options.flush_bytes, session.stream),
                "cuMemsetD8Async");
    api.check(api.cuEventRecord(session.begin, session.stream), "cuEventRecord");
    if (options.graph)
      api.check(api.cuGraphLaunch(session.exec, session.stream), "cuGraphLaunch");
    else
      enqueue(session.stream);
    api.check(api.cuEventRecord(session.end, session.stream), "cuEventRecord");
    api.check(api.cuEventSynchronize(session.end), "cuEventSynchronize");
    float milliseconds = 0;
    api.check(api.cuEventElapsedTime(&milliseconds, session.begin, session.end), "cuEventElapsedTime");
    if (run >= options.warmups) times.push_back(milliseconds);
  }
  return times;
}

double time_launches_ms(runtime::Device& device, const Enqueue& enqueue, const TimingOptions& options) {
  std::vector<double> times = time_each_launch_ms(device, enqueue, options);
  std::sort(times.begin(), times.end());
  const std::size_t half = times.size() / 2;
  return times.size() % 2 == 1 ? times[half] : (times[half - 1] + times[half]) / 2;
}

}  // namespace tilewright::cuda
