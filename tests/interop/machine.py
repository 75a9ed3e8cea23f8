# SPDX-License-Identifier: LGPL-2.1-or-later
"""A virtual machine for the time of a script; see vm."""
import os, pathlib, subprocess, tempfile

here = pathlib.Path(__file__).resolve().parent


def scsi_disks(images, properties=""):
    """QEMU arguments: image n is the disk with the number n."""
    arguments = ["-device", "virtio-scsi-pci,id=scsi"] if images else []
    for number, path in enumerate(images):
        arguments += ["-drive", f"file={path},format=raw,if=none,id=d{number},cache=unsafe,discard=unmap",
            "-device", f"scsi-hd,drive=d{number},bus=scsi.0,lun={number},{properties}".rstrip(",")]
    return arguments


def scsi_name(number):
    """In a script: the device of disk `number`."""
    return f"/dev/$(ls /sys/bus/scsi/devices/*:0:0:{number}/block)"


def run(text, images=(), properties="", programs=(), **settings):
    """Exit status and output of the script `text`. Settings are those of vm: VM_TIMEOUT, ..."""
    environment = {**os.environ, "VM_TOOLS": " ".join(map(str, programs)), **{name: str(value) for name, value in settings.items()}}
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "script"
        script.write_text(text)
        done = subprocess.run([here / "vm", script, *scsi_disks(images, properties)], stdout=subprocess.PIPE, text=True, env=environment)
    return done.returncode, done.stdout
