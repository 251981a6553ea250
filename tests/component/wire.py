"""Messages of protobuf, as small as the tests of processes need them: written here
and not by the code under test."""


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n)


def text(field, body):
    return varint(field << 3 | 2) + varint(len(body)) + body


def fields(data):
    """The fields of a message, the last of each number."""
    found, at = {}, 0

    def take():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = take()
        value = take()
        if key & 7 != 0:
            value, at = data[at:at + value], at + value
        found[key >> 3] = value
    return found
