"""Configuration of the lit tests: which files are tests and which tools they may call."""
import os

import lit.formats

config.name = "tilewright"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".ptx", ".test"]
config.excludes = ["lit.cfg.py", "lit.site.cfg.py.in", "inputs"]
config.test_source_root = os.path.dirname(__file__)

path = [os.path.join(config.build_dir, "bin"), os.path.join(config.llvm_dir, "bin"), os.environ["PATH"]]
config.environment["PATH"] = os.pathsep.join(path)
config.environment["TILEWRIGHT_TOOLS"] = config.tools_dir
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Assemblers that scripts/setup.sh puts into the project's folder.
config.substitutions.append(("%ptxas12", os.path.join(config.tools_dir, "cuda-12.8/bin/ptxas")))
config.substitutions.append(("%ptxas13", os.path.join(config.tools_dir, "cuda-13.0/bin/ptxas")))
config.substitutions.append(("%nvdisasm", os.path.join(config.tools_dir, "nvdisasm/bin/nvdisasm")))
