"""Two folders change places: in one step where the system can (``renameat2``), else by two renames.

A run that dies between the two renames leaves no folder at its place, but both whole folders beside it;
`settle` finishes what it began.
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

_EXCHANGE = 2  # RENAME_EXCHANGE of linux/fs.h
_HERE = -100  # AT_FDCWD of linux/fcntl.h
# System call numbers of renameat2 (asm/unistd.h), for C libraries older than the call: glibc before 2.28, most of musl.
_NUMBERS = {"x86_64": 316, "aarch64": 276, "riscv64": 276, "ppc64le": 357, "s390x": 347, "armv7l": 382, "i686": 353}
# EPERM is what sandboxes answer to calls they do not know; a real lack of permission shows again at the rename.
_CANNOT = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM})


def exchange(current: Path, fresh: Path, aside: Path) -> None:
    """Put `fresh` at the place of `current`; the former `current`, if any, is then at `fresh` or at `aside`.

    All three are siblings. On an error nothing has moved.

    Raises:
        OSError: the file system refuses (a mount point, no permission, a layer of a container image).
    """
    if not os.path.lexists(current):
        fresh.rename(current)
    elif not swap(current, fresh):
        current.rename(aside)
        try:
            fresh.rename(current)
        except OSError:
            aside.rename(current)
            raise


def settle(current: Path, fresh: Path, aside: Path) -> None:
    """Finish an exchange that was cut between its two renames: both others exist, so `fresh` is complete."""
    if os.path.lexists(aside) and os.path.lexists(fresh) and not os.path.lexists(current):
        fresh.rename(current)


def swap(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False, with nothing done, where the system cannot.

    Raises:
        OSError: any other failure.
    """
    if sys.platform != "linux":
        return False
    number = _renameat2(os.fsencode(one), os.fsencode(other))
    if number and number not in _CANNOT:
        raise OSError(number, os.strerror(number), str(one), None, str(other))
    return not number


def _renameat2(one: bytes, other: bytes) -> int:
    """The call itself: 0, or the error number."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    tail = (ctypes.c_int(_HERE), one, ctypes.c_int(_HERE), other, ctypes.c_uint(_EXCHANGE))
    if hasattr(libc, "renameat2"):
        failed = libc.renameat2(*tail)
    elif (number := _NUMBERS.get(os.uname().machine)) is not None:
        libc.syscall.restype = ctypes.c_long
        failed = libc.syscall(ctypes.c_long(number), *tail)
    else:
        return errno.ENOSYS
    return ctypes.get_errno() if failed else 0
