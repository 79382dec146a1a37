"""The system call filters, compiled by the owner with libseccomp; a launch only loads them.

There are two, since libseccomp compares an argument only once per rule: one lists the calls that
exist and names those that the reaper decides, the other refuses calls by their arguments. Any call
that neither knows fails with ``ENOSYS``, so a newer kernel opens no hole.
"""

from __future__ import annotations

import base64
import errno
import functools
import platform
import sys
import tempfile
from collections.abc import Iterable
from typing import Any

from exploracoder_kernel.branch import seccomp_loading
from exploracoder_kernel.sandbox.advice import trial
from exploracoder_kernel.sandbox.hard_limits import kernel_version


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Ways into another process, into the kernel's own settings, and around the file system's view.
FORBIDDEN = _names(
    """
    ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd
    pidfd_send_signal kcmp migrate_pages perf_event_open bpf keyctl add_key request_key setns
    umount2 pivot_root chroot open_tree move_mount fsopen fsconfig fsmount fspick
    mount_setattr open_by_handle_at fanotify_init lookup_dcookie swapon swapoff reboot
    kexec_load kexec_file_load init_module finit_module delete_module acct quotactl
    quotactl_fd settimeofday clock_settime clock_adjtime iopl ioperm syslog vhangup
    sethostname setdomainname
    """
)

# What libraries use if it exists, and do without if the kernel seems not to know it. The C library
# falls back from clone3, whose flags a filter can't read, to clone. Memory that nothing accounts
# for is absent as well: memfds, System V IPC and POSIX message queues.
ABSENT = _names(
    """
    clone3 userfaultfd io_uring_setup io_uring_enter io_uring_register memfd_create
    memfd_secret shmget shmat shmdt shmctl semget semop semtimedop semctl msgget msgsnd msgrcv
    msgctl ipc mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr
    """
)

# What the reaper decides, knowing which process belongs to which branch.
_DECIDED = _names(
    """
    kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo fork vfork clone setsid setpriority
    ioprio_set
    """
)
# Their first argument is a process; 0 is the caller itself, which needs no decision.
_ABOUT_A_PROCESS = _names(
    """
    prlimit64 sched_setaffinity sched_setscheduler sched_setparam sched_setattr move_pages
    """
)

# Landlock does not protect the metadata of files that can't be written. Where nothing else does,
# these calls only pretend to succeed, so that copying and unpacking files into scratch still works.
_METADATA = _names(
    """
    chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat
    utimensat
    """
)
_ATTRIBUTES = _names(
    """
    setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat
    """
)

_LAST_CALL = 466
_INT = 0xFFFFFFFF  # the bits that the kernel reads of an ``int`` argument
_CLONE_NEWNS = 0x00020000
_CLONE_NAMESPACES = (0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
_SOCK_TYPE, _CONNECTED_TYPES = 0xF, (1, 5)  # SOCK_STREAM, SOCK_SEQPACKET
_INTERNET_FAMILIES = (2, 10, 16)  # AF_INET, AF_INET6, AF_NETLINK
_MOST_FAMILIES = 64
# A file's owner can be sent any signal: a way to kill that bypasses the calls above. And a lease on
# a file, which takes no more than reading it, holds up everybody who opens it.
_REFUSED_COMMANDS = (8, 10, 15, 1024)  # F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE
_BAD_IOCTLS = (
    *(0x8901, 0x8902, 0x5412, 0x541C),  # FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCLINUX
    *(0x40086602, 0x40046602, 0x401C5820),  # FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR
    *(0x40087602, 0x40047602),  # FS_IOC_SETVERSION, FS_IOC32_SETVERSION
    *(0xC0045877, 0xC0045878),  # FIFREEZE, FITHAW
    # These change files permanently through a read-only descriptor.
    *(0x40806685, 0x800C6613),  # FS_IOC_ENABLE_VERITY, FS_IOC_SET_ENCRYPTION_POLICY
    0x4008941A,  # BTRFS_IOC_SUBVOL_SETFLAGS
    # These make and remove folders through a descriptor that only reads: BTRFS_IOC_SNAP_CREATE,
    # SUBVOL_CREATE, SNAP_DESTROY, and their second versions.
    *(0x50009401, 0x5000940E, 0x5000940F, 0x50009417, 0x50009418, 0x5000943F),
)
_PERSONALITIES = (0, 0xFFFFFFFF)  # plain Linux; a query for the current one

_HOW_TO_GET_IT = (
    "libseccomp is not installed. Install it (apt install libseccomp2, dnf install libseccomp)."
)
_OLDEST_KERNEL = (5, 5)


def compiled(*, has_sockets: bool, has_namespaces: bool) -> dict[str, Any]:
    """The filters as a launch loads them, in JSON's types: ``programs``, and ``decided`` names.

    Args:
        has_sockets: Whether network sockets are allowed, in whatever network there is. Sockets that
            reach a local program by name never are; connected pairs are.
        has_namespaces: Whether a branch may have its own mount namespace, which the reaper fills.
            Otherwise it can't change the metadata of files, which no mount protects then.

    Raises:
        OSError, ImportError, RuntimeError: ``trouble`` reports the cause beforehand.
    """
    families = _INTERNET_FAMILIES if has_sockets else ()
    programs = (_by_name(families, has_namespaces), _by_arguments(families, has_namespaces))
    texts = [base64.b64encode(program).decode("ascii") for program in programs]
    names = [*_DECIDED, *_ABOUT_A_PROCESS, "mount"]
    return {"programs": texts, "decided": {str(number(n)): n for n in names if number(n)}}


@functools.cache
def trouble() -> str | None:
    """Why filters are unavailable here, and what to do about it; None if they work."""
    if kernel_version() < _OLDEST_KERNEL:
        release = platform.release()
        return f"The kernel ({release}) can't hand system calls over for a decision (Linux 5.5)."
    try:
        programs = compiled(has_sockets=False, has_namespaces=True)["programs"]
    except (ImportError, RuntimeError):
        return _HOW_TO_GET_IT
    except (OSError, ValueError) as error:
        return f"libseccomp makes no filter here: {error}. Use version 2.5 or newer."
    # A container may forbid loading them.
    problem = trial([sys.executable, "-I", "-S", seccomp_loading.__file__, *programs], {})
    return problem and f"System calls can't be filtered here: {problem}."


def _by_name(families: tuple[int, ...], has_namespaces: bool) -> bytes:
    import pyseccomp as seccomp

    program = _new(seccomp.ERRNO(errno.ENOSYS))
    special_calls = {"socket", "personality", "unshare", "mount", *_ABOUT_A_PROCESS}
    for name in _all_calls():
        if name in FORBIDDEN:
            program.add_rule(seccomp.ERRNO(errno.EPERM), name)
        elif name in _DECIDED:
            program.add_rule(seccomp.NOTIFY, name)
        elif name not in ABSENT and name not in special_calls:
            program.add_rule(seccomp.ALLOW, name)
    for name in _ABOUT_A_PROCESS:
        program.add_rule(seccomp.ALLOW, name, seccomp.Arg(0, seccomp.EQ, 0))
        program.add_rule(seccomp.NOTIFY, name, seccomp.Arg(0, seccomp.NE, 0))
    for value in _PERSONALITIES:
        program.add_rule(seccomp.ALLOW, "personality", seccomp.Arg(0, seccomp.EQ, value))
    for family in families:
        program.add_rule(seccomp.ALLOW, "socket", seccomp.Arg(0, seccomp.EQ, family))
    own = seccomp.Arg(0, seccomp.EQ, _CLONE_NEWNS)
    other = seccomp.Arg(0, seccomp.NE, _CLONE_NEWNS)
    refusal = seccomp.ERRNO(errno.EPERM)
    program.add_rule(seccomp.ALLOW if has_namespaces else refusal, "unshare", own)
    program.add_rule(refusal, "unshare", other)
    program.add_rule(seccomp.NOTIFY if has_namespaces else refusal, "mount")
    return _exported(program)


def _by_arguments(families: tuple[int, ...], has_namespaces: bool) -> bytes:
    import pyseccomp as seccomp

    program = _new(seccomp.ALLOW)

    def refuse(name: str, argument: int, values: Iterable[int], error: int) -> None:
        for value in values:
            comparison = seccomp.Arg(argument, seccomp.MASKED_EQ, _INT, value)
            program.add_rule(seccomp.ERRNO(error), name, comparison)

    refuse("fcntl", 1, _REFUSED_COMMANDS, errno.EPERM)
    refuse("ioctl", 1, _BAD_IOCTLS, errno.EPERM)
    refuse("socket", 0, set(range(_MOST_FAMILIES)) - set(families), errno.EACCES)
    # A pair of datagram sockets can be reconnected, to a name; and a raw one is made of datagrams.
    for kind in set(range(_SOCK_TYPE + 1)) - set(_CONNECTED_TYPES):
        is_kind = seccomp.Arg(1, seccomp.MASKED_EQ, _SOCK_TYPE, kind)
        program.add_rule(seccomp.ERRNO(errno.EACCES), "socketpair", is_kind)
    for flag in (*_CLONE_NAMESPACES, _CLONE_NEWNS):
        has_flag = seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag)
        program.add_rule(seccomp.ERRNO(errno.EPERM), "clone", has_flag)
    if not has_namespaces:
        for name in filter(number, _METADATA):
            program.add_rule(seccomp.ERRNO(0), name)
        # Allocating all at once would be noticed too late; the C library falls back to small steps.
        program.add_rule(seccomp.ERRNO(errno.EOPNOTSUPP), "fallocate")
        for name in filter(number, _ATTRIBUTES):
            program.add_rule(seccomp.ERRNO(errno.EOPNOTSUPP), name)
    return _exported(program)


def _new(default: int) -> Any:
    import pyseccomp as seccomp

    program = seccomp.SyscallFilter(default)
    program.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)
    program.set_attr(seccomp.Attr.CTL_OPTIMIZE, 2)  # a tree, not a list
    return program


def _exported(program: Any) -> bytes:
    with tempfile.TemporaryFile() as file:
        program.export_bpf(file)
        file.seek(0)
        return file.read()


@functools.cache
def _all_calls() -> tuple[str, ...]:
    """The names of all system calls that are known here."""
    import pyseccomp as seccomp

    names = []
    for call in range(_LAST_CALL + 1):
        try:
            names.append(seccomp.resolve_syscall(seccomp.Arch.NATIVE, call))
        except ValueError:
            continue
    return tuple(name.decode() if isinstance(name, bytes) else name for name in names)


def number(name: str) -> int | None:
    """A system call's number here; None if the architecture has no such call."""
    import pyseccomp as seccomp

    result = int(seccomp.resolve_syscall(seccomp.Arch.NATIVE, name))
    return result if result >= 0 else None
