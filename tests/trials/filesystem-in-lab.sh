# SPDX-License-Identifier: GPL-2.0-or-later
# In the lab: what tests/trials/filesystem says.
# shellcheck disable=SC2086 # SUBJECT is several words.
set -f
SYMBOLS=
[ ! -e "$FS.ko" ] || SYMBOLS="--symbols $FS.ko"

# boot NAME SECONDS [OPTION]...: one guest at work. Its console is NAME.console.
boot() {
	name=$1
	seconds=$2
	shift 2
	gunzip -c fresh.img.gz >disk.img
	outrider run --kernel vmlinuz --initrd initrd.img --memory 512 --cpus 2 --disk disk.img --append "quiet fs=$FS work=$seconds" \
		--console "$LAB_OUT/$name.console" "$@" || exit 1
	sed -n 's/^guest: rounds \([0-9]*\).*/rounds \1/p' "$LAB_OUT/$name.console" | sed "s/\$/ $name/"
}

round=0
while [ "$WORK_SECONDS" != 0 ] && [ $round -lt "$ROUNDS" ]; do
	round=$((round + 1))
	boot "without$round" "$WORK_SECONDS" --no-detect
	boot "sampled$round" "$WORK_SECONDS" $SUBJECT --rate "$RATE" --json "$LAB_OUT/sampled$round.json"
	boot "locks$round" "$WORK_SECONDS" $SUBJECT --rate "$RATE" --locks --json "$LAB_OUT/locks$round.json"
done
boot locks "$SECONDS_LONG" $SUBJECT $SYMBOLS --rate "$RATE" --locks --seed "$SEED" --json "$LAB_OUT/locks.json"
