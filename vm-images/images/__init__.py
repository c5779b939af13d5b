# SPDX-License-Identifier: GPL-2.0-or-later
"""What vm-images/fetch and vm-images/build-initramfs are made of: packages, kernels, QEMU and initramfs archives."""
