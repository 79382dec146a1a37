# %% a million writes of one letter
# status: ok timeout
# limits: max_output_chars
# seconds: 5
import os

for _ in range(1_000_000):
    os.write(1, b"x")

# %% a cell that goes on after its end
# status: ok
# then: clean
import threading
import time

from IPython.display import display


def go_on():
    while True:
        display("after the end")
        time.sleep(0.001)


threading.Thread(target=go_on, daemon=True).start()

# %% displays that are changed without an end
# status: timeout
# limits: wall_seconds
# seconds: 2
from IPython.display import display

shown = display("first", display_id=True)
number = 0
while True:
    number += 1
    shown.update("x" * 1000 + str(number))

# %% data of a hundred kinds
# status: ok error limit timeout
# seconds: 10
from IPython.display import display

for number in range(100):
    display({f"application/x-{n}": "x" * 10_000 for n in range(100)}, raw=True)

# %% what is said of data, nested deep
# status: ok error killed
from IPython.display import display

nested = {}
inner = nested
for _ in range(100_000):
    inner["n"] = {}
    inner = inner["n"]
display({"application/json": {}}, raw=True, metadata=nested)

# %% cells that the front end is asked to run
# status: ok error
# harm: a cell that nobody wrote is put before the user, or runs
shell = get_ipython()
for number in range(10_000):
    shell.set_next_input(f"print({number})")
    shell.payload_manager.write_payload({"source": "ask_exit", "keepkernel": False})

# %% messages to widgets without an end
# status: ok error timeout limit
# seconds: 3
import contextlib

with contextlib.suppress(ImportError):
    from comm import create_comm

    for number in range(100_000):
        create_comm(target_name="hostile", data={"n": "x" * 1000})

# %% a flood from many processes
# status: ok error timeout limit
# limits: max_output_chars
# seconds: 3
import os

for _ in range(8):
    if os.fork() == 0:
        while True:
            os.write(1, b"x" * 60_000)
while True:
    os.write(2, b"y" * 60_000)

# %% names without an end
# status: ok error limit timeout
# seconds: 20
globals().update({f"name_{number}": "x" * 100 for number in range(200_000)})

# %% an error whose lines have no end
# status: error
source = "\n" * 1_000_000 + "1 / 0"
exec(compile(source, "long.py" * 1000, "exec"))
