"""Checks what bench exported: bench.json, trace.json."""
import json
import sys

bench, trace = (json.load(open(path)) for path in sys.argv[1:3])
assert bench["schema"] == 1 and bench["vendor"] is None and bench["machine"]["tilewright"]
assert bench["fused"]["median_ms"] > 0 and bench["unfused"]["kernels"] > bench["fused"]["kernels"] == len(bench["groups"])
assert bench["inputs"] == ["x float32 [32, 784]"] and bench["sizes_assumed_1"] == []
assert abs(sum(group["share"] for group in bench["groups"]) - 1) < 1e-6 and all(group["kernel"] for group in bench["groups"])
assert "layer1.matmul" in bench["groups"][0]["members"] and bench["groups"][0]["vendor_ms"] is None

slices = {1: [], 2: []}
for event in trace["traceEvents"]:
    if event["ph"] == "X":
        slices[event["pid"]].append(event)
assert len(slices[1]) == bench["fused"]["kernels"] and len(slices[2]) == bench["unfused"]["kernels"]
for run in slices.values():
    gaps = [after["ts"] - before["ts"] - before["dur"] for before, after in zip(run, run[1:])]
    assert run[0]["ts"] >= 0 and min(gaps) > -1e-6, "slices overlap"
    assert max(gaps) > 0, "slices lie end to end: their begins are sums, not what was measured"
nodes = {name for event in slices[1] for name in event["args"]["nodes"]}
assert nodes == {name for event in slices[2] for name in event["args"]["nodes"]} and "layer1.add" in nodes
assert all(event["args"]["bytes"] > 0 and event["args"]["flops"] > 0 for event in slices[1])
