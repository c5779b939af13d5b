# SPDX-License-Identifier: GPL-2.0-or-later
# The whole kernel and its modules under mixed stress, for BUSY_SECONDS. SEED as given; OPTIONS: more of them.
timeout -k 20 $((BUSY_SECONDS + 300)) outrider run --kernel vmlinuz --initrd initrd.img --append "quiet cryptomgr.notests -- busy:$BUSY_SECONDS dmesg poweroff" \
	--rate 1000 --delay 3000 --seed "$SEED" --json "$LAB_OUT/races.json" --console "$LAB_OUT/console.log" ${OPTIONS:-}
