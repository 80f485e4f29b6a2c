#!/usr/bin/env python3
"""Counts attention kernels in sm_90a's programs of models in half precision.

    tests/oracle/countattention.py TILEWRIGHT MODEL=COUNT...         or          tests/oracle/countattention.py TILEWRIGHT FOLDER

A folder holds what `tests/oracle/attention.py --half` writes: folders with a model.onnx of one attention. Exit code 1 if a count differs or there is
nothing to count, 77 (skipped, to CTest) if a model is absent.
"""
import json
import re
import pathlib
import subprocess
import sys
import tempfile

def forms(steps):
    """The forms of all launches, those of loops and branches included; of kernels for ranges of a size, the last one's."""
    for step in steps:
        if "form" in step and not re.search(r"_to[0-9]+$", step["kernel"]):
            yield step["form"]
        for inner in ("body", "then", "else"):
            yield from forms(step.get(inner, []))


def kernels(tilewright, model, artifact):
    command = [tilewright, "compile", model, "--target", "sm_90a", "--random-weights", "1", "-q", "-o", artifact]
    subprocess.run(command, check=True)
    printed = subprocess.run([tilewright, "inspect", artifact], check=True, capture_output=True, text=True).stdout
    plan = next(plan for plan in json.loads(printed)["plans"] if plan["mode"] == "all")
    return sum(form.startswith("attention") for form in forms(plan["steps"]))


def main():
    tilewright, *arguments = sys.argv[1:]
    wanted = {}
    for argument in arguments:
        path, _, count = argument.partition("=")
        if count:
            wanted[pathlib.Path(path)] = int(count)
        else:
            wanted.update((model, 1) for model in sorted(pathlib.Path(path).glob("*/model.onnx")))
    absent = [str(path) for path in wanted if not path.exists()]
    if absent:
        print("absent:", *absent)
        return 77
    differ = 0
    with tempfile.TemporaryDirectory() as folder:
        for path, count in wanted.items():
            found = kernels(tilewright, str(path), folder + "/model.tw")
            if found != count:
                differ += 1
                print(f"{path}: expected {count} attention kernels, got {found}")
    print(f"{len(wanted)} models counted, {differ} differ")
    return 1 if differ or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
