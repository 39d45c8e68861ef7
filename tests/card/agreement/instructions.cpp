#include "tests/card/agreement/instructions.h"

#include <bit>
#include <cmath>
#include <random>
#include <span>

#include "runtime/device/device.h"

namespace tilewright::test {
namespace {

constexpr unsigned kThreads = 256, kCtas = 256, kCount = kThreads * kCtas;

/// An instruction from %a, %b, %c (their bits as %fa, %fb, %fc; lower halves %ha, %hb) to %r; further registers: %x, %p, %h, %f, %l.
struct Operation {
  std::string name, text;
  double relative = 0, absolute = 0;   // PTX's bound of an .approx function; both 0: equal bits
};

std::string module_of(const std::vector<Operation>& operations) {
  std::string text = ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n.reqntid " + std::to_string(kThreads) +
                     "\n{\n.reg .b32 %a, %b, %c, %r, %t;\n.reg .f32 %fa, %fb, %fc;\n.reg .b16 %ha, %hb;\n.reg .b64 %in, %out, %at;\n"
                     "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %t, %tid.x;\nmov.u32 %r, %ctaid.x;\nmad.lo.u32 %t, %r, " + std::to_string(kThreads) + ", %t;\n"
                     "mul.wide.u32 %at, %t, 4;\nadd.s64 %in, %in, %at;\nadd.s64 %out, %out, %at;\n";
  for (const char* name : {"a", "b", "c"}) {
    const std::string n = name;
    text += "ld.global.b32 %" + n + ", [%in+" + std::to_string(4ull * kCount * static_cast<unsigned>(n[0] - 'a')) + "];\nmov.b32 %f" + n + ", %" + n + ";\n";
  }
  text += "cvt.u16.u32 %ha, %a;\ncvt.u16.u32 %hb, %b;\n";
  for (std::size_t i = 0; i < operations.size(); ++i)
    text += "{\n.reg .b32 %x;\n.reg .b16 %h;\n.reg .f32 %f;\n.reg .b64 %l;\n.reg .pred %p;\n" + operations[i].text + "\nst.global.b32 [%out+" + std::to_string(4ull * kCount * i) + "], %r;\n}\n";
  return text + "ret;\n}\n";
}

Ran run(const std::vector<Operation>& operations, const std::vector<std::uint32_t>& inputs, const std::string& device_name) {
  const auto device = runtime::make_device(device_name);
  const std::size_t bytes = 4ull * kCount * operations.size();
  const auto in = device->allocate(inputs.size() * 4), out = device->allocate(bytes);
  device->copy_to_device(in, inputs.data(), inputs.size() * 4);
  runtime::KernelImage image;
  image.name = "k";
  image.ptx = module_of(operations);
  image.threads = kThreads;
  Ran ran;
  ran.ptx = {image.ptx};
  {
    const auto kernel = device->load(image);
    const runtime::KernelParameter parameters[] = {std::as_bytes(std::span(&in, 1)), std::as_bytes(std::span(&out, 1))};
    device->launch(*kernel, {{kCtas, 1, 1}}, parameters);
    device->synchronize();
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    Captured c{operations[i].name, "f32", std::vector<std::uint8_t>(4ull * kCount)};
    device->copy_to_host(c.bytes.data(), out + 4ull * kCount * i, c.bytes.size());
    ran.outputs.push_back(std::move(c));
    ran.rms.push_back(0);
  }
  device->release(in);
  device->release(out);
  return ran;
}

/// Any bits, with many infinities, NaNs, zeros, subnormals and small integers among them.
std::vector<std::uint32_t> any_bits() {
  std::mt19937 random(11);
  const std::uint32_t special[] = {0, 1, 0x80000000u, 0xffffffffu, 0x7fffffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0x00800000u, 0x007fffffu, 0x3f800000u, 0x7f7fffffu, 0x33800000u};
  std::vector<std::uint32_t> words(3ull * kCount);
  for (auto& w : words) {
    const std::uint32_t x = static_cast<std::uint32_t>(random()), kind = static_cast<std::uint32_t>(random()) % 16;
    w = kind == 0 ? special[x % std::size(special)] : kind == 1 ? x % 64 : kind == 2 ? 0x3f000000u + x % 0x01000000u : x;
  }
  return words;
}

/// Floats of both signs with exponents up to +-20, `positive` without signs.
std::vector<std::uint32_t> moderate_floats(bool positive) {
  std::mt19937 random(12);
  std::vector<std::uint32_t> words(3ull * kCount);
  for (auto& w : words) {
    const auto x = static_cast<std::uint32_t>(random());
    w = (positive ? 0 : x & 0x80000000u) | (107 + static_cast<std::uint32_t>(random()) % 40) << 23 | (x & 0x7fffffu);
  }
  return words;
}

std::vector<Operation> integers() {
  std::vector<Operation> all;
  for (const char* op : {"add.s32", "sub.u32", "mul.lo.s32", "mul.hi.u32", "mul.hi.s32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "add.sat.s32"})
    all.push_back({op, std::string(op) + " %r, %a, %b;"});
  for (const char* op : {"not.b32", "neg.s32", "abs.s32", "popc.b32", "clz.b32", "brev.b32", "bfind.u32", "bfind.s32"}) all.push_back({op, std::string(op) + " %r, %a;"});
  for (const char* op : {"mad.lo.s32", "mad.hi.u32", "sad.s32", "prmt.b32", "shf.l.wrap.b32", "shf.r.clamp.b32", "bfe.u32", "bfe.s32"})
    all.push_back({op, std::string(op) + " %r, %a, %b, %c;"});
  for (const char* op : {"shl.b32", "shr.s32", "shr.u32"}) all.push_back({op, "and.b32 %x, %b, 63;\n" + std::string(op) + " %r, %a, %x;"});
  for (const char* op : {"div.s32", "rem.s32", "div.u32", "rem.u32"}) all.push_back({op, "or.b32 %x, %b, 2;\n" + std::string(op) + " %r, %a, %x;"});
  all.push_back({"lop3.b32", "lop3.b32 %r, %a, %b, %c, 0x96;"});
  all.push_back({"bfi.b32", "and.b32 %x, %c, 31;\nbfi.b32 %r, %a, %b, %x, 7;"});
  all.push_back({"mul.wide.s32", "mul.wide.s32 %l, %a, %b;\nshr.s64 %l, %l, 20;\ncvt.u32.u64 %r, %l;"});
  all.push_back({"setp.lt.s32", "setp.lt.s32 %p, %a, %b;\nselp.b32 %r, %a, %c, %p;"});
  return all;
}

std::vector<Operation> rounded_floats() {
  std::vector<Operation> all;
  const auto add = [&](const std::string& op, const std::string& operands) { all.push_back({op, op + " %f, " + operands + ";\nmov.b32 %r, %f;"}); };
  for (const char* mode : {"rn", "rz", "rm", "rp"})
    for (const char* ftz : {"", ".ftz"}) {
      const std::string end = std::string(".") + mode + ftz + ".f32";
      add("add" + end, "%fa, %fb"), add("mul" + end, "%fa, %fb"), add("fma" + end, "%fa, %fb, %fc"), add("div" + end, "%fa, %fb"), add("sqrt" + end, "%fa"), add("rcp" + end, "%fa");
    }
  for (const char* op : {"min.f32", "max.f32", "min.NaN.f32", "max.ftz.f32", "sub.rn.f32", "add.rn.sat.f32"}) add(op, "%fa, %fb");
  add("abs.f32", "%fa"), add("neg.f32", "%fa");
  for (const char* op : {"eq", "ne", "lt", "ge", "ltu", "neu", "nan", "num"}) {
    const std::string name = std::string("setp.") + op + ".f32";
    all.push_back({name, name + " %p, %fa, %fb;\nselp.b32 %r, 1, 0, %p;"});
  }
  for (const char* op : {"add.rn.f16x2", "mul.rn.f16x2", "add.rn.bf16x2", "mul.rn.bf16x2", "max.f16x2", "min.NaN.bf16x2"}) all.push_back({op, std::string(op) + " %r, %a, %b;"});
  for (const char* op : {"fma.rn.f16x2", "fma.rn.bf16x2", "fma.rn.relu.bf16x2"}) all.push_back({op, std::string(op) + " %r, %a, %b, %c;"});
  return all;
}

std::vector<Operation> conversions() {
  std::vector<Operation> all;
  const auto add = [&](const std::string& op, const std::string& text) { all.push_back({op, text}); };
  for (const char* op : {"cvt.rn.f16.f32", "cvt.rz.f16.f32", "cvt.rn.bf16.f32", "cvt.rz.bf16.f32", "cvt.rn.relu.bf16.f32"}) add(op, std::string(op) + " %h, %fa;\ncvt.u32.u16 %r, %h;");
  for (const char* op : {"cvt.rn.bf16x2.f32", "cvt.rz.f16x2.f32", "cvt.rn.relu.f16x2.f32"}) add(op, std::string(op) + " %r, %fa, %fb;");
  for (const char* op : {"cvt.rna.tf32.f32", "cvt.rn.tf32.f32", "cvt.rzi.s32.f32", "cvt.rni.s32.f32", "cvt.rmi.u32.f32", "cvt.rpi.ftz.s32.f32"}) add(op, std::string(op) + " %r, %fa;");
  for (const char* op : {"cvt.rn.f32.s32", "cvt.rz.f32.u32", "cvt.rp.f32.s32"}) add(op, std::string(op) + " %f, %a;\nmov.b32 %r, %f;");
  for (const char* op : {"cvt.f32.f16", "cvt.f32.bf16"}) add(op, std::string(op) + " %f, %ha;\nmov.b32 %r, %f;");
  for (const char* op : {"cvt.rni.f32.f32", "cvt.rzi.f32.f32", "cvt.sat.f32.f32"}) add(op, std::string(op) + " %f, %fa;\nmov.b32 %r, %f;");
  add("cvt.s32.s16", "cvt.s32.s16 %r, %ha;"), add("cvt.sat.s8.s32", "cvt.sat.s8.s32 %r, %a;"), add("cvt.sat.u16.s32", "cvt.sat.u16.s32 %h, %a;\ncvt.u32.u16 %r, %h;");
  return all;
}

/// PTX's bounds: relative errors as powers of two or units in the last place (2^-23 at most), absolute ones where it states those.
std::vector<Operation> approximate() {
  std::vector<Operation> all;
  const auto add = [&](const std::string& op, const std::string& operands, double relative, double absolute = 0) {
    all.push_back({op, op + " %f, " + operands + ";\nmov.b32 %r, %f;", relative, absolute});
  };
  add("rcp.approx.f32", "%fa", 0x1p-23), add("rcp.approx.ftz.f32", "%fa", 0x1p-23), add("sqrt.approx.f32", "%fa", 0x1p-23), add("rsqrt.approx.f32", "%fa", std::exp2(-22.9));
  add("div.approx.f32", "%fa, %fb", 0x1p-22), add("div.full.f32", "%fa, %fb", 0x1p-22), add("tanh.approx.f32", "%fa", 0x1p-11);
  add("lg2.approx.ftz.f32", "%fa", 0x1p-22, 0x1p-22);
  all.push_back({"ex2.approx.f32", "mul.rn.f32 %f, %fa, 0f3A000000;\nex2.approx.f32 %f, %f;\nmov.b32 %r, %f;", 0x1p-22});
  all.push_back({"sin.approx.f32", "min.f32 %f, %fa, 0f40490FDB;\nsin.approx.f32 %f, %f;\nmov.b32 %r, %f;", 0, std::exp2(-20.5)});
  all.push_back({"cos.approx.f32", "min.f32 %f, %fa, 0f40490FDB;\ncos.approx.f32 %f, %f;\nmov.b32 %r, %f;", 0, std::exp2(-20.5)});
  return all;
}

Case case_of(std::string name, std::vector<Operation> operations, std::vector<std::uint32_t> inputs) {
  return {std::move(name), [operations, inputs](const std::string& device) { return run(operations, inputs, device); },
          [operations](const Ran&, std::size_t output) {
            const Operation& o = operations[output];
            if (o.relative == 0 && o.absolute == 0) return Bound{Bound::Kind::equal_bits, {}, 0, 0, "equal bits"};
            // Both are off the function's value: the card by PTX's bound, the simulator by an ulp.
            return Bound{Bound::Kind::each_element, std::vector<double>(kCount, o.absolute + (o.absolute > 0 ? 0x1p-23 : 0)), o.relative + 0x1p-23, 0, "PTX's bound and an ulp"};
          }};
}

}  // namespace

std::vector<Case> instruction_cases() {
  return {case_of("integers", integers(), any_bits()), case_of("rounded floats", rounded_floats(), any_bits()), case_of("conversions", conversions(), any_bits()),
          case_of("approximations", approximate(), moderate_floats(true))};
}

}  // namespace tilewright::test
