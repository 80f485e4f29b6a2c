"""Checks that ODS files describe every operand, attribute and result of their operations, and every pass.

    ods_descriptions.py FILE.td...

Each name in `arguments` and `results` stands in backquotes in the operation's description. Exit code 1 if one does not.
"""
import re
import sys

missing, count = [], 0
for path in sys.argv[1:]:
    for definition in re.split(r"\n(?=def )", open(path).read()):
        name = re.match(r"def (\w+) : (\w+)", definition)
        if not name:
            continue
        description = re.search(r"let description = \[\{(.*?)\}\];", definition, re.S)
        text = description[1] if description else ""
        if re.match(r"def \w+ : (Pass|PlaceStep|GpuStep)<", definition):
            count += 1
            if not text:
                missing.append(f"{path}: {name[1]} has no description")
        for list in re.findall(r"let (?:arguments|results) = \((?:ins|outs)(.*?)\);", definition, re.S):
            for operand in re.findall(r":\$(\w+)", list):
                count += 1
                if f"`{operand}`" not in text:
                    missing.append(f"{path}: {name[1]} does not describe `{operand}`")
print("\n".join(missing + [f"{count} names, {len(missing)} without a description"]))
sys.exit(1 if missing or count < 5 else 0)
