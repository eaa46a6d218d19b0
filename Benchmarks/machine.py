"""The hardware, the kernel and the versions of the programs with which was measured. Nothing identifies the machine."""

import os
import re
import subprocess

VERSIONS = {
    "curl": ["curl", "--version"], "wget": ["wget", "--version"], "wget2": ["wget2", "--version"],
    "aria2": ["aria2c", "--version"], "axel": ["axel", "--version"], "lftp": ["lftp", "--version"],
    "nginx": ["/usr/sbin/nginx", "-v"], "OpenSSL": ["openssl", "version"],
}


def load_average():
    return os.getloadavg()[0]


def free_memory():
    """Returns the bytes of memory that are still available to programs and memory file systems."""
    with open("/proc/meminfo") as file:
        return int(re.search(r"MemAvailable:\s+(\d+)", file.read()).group(1)) * 1024


def describe(binary):
    """Returns the facts as pairs of a name and a value."""
    facts = [("cores", str(len(os.sched_getaffinity(0)))), ("processor", _cpu()), ("memory", _memory()),
             ("kernel", os.uname().release.split("-")[0]), ("system", _system()), ("dlm", _version([binary, "--version"]))]
    return facts + [(name, _version(command)) for name, command in VERSIONS.items()]


def _cpu():
    with open("/proc/cpuinfo") as file:
        found = re.search(r"^model name\s*:\s*(.*)$", file.read(), re.MULTILINE)
    return found.group(1) if found else os.uname().machine


def _memory():
    with open("/proc/meminfo") as file:
        total = int(re.search(r"MemTotal:\s+(\d+)", file.read()).group(1))
    return f"{total / (1 << 20):.0f} GiB"


def _system():
    try:
        with open("/etc/os-release") as file:
            return re.search(r'^PRETTY_NAME="?([^"\n]*)', file.read(), re.MULTILINE).group(1)
    except (OSError, AttributeError):
        return "unknown"


def _version(command):
    """Returns the version of a tool: the first number with a dot in the output of the command."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        return "not installed"
    found = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
    return found.group(0) if found else "unknown"
