# %% standard streams closed
# status: ok
# then: clean
import os

for fd in range(3):
    os.close(fd)

# %% all descriptors closed
# status: killed
import os

os.closerange(0, 4096)

# %% all descriptors closed and then a loop
# status: killed
import os

os.closerange(3, 4096)
while True:
    pass

# %% every descriptor is the bit bucket
# status: killed
import os

nothing = os.open(os.devnull, os.O_RDWR)
for fd in range(3, 64):
    os.dup2(nothing, fd)

# %% junk into every descriptor
# status: killed
# ename: ProtocolError
write_everywhere(b"\xff" * 10_000)

# %% a message that is no message
# status: killed
# ename: ProtocolError
bodies = (b"[]", b"{", b"null", b"[" * 100_000, b'{"what": 1}')
write_everywhere(*map(framed, bodies))

# %% outputs of the wrong shape
# status: killed
# ename: ProtocolError
import json

for output in (5, {}, {"output_type": 3}, {"output_type": "display_data", "data": 5}):
    write_everywhere(framed(json.dumps({"output": output}).encode()))

# %% a forged reply
# status: ok error killed
# ename: ProtocolError
import json

for reply in ({}, {"status": "ok"}, {"status": 5, "seconds": []}, {"status": "ok", "seconds": 0}):
    write_everywhere(framed(json.dumps({"reply": reply}).encode()))

# %% a forged reply with nothing where something belongs
# status: killed
# ename: ProtocolError
import json

reply = {"status": "ok", "seconds": 1, "limits_hit": None, "resident_bytes": None}
write_everywhere(framed(json.dumps({"reply": reply, "number": 1}).encode()))

# %% a forged reply with a limit that is no name
# status: killed
# ename: ProtocolError
import json

reply = {"status": "ok", "seconds": 1, "limits_hit": [[]]}
write_everywhere(framed(json.dumps({"reply": reply, "number": 1}).encode()))

# %% a message that never ends
# status: killed timeout
# seconds: 2
import struct

write_everywhere(struct.pack(">I", 60_000_000))
while True:
    write_everywhere(b" " * 60_000)

# %% outputs without an end
# status: timeout
# limits: wall_seconds
from IPython.display import display

while True:
    display("x")

# %% descriptors sent along
# status: ok killed
import array
import os
import socket

opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(50)]
passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", opened))]
for fd in range(3, 40):
    try:
        with socket.socket(fileno=os.dup(fd)) as sock:
            sock.sendmsg([b"\0\0\0\2{}"], passed)
    except OSError:
        pass

# %% the end of our socket is shut
# status: killed
import os
import socket

for fd in range(3, 40):
    try:
        with socket.socket(fileno=os.dup(fd)) as sock:
            sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
