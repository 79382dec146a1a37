"""Runs in the root branch before any snippet: what snippets attack with."""

import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)


def succeeded(**attacks):
    """The names of the attacks that the system let through; each is a function to call."""
    through = []
    for name, attack in attacks.items():
        try:
            answer = attack()
        except (OSError, ValueError, AttributeError, EOFError):
            continue
        if answer != -1:
            through.append(name)
    return through


def own_folders():
    """Folders that a branch may take for its own, with those around them in the same scratch."""
    folders = []
    places = [os.environ.get("HOME"), os.environ.get("TMPDIR"), "/dev/shm"]
    try:
        places.append(os.getcwd())
    except OSError:
        pass
    for path in filter(None, places):
        folders.append(path)
        while "exploracoder-" in os.path.dirname(path):
            path = os.path.dirname(path)
            folders.append(path)
    return list(dict.fromkeys(folders))


def entries(folder):
    """Paths of what is in a folder; nothing where it can't be listed."""
    try:
        return [os.path.join(folder, name) for name in os.listdir(folder)]
    except OSError:
        return []


def put(path, text="value = 'poisoned'\n"):
    """Write a file, with the folders around it."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    if os.path.islink(path):
        os.unlink(path)
    with open(path, "w") as file:
        file.write(text)


def write_everywhere(*messages):
    """Write them into every descriptor that is open, besides the standard streams."""
    for fd in range(3, 64):
        for message in messages:
            try:
                os.write(fd, message)
            except OSError:
                pass


def framed(body):
    """A message as the owner and its branches send them: its length, and its body."""
    return struct.pack(">I", len(body)) + body
