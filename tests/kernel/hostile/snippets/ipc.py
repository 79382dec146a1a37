# %% shared memory of another process
# status: ok error
# result: []
# harm: what another program of the user's holds is read, changed, removed
import ctypes

libc.shmat.restype = ctypes.c_ssize_t


def write():
    address = libc.shmat(targets["segment"], None, 0)
    if address == -1:
        return -1
    ctypes.memmove(address, b"overwritten", 11)
    return 0


nothing = ctypes.create_string_buffer(256)
through = succeeded(
    write=write,
    look=lambda: libc.shmctl(targets["segment"], 2, nothing),
    lock=lambda: libc.shmctl(targets["segment"], 11, None),
    remove=lambda: libc.shmctl(targets["segment"], 0, None),
)
libc.shmat.restype = ctypes.c_int
through

# %% a semaphore of another process
# status: ok error
# result: []
# harm: another program of the user's waits for ever, or no longer
import ctypes
import struct

operation = ctypes.create_string_buffer(struct.pack("Hhh", 0, -1, 0o4000))
succeeded(
    set=lambda: libc.semctl(targets["semaphore"], 0, 16, 0),
    take=lambda: libc.semop(targets["semaphore"], operation, 1),
    remove=lambda: libc.semctl(targets["semaphore"], 0, 0),
)

# %% messages of another process
# status: ok error
# result: []
# harm: another program of the user's gets what nobody sent, or never what was sent
import ctypes

message = ctypes.create_string_buffer((1).to_bytes(8, "little") + b"forged", 200)
succeeded(
    send=lambda: libc.msgsnd(targets["queue"], message, 6, 0o4000),
    take=lambda: libc.msgrcv(targets["queue"], message, 100, 0, 0o4000),
    remove=lambda: libc.msgctl(targets["queue"], 0, None),
)

# %% a POSIX queue of another process
# status: ok error
# result: []
# harm: another program of the user's gets what nobody sent, or never what was sent
import ctypes

name = targets["posix_queue"].encode()
buffer = ctypes.create_string_buffer(10_000)
succeeded(
    send=lambda: libc.mq_send(libc.mq_open(name, 0o4001), b"forged", 6, 0),
    take=lambda: libc.mq_receive(libc.mq_open(name, 0o4002), buffer, 10_000, None),
    remove=lambda: libc.mq_unlink(name),
)

# %% every object of System V that there may be
# status: ok error
# result: []
# harm: objects of any program are found by trying numbers
import ctypes

nothing = ctypes.create_string_buffer(256)
found = []
for number in range(200):
    found += succeeded(
        memory=lambda: libc.shmctl(number, 13, nothing),
        semaphore=lambda: libc.semctl(number, 0, 18, nothing),
        queue=lambda: libc.msgctl(number, 11, nothing),
    )
sorted(set(found))

# %% objects of System V that are left
# status: ok error
# harm: memory that nothing counts stays when the session has ended
libc.shmget(targets["key"], 1 << 30, 0o1600)
libc.semget(targets["key"], 100, 0o1600)
libc.msgget(targets["key"], 0o1600)

# %% a POSIX queue that is left
# status: ok error
# harm: memory that nothing counts stays, and another branch reads it
libc.mq_open(f"/{targets['tag']}-left".encode(), 0o102, 0o600, None)

# %% keys that are left
# status: ok error
# harm: keys of the user's are read, or a key of ours is among them
import os

add, request, control = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}[os.uname().machine]
for ring in (-1, -2, -3, -4, -5):
    libc.syscall(add, b"user", targets["tag"].encode(), b"x", 1, ring)
    libc.syscall(control, 0, ring, 1)
    libc.syscall(control, 8, -4, ring)
libc.syscall(control, 1, targets["tag"].encode())
libc.syscall(request, b"user", b"any", b"", -4)
None
