#!/usr/bin/env python3
"""Checks house rules: columns, lengths of files and functions, files in a folder, include cycles, no models and arrays.

    tests/house/checkHouse.py ROOT

Relies on the tree being formatted (scripts/format), so that a body ends with a brace at the indentation of its first line.
Prints each violation as FILE:LINE: what was found and what is expected. Exit code 1 if there is any.
"""
import collections, os, re, subprocess, sys

mostColumns, mostLines, mostFunctionLines, mostSources = 120, 500, 60, 25
sourceFolders = ("frontend", "fusion", "tilegen", "backend", "runtime", "models", "tools", "tests")
ours = (".cpp", ".h", ".hpp", ".c", ".td")
data = (".onnx", ".tw", ".npy", ".npz", ".pb")  # which tests and demos make


def listed(root):
    command = ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"]
    return subprocess.run(command, capture_output=True, text=True).stdout.split("\n")


def files(root):
    for path in listed(root):
        if path.startswith(sourceFolders) and path.endswith(ours) and os.path.exists(f"{root}/{path}"):
            yield path


def rawStrings(lines):
    """For each line, whether it is inside of a raw string: IR and web pages, which no formatter may break."""
    end = None
    for line in lines:
        inside = end is not None
        rest = line
        while True:
            if end is None:
                begin = re.search(r'R"([^(\s]*)\(', rest)
                if not begin:
                    break
                end, rest = f"){begin.group(1)}\"", rest[begin.end():]
                inside = True
            if end not in rest:
                break
            rest = rest[rest.index(end) + len(end):]
            end = None
        yield inside


def functions(lines, raw):
    """First line (from 1), number of lines and text of each function body: a line that ends with a parenthesis (or a
    qualifier behind it) and an opening brace, up to the closing brace at the indentation of its statement's first line."""
    start = None
    for i, line in enumerate(lines):
        if raw[i] or line.lstrip().startswith("//"):
            continue
        indent = len(line) - len(line.lstrip())
        if start is None:
            opens = re.search(r"\)( const| noexcept| override| mutable| final|( ->.*))* \{$", line)
            if opens and not re.match(r"\s*(if|for|while|switch|else|do|\}|case|namespace|return|struct|class|enum|union)\b", line):
                first = i # a signature of several lines begins where its indentation does
                while first > 0 and lines[first].startswith("    ") and len(lines[first]) - len(lines[first].lstrip()) > 3:
                    first -= 1
                indent = len(lines[first]) - len(lines[first].lstrip())
                isTable = re.search(r"= \{$", lines[first]) # of lambdas, each of which is short
                if indent <= 2 and not isTable:
                    start = (first, indent)
        elif line.rstrip(";") in (" " * start[1] + "}", " " * start[1] + "})"):
            yield start[0] + 1, i - start[0] + 1, lines[start[0]].strip()
            start = None


def cycles(includes):
    """The cycles of a graph of files, each as the list of its members (Tarjan's strongly connected components)."""
    index, low, stack, onStack, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        onStack.add(node)
        for other in includes.get(node, []):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in onStack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = []
            while True:
                other = stack.pop()
                onStack.discard(other)
                component.append(other)
                if other == node:
                    break
            if len(component) > 1:
                found.append(sorted(component))

    sys.setrecursionlimit(10000)
    for node in list(includes):
        if node not in index:
            visit(node)
    return found


def violations(root):
    includes, units, sources = {}, collections.defaultdict(set), collections.Counter()
    for path in files(root):
        lines = open(f"{root}/{path}").read().split("\n")
        raw = list(rawStrings(lines))
        sources[os.path.dirname(path)] += 1
        if "SPDX-License-Identifier: Apache-2.0" not in lines[0]:
            yield f"{path}:1: expected a first line with SPDX-License-Identifier: Apache-2.0"
        if len(lines) > mostLines + 1:
            yield f"{path}:1: {len(lines) - 1} lines, expected at most {mostLines}"
        for i, line in enumerate(lines):
            if len(line) > mostColumns and not raw[i]:
                yield f"{path}:{i + 1}: {len(line)} columns, expected at most {mostColumns}"
        if not path.endswith(".td"):
            for first, count, text in functions(lines, raw):
                if count > mostFunctionLines:
                    yield f"{path}:{first}: {count} lines in a function, expected at most {mostFunctionLines}: {text}"
        included = re.findall(r'^#include "([^"]+)"', "\n".join(lines), re.M)
        includes[path] = included
        unit = os.path.splitext(path)[0]
        units[unit] |= {os.path.splitext(other)[0] for other in included} - {unit}
    for path in listed(root):
        if path.endswith(data) and os.path.exists(f"{root}/{path}"):
            yield f"{path}: expected no models, artifacts or arrays in the repository"
    for folder, count in sources.items():
        if count > mostSources:
            yield f"{folder}: {count} sources, expected at most {mostSources}"
    for cycle in cycles({unit: sorted(others) for unit, others in units.items()}):
        yield f"a cycle of includes: {', '.join(cycle)}"


found = list(violations(sys.argv[1]))
print("\n".join(found + [f"{len(found)} violations"]))
sys.exit(1 if found else 0)
