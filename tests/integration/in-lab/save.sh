# SPDX-License-Identifier: GPL-2.0-or-later
# Scenarios are kept of one case, in a folder with room, and then in one that has not enough for any.
. ./told.sh

# saved NAME FOLDER: run the case until `enough_NAME` holds, and tell what is in the folder then.
saved() {
	name=$1
	console_input tell
	timeout -k 20 2400 outrider run --kernel vmlinuz --initrd initrd.img --memory 256 --module outrider_gt --rate 1000 --delay 4000 \
		--seed 1 --replay --replay-for 0 --save "$2" --append 'quiet cryptomgr.notests -- gtcase:nlink:1:1200 dmesg poweroff' \
		--json "$LAB_OUT/$name.json" --console "$LAB_OUT/$name.log" <>tell >"$LAB_OUT/$name.out" 2>"$LAB_OUT/$name.err" &
	pid=$!
	until_true "enough_$name"
	echo "enough nlink" >tell
	status=0
	wait "$pid" || status=$?
	echo "$name exit $status" >>"$LAB_OUT/exits"
	ls -ln "$2" >"$LAB_OUT/$name.files"
	cat "$LAB_OUT/$name.err" "$LAB_OUT/$name.files"
}

# runs N FILE: some race in this output was run N times or more in both orders.
runs() {
	awk -v n="$1" '/^  both orders run / && $4 >= n { found = 1 } END { exit !found }' "$2"
}

enough_room() {
	{ ls room/*-state-change.scenario >/dev/null 2>&1 && runs 3 "$LAB_OUT/room.out"; } || ! kill -0 "$pid" 2>/dev/null
}

enough_full() {
	runs 3 "$LAB_OUT/full.out" || ! kill -0 "$pid" 2>/dev/null
}

mkdir full
mount -t tmpfs -o size=256k tmpfs full || exit 1
saved full full
saved room room
umount full
for file in room/*.scenario; do
	head -c 16 "$file" | od -An -tx1
done >"$LAB_OUT/heads"
grep -l '^outrider$' /proc/[0-9]*/comm >"$LAB_OUT/left" 2>/dev/null
exit 0
