"""check_sentence.py CODE TEXT COMMAND...: the command fails with that exit code and one line on stderr that has the text in it."""
import subprocess
import sys

code, text, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
run = subprocess.run(command, capture_output=True, text=True)
lines = run.stderr.strip().splitlines()
if run.returncode != code or len(lines) != 1 or text not in lines[0]:
    sys.exit(f"expected exit code {code} and one line with '{text}', got {run.returncode} and:\n{run.stderr}")
