# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the scripts for measurements: $firmware is what QEMU boots a kernel with, as options of tests/lab/run.
firmware=
for file in /usr/share/seabios/bios-256k.bin /usr/share/qemu/bios-microvm.bin /usr/share/qemu/linuxboot_dma.bin /usr/share/qemu/pvh.bin \
	/usr/share/qemu/kvmvapic.bin; do
	firmware="$firmware --file $file:firmware/$(basename "$file")"
done
