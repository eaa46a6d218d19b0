"""What the figures were measured on and with: hardware, kernel, versions. Nothing that names the machine."""

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
    """Bytes that programs and memory file systems can still have."""
    with open("/proc/meminfo") as file:
        return int(re.search(r"MemAvailable:\s+(\d+)", file.read()).group(1)) * 1024


def describe(binary):
    """Pairs of what and which."""
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
    """The first number with a dot that a tool says of itself."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        return "not installed"
    found = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
    return found.group(0) if found else "unknown"
