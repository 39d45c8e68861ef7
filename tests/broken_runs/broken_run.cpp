#include "tests/broken_runs/broken_run.h"

#include "runtime/ops/simulator_names.h"

namespace tilewright::test {
namespace {

constexpr unsigned kSchedules = 10;

std::unique_ptr<runtime::Device> device_for(unsigned schedule) {
  runtime::sim::SimulatorOptions options;
  options.schedule = schedule;
  options.threads = 1;
  options.step_limit = 200'000;
  return runtime::sim::make_simulated_device(options);
}

}  // namespace

BrokenRun::BrokenRun(const std::function<void(Kernel&, int& line)>& body, Where here) {
  const std::string path = here.file_name();
  file_ = path.substr(path.rfind('/') + 1);
  compiler::Options options;
  options.protocol = false;
  kernel_ = compiler::compile(kernel("broken", [&](Kernel& k) { body(k, line_); }, here), options);
}

BrokenRun& BrokenRun::tensor(const std::string& name, const std::string& element, std::vector<std::int64_t> shape) {
  tensors_[name] = {element, std::move(shape)};
  return *this;
}

BrokenRun& BrokenRun::scalar(const std::string& name, std::int64_t value) {
  scalars_[name] = value;
  return *this;
}

BrokenRun& BrokenRun::replace(const std::string& from, const std::string& to) {
  const std::size_t at = kernel_.ptx.find(from);
  if (at == std::string::npos) ADD_FAILURE() << "no '" << from << "' in the PTX:\n" << kernel_.ptx;
  else kernel_.ptx.replace(at, from.size(), to);
  return *this;
}

std::string BrokenRun::error() {
  const auto loadable = program::Program::from(kernel_.sidecar, kernel_.ptx, {});
  for (unsigned schedule = 0; schedule < kSchedules; ++schedule) try {
      const auto device = device_for(schedule);
      const auto loaded = device->load(loadable.image());
      ops::name_for_reports(*device, loadable);
      program::TensorArguments arguments;
      for (const auto& [name, t] : tensors_) {
        std::size_t bytes = program::element_bytes(t.element);
        for (const std::int64_t extent : t.shape) bytes *= static_cast<std::size_t>(extent);
        const std::vector<std::uint8_t> zeros(bytes);
        const runtime::DeviceAddress address = device->allocate(bytes);
        device->copy_to_device(address, zeros.data(), bytes);
        arguments[name] = {address, t.shape, {}, t.element};
      }
      program::launch(*device, *loaded, loadable, arguments, scalars_);
      device->synchronize();
    } catch (const Error& found) {
      return found.what();
    }
  return "";
}

void BrokenRun::reports(std::initializer_list<std::string> parts, Where here) {
  const testing::ScopedTrace trace(here.file_name(), static_cast<int>(here.line()), "expected report");
  const std::string report = error();
  ASSERT_FALSE(report.empty()) << "every schedule passed";
  const std::string place = file_ + ":" + std::to_string(line_);
  EXPECT_NE(report.find(place), std::string::npos) << "no \"" << place << "\" in: " << report;
  for (const std::string& part : parts) EXPECT_NE(report.find(part), std::string::npos) << "no \"" << part << "\" in: " << report;
}

void BrokenRun::passes(Where here) {
  const testing::ScopedTrace trace(here.file_name(), static_cast<int>(here.line()), "no report");
  EXPECT_EQ(error(), "");
}

}  // namespace tilewright::test
