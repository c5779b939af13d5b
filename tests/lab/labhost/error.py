# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab that could not do its work; never the fault of the command in it."""

EXIT_LAB = 125


class LabFailure(Exception):
    """str() is the line for the user; show_console says whether the lab's console would explain more."""

    def __init__(self, text, show_console=False):
        super().__init__(text)
        self.show_console = show_console
