# %% a server of this machine
# only: strict
# status: error
# ename: ConnectionRefusedError OSError PermissionError
import socket

socket.create_connection(("127.0.0.1", targets["port"]), timeout=2).recv(100)

# %% a datagram to this machine
# status: ok error
import socket

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
    sent = sock.sendto(b"hello", ("127.0.0.1", targets["udp_port"]))

# %% a name of the network
# only: strict
# status: error
# ename: gaierror
import socket

socket.getaddrinfo("example.org", 80)

# %% an address of the network
# only: strict
# status: error
# ename: OSError PermissionError
import socket

socket.create_connection(("192.0.2.1", 80), timeout=5)

# %% a request by a library
# only: strict
# status: error
# ename: URLError
import urllib.request

urllib.request.urlopen(f"http://127.0.0.1:{targets['port']}/", timeout=5)

# %% a socket without a file
# status: error
# ename: ConnectionRefusedError PermissionError
import socket

with socket.socket(socket.AF_UNIX) as sock:
    sock.connect("\0" + targets["abstract"])

# %% a socket of the user's
# status: error
# ename: FileNotFoundError ConnectionRefusedError PermissionError
import socket

with socket.socket(socket.AF_UNIX) as sock:
    sock.connect(targets["socket"])

# %% sockets of every kind
# status: ok
# result: []
import socket

made = []
for family in range(3, 50):
    if family in (socket.AF_INET6, socket.AF_NETLINK):
        continue
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        try:
            socket.socket(family, kind).close()
            made.append((family, kind))
        except OSError:
            pass
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_PACKET):
    try:
        socket.socket(family, socket.SOCK_RAW, 255).close()
        made.append((family, "raw"))
    except OSError:
        pass
made
