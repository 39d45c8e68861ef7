// The program `tilewright`. The command's code lies in libtilewright.so: compiler, simulator and operators are hidden inside the
// library, which exports C functions only, and a second copy of LLVM in this file would double what is shipped.
#include "runtime/cli/tilewright_main.h"

int main(int argc, char** argv) { return tilewright_main(argc, argv); }
