# SPDX-License-Identifier: GPL-2.0-or-later
# Whole-kernel sampling while the guest works hard and debugs itself; then boots that are sampled from the first moment on.
run() {
	log=$1
	shift
	timeout -k 20 1200 outrider run --kernel vmlinuz --initrd initrd.img --json "$LAB_OUT/$log.json" --console "$LAB_OUT/$log.log" "$@" >said 2>&1
	echo "$log exit $?: $(tail -n 1 said)" >>"$LAB_OUT/exits"
	cat said
}

run busy --append "quiet cryptomgr.notests -- busy:$BUSY_SECONDS dmesg poweroff" --rate 500 --delay 2000 --seed 1
run debug --append "quiet cryptomgr.notests -- debug:$BUSY_SECONDS dmesg poweroff" --rate 500 --delay 2000 --seed 2
for i in $BOOTS; do
	run "boot$i" --append "quiet cryptomgr.notests -- busy:5 dmesg poweroff" --rate 1000 --delay 1000 --seed "$i"
done
