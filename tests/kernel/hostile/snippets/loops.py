# %% a loop without an end
# status: timeout
# ename: TimeoutError
# limits: wall_seconds
while True:
    pass

# %% a sleep without an end
# status: timeout
# limits: wall_seconds
import time

time.sleep(10_000)

# %% a loop that catches everything
# status: timeout
# limits: wall_seconds
while True:
    try:
        while True:
            pass
    except BaseException:
        pass

# %% a computation in C that looks at no signal
# status: timeout
# limits: wall_seconds
9**9**9

# %% a regular expression that backtracks for ever
# status: timeout
# limits: wall_seconds
import re

re.match(r"(a+)+$", "a" * 60 + "b")

# %% a recursion without an end
# status: error
# ename: RecursionError
def again():
    return again()


again()

# %% a recursion without a limit
# status: killed limit timeout error
# seconds: 2
# memory: 1000
import sys

sys.setrecursionlimit(10**9)


def again(value):
    return [again([value])]


again(None)

# %% a generator that never yields
# status: ok
def never():
    while True:
        pass
    yield


waiting = never()
never()

# %% a repr that is asked for and never comes
# status: timeout
# limits: wall_seconds
class Slow:
    def __repr__(self):
        while True:
            pass


Slow()

# %% questions that nobody answers
# status: timeout
# limits: wall_seconds
while True:
    try:
        input("Your name? ")
    except EOFError:
        pass

# %% an event that never comes
# status: timeout
# limits: wall_seconds
import asyncio

await asyncio.Event().wait()

# %% a task that refuses to be cancelled
# status: timeout
# limits: wall_seconds
import asyncio


async def stubborn():
    while True:
        try:
            await asyncio.sleep(3600)
        except BaseException:
            pass


await stubborn()

# %% a finalizer that never ends
# status: timeout
# limits: wall_seconds
class Clinging:
    def __del__(self):
        while True:
            pass


clinging = Clinging()
del clinging

# %% a tracer that never lets go
# status: timeout
# limits: wall_seconds
import sys


def trace(*_):
    while True:
        pass


sys.settrace(trace)
(lambda: 1)()
