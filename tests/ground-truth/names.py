# SPDX-License-Identifier: GPL-2.0-or-later
"""What the manifest says a case's datum is called."""


def _wanted(member):
    """The manifest's member: one, "a or b" of which any will do, or bit-fields that share their bytes."""
    names = member.split(" or ")
    return {*names, "{" + ",".join(names) + "}"}


def is_named(datum, variable, owner, member):
    """Whether that variable, type of variable or pointee, and member path are what `datum` of the manifest says."""
    if datum["variable"] and variable != datum["variable"] or datum["type"] and owner != datum["type"]:
        return False
    # What rep movsb copies is named by where it begins.
    bases = [name.split("[")[0] for name in datum["member"].split(" or ")]
    return member in _wanted(datum["member"]) or any(member == base or member.startswith(base + "[") for base in bases)
