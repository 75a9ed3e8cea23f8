# SPDX-License-Identifier: LGPL-2.1-or-later
"""Folders for the time of a test, and what lies in them."""
import atexit, functools, pathlib, shutil, subprocess, tempfile

root = pathlib.Path(__file__).resolve().parent.parent


@functools.cache
def top(where=None):
    """One folder for this process. It is removed at the end, also when the process is killed: a shell waits for that."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="blkalign-test-", dir=where))
    watcher = subprocess.Popen(["sh", "-c", 'read nothing; rm -rf "$1"', "sh", path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    atexit.register(watcher.communicate)
    return path


def folder(test=None, where=None):
    """A new folder, until the end of `test`, or of the process."""
    path = pathlib.Path(tempfile.mkdtemp(dir=top(where)))
    if test:
        test.addCleanup(shutil.rmtree, path, ignore_errors=True)
    return path


def golden(case, where):
    """Unpack a case; its member images m0.img, m1.img, ... in order."""
    group = "md" if (root / f"tests/golden/md/{case}.tar.xz").exists() else "lvm"
    subprocess.run(["tar", "-xJf", root / f"tests/golden/{group}/{case}.tar.xz", "-C", where], check=True)
    return sorted((pathlib.Path(where) / case).glob("m*.img"))


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
