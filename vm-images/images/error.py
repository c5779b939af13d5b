# SPDX-License-Identifier: GPL-2.0-or-later
"""The one error type. Its text is the single line that a user reads: what failed, where, and what to do about it."""

import signal
import sys


class Failure(Exception):
    """The work cannot be done; str() is the line for the user."""


def main(body):
    """Run `body`, a function that returns an exit status, and turn a Failure into one line and exit status 3."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader that has read enough of the output is no error
    try:
        sys.exit(body())
    except Failure as failure:
        print(f"{sys.argv[0].rsplit('/', 1)[-1]}: {failure}", file=sys.stderr)
        sys.exit(3)
    except KeyboardInterrupt:
        sys.exit(130)
