# lit: every .mlir and .test below this folder; `// RUN:` lines drive tilewright-opt, tilewright, FileCheck and not.
import os

import lit.formats

config.name = "tilewright"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tilewrightBuild, "tests", "lit", "output")
config.environment["PATH"] = os.pathsep.join([config.tilewrightBuild, config.llvmTools, os.environ["PATH"]])
config.environment["TILEWRIGHT_SHARED"] = config.tilewrightShared
config.substitutions.append(("%source", os.path.dirname(os.path.dirname(config.test_source_root))))
for library in "cuda", "hip", "hip5":
    config.substitutions.append((f"%{library}-stand-in", os.path.join(config.tilewrightBuild, "tests", f"{library}-stand-in")))
config.substitutions.append(("%blas-stand-in", os.path.join(config.tilewrightBuild, "tests", "blas-stand-in")))
config.substitutions.append(("%build", config.tilewrightBuild))
config.substitutions.append(("%models", os.path.join(config.tilewrightBuild, "models", "demo")))

try:  # a bare chroot has no pseudo-terminals
    for end in os.openpty():
        os.close(end)
    config.available_features.add("terminals")
except OSError as error:
    lit_config.note(f"tests of what is drawn on a terminal do not run: {error}")
