"""Checks that each pass tilewright-NAME of FOLDER/Passes.td has a test, tests/lit/FOLDER/NAME.mlir, that runs it.

    pass_tests.py ROOT
"""
import glob
import os
import re
import sys

root = sys.argv[1]
missing, count = [], 0
for path in glob.glob(f"{root}/*/Passes.td") + glob.glob(f"{root}/*/*/Passes.td"):
    folder = os.path.relpath(os.path.dirname(path), root)
    text = open(path).read()
    prefixes = dict(re.findall(r'class (\w+)<string step> : Pass<"tilewright-([\w-]+)" # step', text))
    names = re.findall(r'def \w+ : Pass<"tilewright-([\w-]+)"', text)
    for base, step in re.findall(r'def \w+ : (\w+)<"([\w-]+)">', text):
        names += [prefixes[base] + step] if base in prefixes else []
    count += len(names)
    for name in names:
        test = f"{root}/tests/lit/{folder}/{name}.mlir"
        if not os.path.exists(test) or f"tilewright-{name}" not in open(test).read():
            missing.append(f"tilewright-{name}: no test tests/lit/{folder}/{name}.mlir that runs it")
print("\n".join(missing + [f"{count} passes, {len(missing)} without a test"]))
sys.exit(1 if missing or count < 15 else 0)
