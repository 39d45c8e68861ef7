#include <iostream>

#include "runtime/cli/command.h"
#include "runtime/cli/tilewright_main.h"

int tilewright_main(int argc, char** argv) { return tilewright::cli::command(argc, argv, std::cout, std::cerr); }
