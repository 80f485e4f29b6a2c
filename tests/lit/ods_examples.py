"""Prints the examples of an ODS file as modules that tilewright-opt can parse, split by "// -----".

An example that is a whole kernel stands alone. Another one uses values that it does not define: those in brackets are indices
or carry their type there, the others get the types listed behind the last " : ", in order; the last one serves for those that follow.
"""
import re
import sys


def splitTypes(text):
    """The types of "tensor<8x64xf32>, tensor<8x32xf32>", split at commas outside brackets."""
    types, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<([") - (c in ">)]" and text[i - 1] != "-")
        if c == "," and depth == 0:
            types.append(text[start:i].strip())
            start = i + 1
    types.append(text[start:].strip())
    return [t for t in types if t]


def beforeArrow(text):
    """What stands before the last "->" outside brackets: a type's own map may have one."""
    depth, end = 0, len(text)
    for i, c in enumerate(text):
        depth += (c in "<([") - (c in ">)]" and text[i - 1] != "-")
        if depth == 0 and text.startswith("->", i):
            end = i
    return text[:end]


def operandTypes(example):
    body = example.split("=", 1)[1] if re.match(r"\s*%\w+(:\d+)?\s*=", example) else example
    body = re.sub(r" \{\n.*", "", body, flags=re.S) # a region's values are its own
    types = {}
    for bracket in re.findall(r"[\[(]((?:%\w+[^\])]*))[\])]", body):
        typed = re.match(r"(%\w+) : (.*)", bracket)
        if typed:
            types[typed[1]] = typed[2]
        elif re.match(r"\s*tile\.", body):
            types.update({name: "index" for name in re.findall(r"%\w+", bracket)})
    if re.match(r"\s*tile\.(coordinate|ordered_program)", body):
        types[re.search(r"%\w+", body)[0]] = "index"
    rest = [name for name in dict.fromkeys(re.findall(r"%\w+", body)) if name not in types]
    if rest:
        listed = beforeArrow(body.rsplit(" : ", 1)[1]).strip()
        if listed.startswith("("):
            listed = listed[1:-1]
        given = splitTypes(listed)
        types.update(zip(rest, given + given[-1:] * len(rest)))
    return types


def main():
    text = open(sys.argv[1]).read()
    examples = re.findall(r"```mlir\n(.*?)```", text, re.S)
    chunks = []
    for example in examples:
        statements = [s for s in re.split(r"\n(?=    (?:%\w+(?::\d+)? =|tile\.|graph\.))", "\n" + example.rstrip()) if s.strip()]
        if re.match(r"\s*(graph|tile)\.kernel", example):
            statements = [example]
        for statement in statements:
            # A terminator's example is shown inside the kernel's; a launch needs its kernel.
            if re.match(r"\s*(graph\.return|tile\.return)|.*graph\.launch", statement):
                continue
            lines = []
            if "kernel @" not in statement:
                lines += [f'{name} = "test.value"() : () -> {type}' for name, type in operandTypes(statement).items()]
            chunks.append("\n".join(lines + [statement]))
    assert len(chunks) >= 10, "the file has lost its examples"
    print("\n// -----\n".join(chunks))


main()
