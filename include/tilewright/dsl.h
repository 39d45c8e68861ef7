// The language: everything a kernel's author needs.
#pragma once
#include "tilewright/dsl/kernel.h"
