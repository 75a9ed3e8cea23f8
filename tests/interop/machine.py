# SPDX-License-Identifier: LGPL-2.1-or-later
"""A virtual machine for the time of a script; see vm."""
import concurrent.futures, os, pathlib, re, subprocess, sys, time

here = pathlib.Path(__file__).resolve().parent
sys.path.append(str(here.parent))
import scratch

AT_A_TIME = 2


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
    script = scratch.folder() / "script"
    script.write_text(text)
    done = subprocess.run([here / "vm", script, *scsi_disks(images, properties)], stdout=subprocess.PIPE, text=True, env=environment)
    return done.returncode, done.stdout


def tally(output):
    """What scenarios have printed: how many there were, how many checks, how many faults."""
    faults = len(re.findall(r"^NOT OK ", output, re.M))
    return len(re.findall(r"^ok ", output, re.M)) + faults, sum(map(int, re.findall(r"^checks (\d+)$", output, re.M))), faults


def share(scenarios, lines, at_most, programs, libraries, **settings):
    """Run the commands `lines` of the file `scenarios` in machines of their own, `at_most` in each, and print what they print; tally() of it."""
    count = -(-len(lines) // at_most)

    def one(number):
        begin = time.monotonic()
        head = f"seed={1000 + 100000 * number}\nexport LD_LIBRARY_PATH={libraries}\n"
        text = (here / scenarios).read_text() + head + "\n".join(lines[number::count]) + "\necho checks $checks\n"
        status, output = run(text, programs=programs, VM_CPUS=1, **settings)
        return output + f"NOT OK exit status {status} of a machine\n" * (status != 0), time.monotonic() - begin

    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        results = list(pool.map(one, range(count)))
    output = "".join(text for text, _ in results)
    print(output + "seconds of each machine:", *(round(seconds) for _, seconds in results))
    return tally(output)
