"""Edits of a stage that cannot be compiled: each must end in one sentence and the exit code of its row."""
import os
import re
import shutil
import subprocess
import sys

MALFORMED = 4

# stage, what is replaced, by what, the exit code, what the sentence says
EDITS = [
    ("3-schedule", r"tile = \[[^\]]*\]", "tile = [4, 4, 4, 4, 4]", MALFORMED, "sizes because the kernel has that many loops"),
    ("3-schedule", r"tile = \[[^\]]*\]", "tile = []", MALFORMED, "sizes because the kernel has that many loops"),
    ("3-schedule", r"tile = \[[^\]]*\]", "tile = [0]", MALFORMED, "expected positive tile sizes"),
    ("3-schedule", r"reduce = \[[^\]]*\]", "reduce = [4, 4, 4]", MALFORMED, "sizes because the kernel has that many loops"),
    ("3-schedule", r"schedule<matmul", "schedule<pointwise", MALFORMED, "expected"),
    ("3-schedule", r"schedule<matmul", "schedule<soup", MALFORMED, "expected one of [pointwise"),
    ("3-schedule", r"registers = \[", "registers = [1, 2, 3, ", MALFORMED, "expected registers to be"),
    ("3-schedule", r"#graph.root<matmul>", "#graph.root<pointwise>", MALFORMED, "expected"),
    ("3-schedule", r"schedule = #tile.schedule<[^>]*>", "other = 1", MALFORMED, "expected a schedule"),
    ("3-schedule", r'graph.target = "[^"]*"', 'graph.target = "soup"', MALFORMED, "expected graph.target"),
    ("3-schedule", r'tile.matmul_precision = "[^"]*"', 'tile.matmul_precision = "tf23"', MALFORMED, "expected tile.matmul_precision"),
    ("2-group", r"root = #graph.root<[^>]*>", "other = 1", MALFORMED, "expected a root"),
    ("2-group", r'graph.mode = "[^"]*"', 'graph.mode = "soup"', MALFORMED, "expected graph.mode"),
    ("2-group", r'graph.stage = "[^"]*"', 'graph.stage = "tile"', MALFORMED, "is no IR of stage tile"),
    ("4-tile", r"symbols = #map\d*", "other = 1", MALFORMED, "expected symbols"),
    ("4-tile", r"tile\.dot ", "tile.dots ", MALFORMED, "is no valid IR"),
]


def run(tilewright, arguments):
    result = subprocess.run([tilewright, *arguments], capture_output=True, text=True)
    return result.returncode, result.stderr


def main():
    tilewright, folder = sys.argv[1:]
    bad = 0
    for number, (stage, pattern, text, code, sentence) in enumerate(EDITS):
        original = open(f"{folder}/{stage}.mlir").read()
        edited, count = re.subn(pattern, lambda _: text, original)
        path = f"{folder}/edit-{number}.mlir"
        open(path, "w").write(edited)
        got, message = run(tilewright, ["compile", path, "-q", "-o", f"{folder}/edit.tw"])
        if count == 0 or got != code or sentence not in message or message.count("\n") != 1:
            print(f"{stage}, {pattern} -> {text}: {count} replaced, exit code {got} instead of {code}: {message}")
            bad += 1
    alone = f"{folder}/../../without-constants"
    os.makedirs(alone, exist_ok=True)
    shutil.copy(f"{folder}/4-tile.mlir", alone)
    got, message = run(tilewright, ["compile", f"{alone}/4-tile.mlir", "-q", "-o", f"{alone}/edit.tw"])
    if got != MALFORMED or "expected constants.bin beside it" not in message:
        print(f"without constants: exit code {got}: {message}")
        bad += 1
    sys.exit(bad > 0)


main()
