"""Damaged files: changes of bytes such as bad disks, cut transfers and hostile writers make."""

import random

#: Values that a length, an offset or a count should not have.
_EXTREMES = (0, 1, -1, 2**31 - 1, -(2**31), 2**16, 2**20, 2**33, 2**40, 2**63 - 1, -(2**63))


def damaged(data, seed):
    """The bytes of a file with one to ten changes that follow from the seed."""
    draw, changed = random.Random(seed), bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 4, 10))):
        place, length = draw.randrange(max(len(changed), 1)), draw.choice((1, 4, 8, 64, 200))
        match draw.randrange(7):
            case 0:
                changed[place : place + 1] = bytes([draw.randrange(256)])
            case 1:
                changed[place : place + 1] = bytes([changed[place] ^ 1 << draw.randrange(8)]) if changed else b""
            case 2 | 3:
                width = draw.choice((4, 8))
                place -= place % width
                number = draw.choice((*_EXTREMES, len(data), draw.randrange(-99, 9999))) % 256**width
                changed[place : place + width] = number.to_bytes(width, "little")
            case 4:
                other = draw.randrange(max(len(changed), 1))
                changed[place : place + length] = changed[other : other + length]
            case 5:
                changed[place : place + length] = bytes(length)
            case 6:
                del changed[place : None if draw.random() < 0.3 else place + length]
    return bytes(changed)
