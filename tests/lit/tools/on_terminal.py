"""Runs a command whose standard error is a terminal, and prints what it drew there, a line each time it went back to the start."""
import os
import pty
import subprocess
import sys

terminal, end = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stderr=end)
os.close(end)
drawn = b""
try:
    while part := os.read(terminal, 4096):
        drawn += part
except OSError:  # the other end is closed
    pass
assert child.wait() == 0
sys.stdout.write(drawn.decode().replace("\r", "\n").strip())
