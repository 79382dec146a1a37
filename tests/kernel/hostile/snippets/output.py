# %% two hundred megabytes
# status: ok
# limits: max_output_chars
line = "x" * 999 + "\n"
for _ in range(20):
    print(line * 10_000, end="")

# %% a line that never ends
# status: timeout
# limits: wall_seconds max_output_chars
while True:
    print("x" * 10_000, end="")

# %% binary junk
# status: ok
import os

os.write(1, bytes(range(256)) * 40)
os.write(2, bytes(reversed(range(256))) * 40)
None

# %% half a character
# status: ok
import os

os.write(1, "ü".encode()[:1])
None

# %% control characters
# status: ok
print("\x1b[2J\x1b[31mred\x1b]0;title\x07\x00\x08\x7f\r\x1b[6n")

# %% lone surrogates
# status: ok
print("\ud800 and \udfff")
"\udcff"

# %% a flood on both streams
# status: timeout
# limits: wall_seconds
import sys

while True:
    print("out")
    print("err", file=sys.stderr)

# %% a result of a hundred megabytes
# status: ok
# limits: max_output_chars
"x" * 100_000_000

# %% a page of two hundred megabytes
# status: ok
from IPython.display import HTML, display

display(HTML("<b>" * 70_000_000))

# %% ten thousand outputs
# status: ok timeout
# seconds: 5
from IPython.display import HTML, display

for number in range(10_000):
    display(HTML(f"<b>{number}</b>"))

# %% a message of fifty megabytes
# status: error
# ename: ValueError
raise ValueError("x" * 50_000_000)

# %% a message that raises
# status: error
# ename: Odd
class Odd(Exception):
    def __str__(self):
        raise self


raise Odd

# %% a message that never comes
# status: timeout error killed
# seconds: 2
class Odd(Exception):
    def __str__(self):
        while True:
            pass


raise Odd

# %% errors in a circle
# status: error
# ename: ValueError
one, two = ValueError("one"), KeyError("two")
one.__cause__, two.__cause__ = two, one
one.__context__, two.__context__ = two, one
raise one

# %% a chain of ten thousand errors
# status: error
# ename: ValueError
error = ValueError(0)
for number in range(10_000):
    following = ValueError(number)
    following.__cause__ = error
    error = following
raise error

# %% a group of groups of errors
# status: error
# ename: ExceptionGroup
import sys

if sys.version_info < (3, 11):
    class ExceptionGroup(Exception):
        pass

error = ValueError("inmost")
for _ in range(200):
    error = ExceptionGroup("group", [error, ValueError("beside")])
raise error

# %% warnings without an end
# status: timeout
# limits: wall_seconds
import warnings

warnings.simplefilter("always")
while True:
    warnings.warn("again")
