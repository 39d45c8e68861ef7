// Calls of what the machine's system offers: vprintf and __assertfail.
#include <cstdio>
#include <cstring>

#include "runtime/sim/access.h"
#include "runtime/sim/cluster.h"

namespace tilewright::runtime::sim {

using ptx::Operand;

namespace {

std::string text_at(Warp& w, std::uint64_t address, unsigned lane) {
  std::string out;
  for (;; ++address) {
    const auto c = static_cast<char>(*generic_at(w, address, 1, 1, lane, "a text of a call"));
    if (c == 0) return out;
    out += c;
  }
}

/// A parameter of the call: its place in local memory is in extra[n].
template <class T>
T parameter(Warp& w, const Instruction& i, unsigned n, unsigned lane) {
  T v;
  std::memcpy(&v, local_at(w, static_cast<std::uint64_t>(i.extra[n]), sizeof v, sizeof v, lane, "a parameter of a call"), sizeof v);
  return v;
}

/// Reads the arguments of a printf one after the other: each lies at a multiple of its size.
class Arguments {
 public:
  Arguments(Warp& w, std::uint64_t address, unsigned lane) : warp_(w), next_(address), lane_(lane) {}
  template <class T>
  T take() {
    next_ = (next_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T v;
    std::memcpy(&v, generic_at(warp_, next_, sizeof v, sizeof v, lane_, "an argument of printf"), sizeof v);
    next_ += sizeof v;
    ++count;
    return v;
  }
  int count = 0;

 private:
  Warp& warp_;
  std::uint64_t next_;
  unsigned lane_;
};

template <class T>
std::string one(const std::string& format, T value) {
  char text[128];
  std::snprintf(text, sizeof text, format.c_str(), value);
  return text;
}

std::string formatted(Warp& w, const std::string& format, Arguments& arguments, unsigned lane) {
  std::string out;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') {
      out += format[at];
      continue;
    }
    const std::size_t end = format.find_first_of("diouxXcsfFeEgGaAp%", at + 1);
    if (end == std::string::npos) return out + format.substr(at);
    const std::string spec = format.substr(at, end - at + 1);
    const bool wide = spec.find('l') != std::string::npos;
    const char kind = format[end];
    at = end;
    if (kind == '%') out += '%';
    else if (kind == 's') out += text_at(w, arguments.take<std::uint64_t>(), lane);
    else if (kind == 'p') out += hex(arguments.take<std::uint64_t>());
    else if (std::strchr("fFeEgGaA", kind)) out += one(spec, arguments.take<double>());
    else if (wide) out += one(spec, arguments.take<std::int64_t>());
    else out += one(spec, arguments.take<std::int32_t>());
  }
  return out;
}

// extra: 0 and 1 where the format and the arguments' address lie, 2 where the result goes, or -1
Step print(Warp& w, const Instruction& i, LaneMask m) {
  each_lane(m, [&](unsigned l) {
    Arguments arguments(w, parameter<std::uint64_t>(w, i, 1, l), l);
    const std::string text = formatted(w, text_at(w, parameter<std::uint64_t>(w, i, 0, l), l), arguments, l);
    const std::string line = "[" + w.cta->launch.program->function->name + " " + w.cta->name() + " warp " + std::to_string(w.index) +
                             (w.cta->launch.role_of(w.index).empty() ? "" : " (" + w.cta->launch.role_of(w.index) + ")") + " lane " + std::to_string(l) + "] " +
                             text + (text.ends_with('\n') ? "" : "\n");
    std::fwrite(line.data(), 1, line.size(), stderr);
    if (i.extra[2] >= 0) {
      const std::int32_t count = arguments.count;
      std::memcpy(local_at(w, static_cast<std::uint64_t>(i.extra[2]), 4, 4, l, "the result of printf"), &count, 4);
    }
  });
  return Step::next;
}

// extra: 0 message, 1 file, 2 line, 3 function
Step fail_assertion(Warp& w, const Instruction& i, LaneMask m) {
  const auto l = static_cast<unsigned>(std::countr_zero(m));
  throw Fault{"assertion `" + text_at(w, parameter<std::uint64_t>(w, i, 0, l), l) + "` failed at " + text_at(w, parameter<std::uint64_t>(w, i, 1, l), l) + ":" +
                  std::to_string(parameter<std::uint32_t>(w, i, 2, l)), static_cast<int>(l)};
}

// call (result), function, (parameters)
void decode_call(Decode& d) {
  Instruction& i = d.instruction();
  i.group = InstructionClass::other;
  d.take("uni");
  d.expect_operands(2, 3);
  const bool has_result = d.operand(0).kind == Operand::Kind::vector;
  const Operand& function = d.operand(has_result);
  const Operand& given = d.operand(has_result + 1u);
  const bool prints = function.name == "vprintf", fails = function.name == "__assertfail";
  if (!prints && !fails) d.unsupported("a call of '" + function.name + "'");
  const auto place = [&](const Operand& o) {
    if (!d.builder().is_call_parameter(o)) d.wrong("expected a variable of .param space");
    return static_cast<std::int32_t>(d.builder().variable_address(o.variable));
  };
  const std::size_t count = prints ? 2 : 5;
  if (given.kind != Operand::Kind::vector || given.elements.size() != count) d.wrong("expected " + std::to_string(count) + " parameters of " + function.name);
  for (std::size_t n = 0; n < count; ++n) i.extra[n] = place(given.elements[n]);
  if (prints) i.extra[2] = has_result ? place(d.operand(0).elements.at(0)) : -1;
  i.exec = prints ? print : fail_assertion;
}

}  // namespace

void add_call_family(DecoderTable& t) { t["call"] = decode_call; }

}  // namespace tilewright::runtime::sim
