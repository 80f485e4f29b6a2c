"""Checks that every diagnostic of C++ files has a case in .mlir files: the text of an expected-error contains its longest string.

    diagnostics.py SOURCE... -- TEST... [--but TEXT]...

TEXT is a diagnostic that no .mlir file can bring about.

Prints each diagnostic without a case, and how many there are in all. Exit code 1 if one has none.
"""
import re
import sys


def diagnostics(text):
    """The longest string of each statement that emits an error."""
    for statement in re.findall(r"(?:emitOpError|emitError|\berror)\((?!\w)(.*?);", text, re.S):
        strings = re.findall(r'"((?:[^"\\]|\\.)*)"(?:\s*"((?:[^"\\]|\\.)*)")*', statement)
        joined = [re.sub(r'"\s*"', "", s) for s in re.findall(r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*', statement)]
        if strings:
            yield max((s.strip('"') for s in joined), key=len).strip()


def main():
    split = sys.argv.index("--")
    rest = sys.argv[split + 1:]
    excused = [text for option, text in zip(rest, rest[1:]) if option == "--but"]
    tests = "\n".join(open(path).read() for path in rest if path.endswith(".mlir"))
    expected = "\n".join(re.findall(r"expected-error.*?{{(.*)}}", tests))
    count, missing = 0, []
    for path in sys.argv[1:split]:
        for text in diagnostics(open(path).read()):
            count += 1
            if text not in expected and text not in excused:
                missing.append(f"{path}: {text}")
    print("\n".join(missing + [f"{count} diagnostics, {len(missing)} without a case"]))
    sys.exit(1 if missing or count < 5 else 0)


main()
