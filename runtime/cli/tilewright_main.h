// The command as a function of libtilewright.so.
#pragma once

/// Runs the command `tilewright`; returns its exit status: 0, 1 for a failure or a missed bar, 2 for wrong usage.
extern "C" __attribute__((visibility("default"))) int tilewright_main(int argc, char** argv);
