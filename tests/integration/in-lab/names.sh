# SPDX-License-Identifier: GPL-2.0-or-later
# Races of the whole kernel, found where there are no debug files: the record is all that the names are made of later.
timeout -k 20 300 outrider run --kernel vmlinuz --initrd initrd.img --append "quiet -- busy:$BUSY_SECONDS dmesg poweroff" --rate 500 --delay 2000 \
	--seed "$SEED" --json "$LAB_OUT/races.json" --console "$LAB_OUT/console.log"
