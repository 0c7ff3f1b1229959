"""A function that ends its process, hangs, takes memory or writes a file, by the name that it is given."""

import ctypes
import os
import tempfile
import time

from torture.tally import Refused

__all__ = ["misbehave"]


def misbehave(case):
    match case:
        case "crash":
            ctypes.string_at(0)
        case "end":
            os._exit(3)
        case "hang":
            time.sleep(60)
        case "memory":
            return str(len(bytearray(8 << 30)))
        case "write":
            with tempfile.TemporaryFile() as file:
                file.write(b"x")
        case "refuse":
            raise Refused
    return None
