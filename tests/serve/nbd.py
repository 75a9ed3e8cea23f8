# SPDX-License-Identifier: LGPL-2.1-or-later
"""A client for the NBD protocol that may also misbehave: requests go out as they are given, nothing is checked or cut."""
import errno, socket, struct

OPTION, OPTION_REPLY, REQUEST, SIMPLE_REPLY = 0x49484156454F5054, 0x3E889045565A9, 0x25609513, 0x67446698
OPT_LIST, OPT_GO = 3, 7
REP_ACK, REP_SERVER, REP_INFO = 1, 2, 3
READ, WRITE, DISCONNECT, FLUSH, TRIM, ZEROES = 0, 1, 2, 3, 4, 6
FUA = 1
HAS_FLAGS, READ_ONLY, SEND_FLUSH, SEND_FUA, SEND_TRIM, SEND_ZEROES, MULTI_CONN = 1, 2, 4, 8, 32, 64, 256


class Refused(Exception):
    """The server answered with an error: .errno is the protocol's number, which is Linux's."""

    def __init__(self, number):
        super().__init__(errno.errorcode.get(number, number))
        self.errno = number


class Client:
    def __init__(self, path, export="", go=True):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(str(path))
        magic, option, flags = struct.unpack(">8sQH", self.take(18))
        assert magic == b"NBDMAGIC" and option == OPTION, "no newstyle server"
        self.socket.sendall(struct.pack(">I", flags & 3))
        self.cookie, self.blocks = 0, None
        if go:
            self.go(export)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def take(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(min(count - len(data), 1 << 20))
            if not part:
                raise EOFError
            data += part
        return data

    def option(self, number, data=b""):
        """Send an option; yields (type, data) until the server acknowledges."""
        self.socket.sendall(struct.pack(">QII", OPTION, number, len(data)) + data)
        while True:
            magic, echoed, kind, length = struct.unpack(">QIII", self.take(20))
            assert magic == OPTION_REPLY and echoed == number
            data = self.take(length)
            if kind == REP_ACK:
                return
            if kind & 1 << 31:
                raise Refused(errno.ENOENT)
            yield kind, data

    def go(self, export):
        name = export.encode()
        for kind, data in self.option(OPT_GO, struct.pack(">I", len(name)) + name + struct.pack(">HH", 1, 3)):
            info = struct.unpack(">H", data[:2])[0]
            if info == 0:
                self.size, self.flags = struct.unpack(">QH", data[2:])
            elif info == 3:
                self.blocks = struct.unpack(">III", data[2:])

    def exports(self):
        names = []
        for _, data in self.option(OPT_LIST):
            length = struct.unpack(">I", data[:4])[0]
            names.append(data[4:4 + length].decode())
        return names

    def send(self, command, offset=0, length=0, data=b"", flags=0):
        self.cookie += 1
        self.socket.sendall(struct.pack(">IHHQQI", REQUEST, flags, command, self.cookie, offset, length) + data)
        return self.cookie

    def reply(self):
        """The next answer: (cookie, error)."""
        magic, error, cookie = struct.unpack(">IIQ", self.take(16))
        assert magic == SIMPLE_REPLY
        return cookie, error

    def finish(self, cookie):
        answered, error = self.reply()
        assert answered == cookie
        if error:
            raise Refused(error)

    def read(self, offset, length):
        self.finish(self.send(READ, offset, length))
        return self.take(length)

    def write(self, offset, data, flags=0):
        self.finish(self.send(WRITE, offset, len(data), data, flags))

    def zero(self, offset, length, flags=0):
        self.finish(self.send(ZEROES, offset, length, flags=flags))

    def flush(self):
        self.finish(self.send(FLUSH))
