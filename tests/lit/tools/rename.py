"""rename.py MODEL OUT: the same model with hostile names of the same length: its input `x` becomes an escape, its output `logits` ends in a
byte that is not UTF-8.
"""
import sys

data = open(sys.argv[1], "rb").read()
renamed = data.replace(b"\x01x", b"\x01\x1b").replace(b"\x06logits", b"\x06logit\xff")
assert renamed != data
open(sys.argv[2], "wb").write(renamed)
