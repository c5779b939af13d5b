# SPDX-License-Identifier: GPL-2.0-or-later
# Guests of other shapes: four CPUs, one CPU, more memory than the lab host has.
. ./told.sh

run() {
	log=$1
	shift
	console_input tell
	status=0
	told tell timeout -k 20 1200 outrider run --kernel vmlinuz --initrd initrd.img --json "$LAB_OUT/$log.json" \
		--console "$LAB_OUT/$log.log" "$@" || status=$?
	echo "$log exit $status" >>"$LAB_OUT/exits"
}

run four --cpus 4 --append "quiet cryptomgr.notests -- gt:basic:1:120 dmesg poweroff" --module outrider_gt --rate 1000 --delay 4000 --seed 1
run aimed --cpus 4 --append "quiet cryptomgr.notests -- gtcase:rwrace:1:120 dmesg poweroff" --aim "$LAB_OUT/four.json" --rate 1000 --delay 4000 --seed 1
run one --cpus 1 --append "quiet cryptomgr.notests -- busy:8 dmesg poweroff" --rate 500 --delay 1000 --seed 1
run large --memory 5G --append 'quiet cryptomgr.notests -- gtcase:rwrace:1:120 dmesg "sh:grep MemTotal /proc/meminfo" poweroff' --module outrider_gt \
	--rate 1000 --delay 2000 --seed 1
