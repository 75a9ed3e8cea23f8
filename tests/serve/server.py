# SPDX-License-Identifier: LGPL-2.1-or-later
"""`blkalign serve` for the time of a test, and the golden arrays."""
import os, pathlib, select, signal, subprocess

import nbd


class Server:
    """Runs until the `with` block ends; then it must exit with status 0 on SIGTERM. `under`: a command that becomes the server."""

    def __init__(self, blkalign, folder, members, *options, under=()):
        self.path = pathlib.Path(folder) / "s"
        self.process = subprocess.Popen([*under, blkalign, "serve", "-U", self.path, *options, *members], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.said = ""
        for line in self.process.stdout:
            self.said += line
            if "Ctrl-C" in line:
                break
        else:
            self.status = self.process.wait()
            self.complaint = self.process.stderr.read().strip()
            raise RuntimeError(self.complaint)
        self.uri = f"nbd+unix:///?socket={self.path}"
        nbd.Client(self.path, go=False).socket.close()  # up: from here on signals are nbdkit's

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        status = self.end(signal.SIGTERM)
        if kind is None and status != 0:
            raise AssertionError(f"exit status {status}: {self.errors}")

    def end(self, how):
        """Send the signal, once, and return the exit status; self.errors is what was printed on standard error."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        _, errors = self.process.communicate(timeout=60)
        self.errors = getattr(self, "errors", "") + errors
        return self.process.returncode

    def hear(self, part, seconds=60):
        """Wait until the server has said `part` on standard error while it runs."""
        pipe, said = self.process.stderr.fileno(), ""
        while part not in said:
            if not select.select([pipe], [], [], seconds)[0]:
                raise AssertionError(f"not said: {part}; but: {said}")
            piece = os.read(pipe, 65536).decode()
            said += piece
            self.errors = getattr(self, "errors", "") + piece
            if not piece:
                raise AssertionError(f"not said: {part}; but: {said}")
        return said

    def peak_kib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0])
