"""older_kernel.py - programs as on a kernel that lacks some system calls."""
import ctypes
import os
import struct

LANDLOCK = (444, 445, 446)
# New namespaces: unshare, which has a number of its own on each machine, and clone3.
NAMESPACES = ({"x86_64": 272, "aarch64": 97}[os.uname().machine], 435)

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
LOAD_CALL, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, NO_SUCH_CALL = 0x7fff0000, 0x00050000 | 38


def lacking(calls):
    """What a process has to do before it becomes the program (preexec_fn)."""
    code = [(LOAD_CALL, 0, 0, 0)]
    for call in calls:
        code += [(IF_EQUAL, 0, 1, call), (RETURN, 0, 0, NO_SUCH_CALL)]
    code.append((RETURN, 0, 0, ALLOW))
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *c) for c in code))
    head = struct.pack("HxxxxxxP", len(code), ctypes.addressof(program))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_ulong]

    def lack():
        if prctl(PR_SET_NO_NEW_PRIVS, 1, None, 0, 0) or prctl(
                PR_SET_SECCOMP, SECCOMP_MODE_FILTER, head, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")
    lack.program = program  # which must live as long
    return lack
