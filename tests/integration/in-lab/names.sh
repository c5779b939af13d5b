# SPDX-License-Identifier: GPL-2.0-or-later
# Races of the whole kernel, found where there are no debug files: the record is all that the names are made of later. Until there are RACES
# of them. SEED as given.
. ./told.sh

console_input tell
told tell timeout -k 20 2400 outrider run --kernel vmlinuz --initrd initrd.img --append "quiet cryptomgr.notests -- busy:1:1800 dmesg poweroff" --rate 1000 \
	--delay 3000 --seed "$SEED" --json "$LAB_OUT/races.json" --console "$LAB_OUT/console.log"
