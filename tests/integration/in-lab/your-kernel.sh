# SPDX-License-Identifier: GPL-2.0-or-later
# What docs/your-kernel.md says to type.
outrider run --kernel vmlinuz --initrd initrd.img --append quiet --module ticket --seed 1 --console "$LAB_OUT/console.log" \
	--json "$LAB_OUT/races.json"
