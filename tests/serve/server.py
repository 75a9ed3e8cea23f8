# SPDX-License-Identifier: LGPL-2.1-or-later
"""`blkalign serve` for the time of a test, and the golden arrays."""
import os, pathlib, select, signal, subprocess

import nbd

root = pathlib.Path(__file__).resolve().parent.parent.parent


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


def golden(case, folder):
    """Unpack a case; its member images m0.img, m1.img, ... in order."""
    group = "md" if (root / f"tests/golden/md/{case}.tar.xz").exists() else "lvm"
    subprocess.run(["tar", "-xJf", root / f"tests/golden/{group}/{case}.tar.xz", "-C", folder], check=True)
    return sorted((pathlib.Path(folder) / case).glob("m*.img"))


def lines():
    for line in (root / "tests/golden/md/manifest.tsv").read_text().splitlines():
        case, device, size, sha256, *_ = line.split("\t")
        yield case, "(a images)" in device, int(size), sha256


def manifest():
    """(case, bytes, sha256) of every md array with one right answer, of its m images."""
    return [(case, size, sha256) for case, after, size, sha256 in lines() if not after and len(sha256) == 64]


def repaired():
    """case: sha256 of the contents after the kernel had repaired or replayed it."""
    return {case: sha256 for case, after, _, sha256 in lines() if after}
