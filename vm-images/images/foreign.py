# SPDX-License-Identifier: GPL-2.0-or-later
"""
Programs of a newer Debian release than this machine's, unpacked into the cache with every library down to libc, where they change
nothing on the machine. Their own loader starts them, with their own libraries.
"""

from .apt import unpack

LIBRARIES = "lib/x86_64-linux-gnu"


def write_starter(root, name, program, options=""):
    """
    Write the script root/`name` that starts `program`, a path from `root`, with the libraries in `root`, and with `options`, in which $root is the
    folder that the script is in. Links to the script may be anywhere. Returns its path.
    """
    script = root / name
    script.write_text(f"""#!/bin/sh
root=$(dirname "$(readlink -f "$0")")
exec "$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/{LIBRARIES}:$root/{LIBRARIES}" "$root/{program}" \\
	{options} "$@"
""")
    script.chmod(0o755)
    return script


def install(apt, packages, scratch, starter, program, options=""):
    """
    Unpack the packages and all that they need into `scratch`, and write the script scratch/`starter` that starts `program`, a path in
    that root, with `options`. In `options`, $root is the folder that the script is in.
    """
    unpack(apt.download(apt.missing_for(packages), scratch), scratch)
    return write_starter(scratch, starter, program, options)
