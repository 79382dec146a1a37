# %% builtins replaced
# status: ok error killed
import builtins

for name in ("print", "open", "len", "isinstance", "str", "dict", "__import__", "getattr"):
    setattr(builtins, name, None)

# %% builtins gone
# status: ok error killed
import builtins

for name in list(vars(builtins)):
    delattr(builtins, name)

# %% modules gone
# status: ok error killed
import sys

sys.modules.clear()

# %% names gone
# status: ok error killed
globals().clear()

# %% functions that the branch needs replaced
# status: ok error killed
import json
import os
import socket
import struct

json.dumps = lambda *_, **__: "{}"
os.getpid = lambda: 1
socket.socket.sendall = print
struct.Struct.pack = None

# %% streams taken away
# status: ok
# then: clean
import sys

sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = sys.stdin = None

# %% hooks replaced
# status: error
# ename: ZeroDivisionError
import sys


def never(*_):
    while True:
        pass


sys.excepthook = sys.displayhook = sys.unraisablehook = never
1 / 0

# %% the shell taken apart
# status: ok error killed
shell = get_ipython()
shell.run_cell = shell.complete = shell.transform_cell = shell.user_ns = None
type(shell).run_cell = None

# %% a repr that raises
# status: ok
class Odd:
    def __repr__(self):
        raise SystemExit("no")


odd = Odd()

# %% a repr that kills
# status: ok killed
import os


class Odd:
    def __repr__(self):
        os.kill(os.getpid(), 9)


odd = Odd()

# %% classes that answer nothing
# status: ok
class Meta(type):
    def __getattribute__(cls, name):
        raise SystemExit(name)

    def __repr__(cls):
        raise SystemExit

    def __instancecheck__(cls, other):
        raise SystemExit


class Odd(metaclass=Meta):
    def __getattribute__(self, name):
        raise SystemExit(name)

    def __eq__(self, other):
        raise SystemExit

    def __hash__(self):
        raise SystemExit

    def __iter__(self):
        raise SystemExit

    def __len__(self):
        return -1


odd = Odd()

# %% a lazy object that kills
# status: ok killed
import os


def kills():
    os.kill(os.getppid(), 9)
    os.kill(os.getpid(), 9)
    yield


lazy = kills()
dead = map(lambda _: os._exit(1), [1])

# %% handlers for the end
# status: ok
import atexit
import time

atexit.register(time.sleep, 1000)
atexit.register(print, "late")

# %% no collector
# status: ok
import gc

gc.disable()
gc.freeze()
gc.set_threshold(1)

# %% every object closed that can be
# status: ok error killed
import gc

for thing in gc.get_objects():
    close = getattr(thing, "close", None)
    if close is not None:
        try:
            close()
        except BaseException:
            pass

# %% our own objects found and used
# status: ok error killed timeout
# seconds: 2
import gc

for thing in gc.get_objects():
    if type(thing).__module__.startswith("_exploracoder_branch"):
        for name in list(getattr(thing, "__dict__", ())):
            try:
                setattr(thing, name, None)
            except BaseException:
                pass
