# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests/lab/run is made of: payload and results on raw disks, the two emulators, and the watch over them."""
