"""check_failing_calls.py cuda|hip STAND-IN ARTIFACT FOLDER: makes each call to the driver fail in turn.

A run on the stand-in lists its calls; the run is then repeated once for each call, which fails: expects exit code 5 and one sentence with the
function's name. Functions that release something cannot report failures: if they, or the calls around them, fail, the run succeeds. A
bench adds the functions that a run does not call, such as those for graphs and events.
"""
import os
import subprocess
import sys

kind, library, artifact, folder = sys.argv[1:]
releases = {"cuCtxPopCurrent_v2", "cuMemFree_v2", "cuMemFreeHost", "cuStreamDestroy_v2", "cuEventDestroy_v2", "cuGraphDestroy",
            "cuGraphExecDestroy", "cuModuleUnload", "cuDevicePrimaryCtxRelease_v2", "hipFree", "hipHostFree", "hipStreamDestroy",
            "hipEventDestroy", "hipGraphDestroy", "hipGraphExecDestroy", "hipModuleUnload"}
# Around each of these: calls that make the device current and restore the previous one, and waits before memory is freed.
around = {"cuCtxPushCurrent_v2", "cuStreamSynchronize", "hipGetDevice", "hipSetDevice", "hipStreamSynchronize"}


def run(command, **settings):
    environment = dict(os.environ, LD_LIBRARY_PATH=library, **settings)
    return subprocess.run(["tilewright", *command, "--device", kind], env=environment, capture_output=True, text=True)


def callsOf(command):
    log = os.path.join(folder, f"{kind}-{command[0]}.calls")
    if os.path.exists(log):
        os.remove(log)
    whole = run(command, STAND_IN_LOG=log)
    if whole.returncode:
        sys.exit(f"expected '{' '.join(command)}' to succeed before anything fails, got: {whole.stderr}")
    with open(log) as file:
        return file.read().split()


def belongsToRelease(calls, number):
    """Whether the call only serves to release something: it does so itself, or the next call except those around it does, or it belongs to the
    last wait, after all results are copied and before memory is freed."""
    lastRead = max(i for i, symbol in enumerate(calls, start=1) if symbol in ("cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync"))
    if number >= lastRead - (2 if kind == "hip" else 1):
        return True
    rest = [symbol for symbol in calls[number - 1:] if symbol not in around and symbol != "cuCtxPopCurrent_v2"]
    return calls[number - 1] in releases or (calls[number - 1] in around and (not rest or rest[0] in releases))


def check(command, call, symbol, releasing):
    """Whether the failure of this call was reported; ends the test if that is wrong."""
    failed = run(command, STAND_IN_FAIL=str(call))
    lines = [line for line in failed.stderr.splitlines() if line.startswith("tilewright: ") and " failed with " in line]
    told = len(lines) == 1 and lines[0].startswith(f"tilewright: {symbol} failed with ") and failed.returncode == 5
    silent = not lines and failed.returncode == 0
    mayBeSilent = releasing or symbol == "hipSetDevice"  # which also restores the previous device
    if not (told or (silent and mayBeSilent)) or (told and symbol in releases) or "left over" in failed.stderr:
        sys.exit(f"call {call} of {command[0]}, {symbol}: expected {'silence' if mayBeSilent else 'one sentence and exit code 5'}, got "
                 f"{failed.returncode} and: {failed.stderr}")
    return told


calls = callsOf(["run", artifact])
told = sum(check(["run", artifact], i, symbol, belongsToRelease(calls, i)) for i, symbol in enumerate(calls, start=1))

bench = ["bench", artifact, "--warmup-ms", "0", "--duration-ms", "1", "--no-groups", "--quiet"]
seen = set(calls)
for symbol in callsOf(bench):  # their number depends on timing
    if symbol not in seen:
        seen.add(symbol)
        told += check(bench, symbol, symbol, symbol in releases)
print(f"{kind}: {len(calls)} calls of a run failed, {len(seen)} functions; {told} failures were told")
if told < 60:
    sys.exit("expected at least 60 failures to be told")
if len(calls) - told > len(calls) * 3 // 4:
    sys.exit("expected more of the failures to be told")
print("every sentence is right")
