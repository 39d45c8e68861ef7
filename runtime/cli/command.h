// The command and its subcommands.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/gdn/inputs.h"
#include "kernels/gdn/plan.h"
#include "runtime/ops/gdn_costs.h"
#include "runtime/ops/operator.h"
#include "tilewright/error.h"

namespace tilewright::cli {

class Watcher;

/// Wrong use of the command: exit status 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// What `tilewright mutate` reads beside the kernel, the seed and a file to write.
struct MutateOptions {
  std::vector<std::string> kinds;
  std::string equivalent;  ///< file
  std::size_t sample = 0;  ///< 0: all
  unsigned schedules = 20, jobs = 0;
  double expect = 95;      ///< percent
};

/// What was written on the command line; each subcommand reads its part.
struct Options {
  std::string kernel;
  // what is compiled
  std::string heads = "2x4", dtype = "bf16", form = "auto", ptxas;
  int dk = 128, dv = 128;
  bool state_v_first = false;
  // sizes
  std::vector<std::string> lens, shapes;
  std::int64_t batch = 1;
  // inputs
  std::string kind = "ordinary", offsets = "int32";
  std::uint64_t seed = 0;
  bool no_initial_state = false, in_place = false;  ///< in_place: final states take the place of initial ones
  int margin = 0;
  // running
  std::string device = "auto";
  bool check = false, twice = false, json = false;
  std::uint64_t schedule = 0, schedules = 0;  ///< a seed of the simulated device; how many, from that one on
  bool no_checks = false;
  // compile and inspect
  std::string out, stage, all, only, tensor, svg;
  bool every_pass = false, timing = false;
  // cache: list, clear, verify or diff; its two entries
  std::string action, first, second;
  MutateOptions mutate;
  // doctor
  bool card = false;
  // plan
  std::string cp = "auto", decay = "0.95+0.95+0.95+1";
  int sms = 132;
  bool every_item = false;
  // trace
  unsigned cta = 0;
  Watcher* watcher = nullptr;  ///< looks on while a kernel runs
  bool stamped = false;        ///< compile with time stamps
  // bench
  bool ceilings = false;
  // tune-planner
  int rounds = 5;
  // run on the simulator
  bool count = false;
  std::string shadow;
};

/// Runs the command line; writes results to `out` and errors, one line each, to `err`. Returns the exit status.
int command(int argc, const char* const* argv, std::ostream& out, std::ostream& err);

int list(const Options&, std::ostream& out);
int compile(const Options&, std::ostream& out);
int inspect(const Options&, std::ostream& out);
int run(const Options&, std::ostream& out);
int run_gdn_forward(const Options&, std::ostream& out);
int plan(const Options&, std::ostream& out);
int bench(const Options&, std::ostream& out);
int tune_planner(const Options&, std::ostream& out);
int trace(const Options&, std::ostream& out);
int mutate(const Options&, std::ostream& out);
int cache_command(const Options&, std::ostream& out);
int doctor(const Options&, std::ostream& out);

/// What the options say of a kernel's configuration. Throw UsageError.
gdn::HeadCounts heads_of(const Options&);
std::string widths_of(const Options&);  ///< " --dk 64 --dv 128", or nothing for 128 and 128
std::optional<gdn::Form> form_of(const Options&);
gdn::StateOrder state_order_of(const Options&);
/// cp of a call: 0 automatic, 1 off, or a number of segments.
int cp_of(const Options&);
ops::BuildOptions build_options_of(const Options&);
/// The Hoppers that the driver lists, by ordinal; none without a driver.
std::map<int, ops::Card> hoppers();
/// The card, for a subcommand that measures times. Throws Error without one.
std::unique_ptr<runtime::Device> card_for(const char* subcommand);
/// "512x512x320" as `count` positive integers.
std::vector<std::int64_t> parse_shape(const std::string& text, std::size_t count);

/// Runs `parse` and turns its Error into a UsageError.
template <class Parse>
auto usage(Parse&& parse) {
  try {
    return parse();
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

}  // namespace tilewright::cli
