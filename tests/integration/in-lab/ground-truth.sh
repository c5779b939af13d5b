# SPDX-License-Identifier: GPL-2.0-or-later
# Every ground-truth case in one boot, SECONDS for each, sampling in the module. SEED as given.
timeout -k 20 "${RUN_LIMIT:-540}" outrider run --kernel vmlinuz --initrd initrd.img --append "quiet -- gt:all:$CASE_SECONDS dmesg poweroff" --module outrider_gt \
	--rate 1000 --delay 2000 --seed "$SEED" --json "$LAB_OUT/races.json" --console "$LAB_OUT/console.log"
