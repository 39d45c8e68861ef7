// tilewright mutate
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "runtime/cli/equivalents.h"
#include "runtime/cli/mutation_run.h"
#include "tests/unit/cli/ran.h"
#include "tests/unit/error_of.h"

namespace tilewright::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string written(const char* name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

TEST(Mutate, SaysWhoFindsWhat) {
  const Ran r = ran("mutate copy --only parity.flip --only release.delete --schedules 2 --expect 100");
  EXPECT_EQ(r.status, 0) << r.out << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("verifier   release.delete"), HasSubstr("simulator  parity.flip"), HasSubstr("3 of "), HasSubstr("no false alarm")));
}

TEST(Mutate, ASampleIsRepeatable) {
  const auto sample = [](const char* seed) { return ran(std::string("mutate copy --sample 3 --schedules 1 --expect 0 --seed ") + seed).out; };
  EXPECT_EQ(sample("1"), sample("1"));
  EXPECT_NE(sample("1"), sample("2"));
}

TEST(Mutate, TheTableOfEquivalentMutantsMustBeTrue) {
  const std::string line = "copy | release.delete | 0 | release of ring \"ring\" in role \"store\" | nobody needs it\n";
  const Ran found = ran("mutate copy --only release.delete --equivalent " + written("found.txt", line));
  EXPECT_EQ(found.status, 1);
  EXPECT_THAT(found.out, HasSubstr("the table calls it equivalent (nobody needs it)"));
  const Ran stale = ran("mutate copy --only release.delete --equivalent " + written("stale.txt", "# a note\n\ncopy | release.delete | 0 | release of another ring | why\n"));
  EXPECT_EQ(stale.status, 1);
  EXPECT_THAT(stale.err, AllOf(HasSubstr("entries that name no mutant"), HasSubstr("copy | release.delete | 0 | release of another ring")));
  EXPECT_THAT(test::error_of([] { read_equivalents(written("bad.txt", "copy | release.delete | zero | release | why\n")); }), HasSubstr("bad.txt:1: expected"));
  EXPECT_THAT(test::error_of([] { read_equivalents(written("bare.txt", "copy | release.delete | 0 | release |\n")); }), HasSubstr("bare.txt:1: expected"));
}

TEST(Mutate, WrongUse) {
  EXPECT_EQ(ran("mutate copy --only levitate").status, 2);
  EXPECT_THAT(ran("mutate levitate").err, HasSubstr("no kernel 'levitate'"));
}

TEST(Mutate, MutantsReachNoCache) {
  const std::vector<MutationCase> cases = mutation_cases(find("copy"));
  const MutatedKernel kernel{cases[0].kernels[0], {&cases[0]}};
  ops::BuildOptions options;
  options.assemble = false;
  const std::string before = ops::build({kernel.source}, options)[0]->stages.ptx;
  for (const compiler::Mutation& m : compiler::mutations(kernel.source.make()))
    if (m.kind == "parity.flip") EXPECT_NE(try_mutant(kernel, m, 1).finder, Finder::nobody);
  ops::Builder fresh(cache::process_cache());  // what the disk has
  EXPECT_EQ(fresh.build({kernel.source}, options)[0]->stages.ptx, before);
  EXPECT_EQ(ops::build({kernel.source}, options)[0]->stages.ptx, before);
  EXPECT_EQ(try_mutant(kernel, {}, 2).finder, Finder::nobody);
}

TEST(Mutate, EveryMutationOfTheListCanBeMade) {
  const ops::Source source = mutation_cases(find("softmax"))[0].kernels[0];
  for (const compiler::Mutation& m : compiler::mutations(source.make())) {
    compiler::Options options;
    options.keep_stages = false;
    options.mutation = m;
    EXPECT_THAT(test::error_of([&] { compiler::compile(source.make(), options); }), Not(HasSubstr("no place for the mutation"))) << m.kind << " " << m.place;
  }
}

}  // namespace
}  // namespace tilewright::cli
