// Chooses a device by name.
#include "runtime/device/device.h"
#include "tilewright/error.h"

namespace tilewright::runtime {

std::unique_ptr<Device> make_device(std::string_view kind) {
  if (kind == "cuda") return make_cuda_device();
  if (kind == "sim") return make_simulated_device();
  if (kind == "auto") {
    try {
      return make_cuda_device();
    } catch (const Error&) {
      // No driver, no GPU or no Hopper: the simulated device serves instead. Ask for "cuda" to see the reason.
      return make_simulated_device();
    }
  }
  throw Error("unknown device '" + std::string(kind) + "': expected auto, cuda or sim");
}

}  // namespace tilewright::runtime
