# SPDX-License-Identifier: GPL-2.0-or-later
# The agent as a service in a guest that the detector samples: the host speaks to it over vsock. Also the entropy device.
. ./told.sh

export XDG_RUNTIME_DIR="$PWD/runtime"
mkdir -m 700 "$XDG_RUNTIME_DIR"

# agent NAME WORD...: one `outrider agent`. Its output and status are kept by that name.
agent() {
	log=$LAB_OUT/$1
	shift
	status=0
	outrider agent --timeout 3m "$@" >"$log" 2>&1 || status=$?
	echo "exit $status" >>"$log"
	tail -n 2 "$log"
}

timeout -k 20 1500 outrider run --kernel vmlinuz --initrd initrd.img --append "quiet cryptomgr.notests -- modules serve --heartbeat 1" --rng --vsock 3 \
	--rate 200 --delay 1000 --seed 1 --json "$LAB_OUT/races.json" --console "$LAB_OUT/console" >"$LAB_OUT/said" 2>&1 &
guest=$!

agent help help
agent entropy start 'sh:cat /sys/class/misc/hw_random/rng_current; dd if=/dev/hwrng of=/tmp/r bs=1024 count=64 && cat /tmp/r | gzip -c | wc -c' --wait
ls -l "$XDG_RUNTIME_DIR/outrider" >"$LAB_OUT/sockets"

# The host listens for a while and asks for nothing: heartbeats, and the progress of a job.
agent start start busy:3600
mkfifo silence
outrider agent --timeout 3m <>silence >"$LAB_OUT/unasked" &
listener=$!
enough_progress() {
	[ "$(grep -c '^progress .*word=busy:3600' "$LAB_OUT/unasked")" -ge 4 ] && [ "$(grep -c ^heartbeat "$LAB_OUT/unasked")" -ge 4 ]
}
until_true enough_progress
kill $listener
wait $listener

agent running status
agent stop stop --wait
agent stopped status
agent processes start 'sh:ps' --wait
agent refused start nothing
agent failed start 'sh:exit 9' --wait

# More bytes in both directions than the connection can buffer: 600 long commands, whose answers take 240 KB.
pad=$(printf '%0400d' 0 | tr 0 ' ')
agent dmesg start dmesg --wait
for i in $(seq 600); do echo "help$pad"; done >commands
echo poweroff >>commands
agent bulk <commands
cat "$LAB_OUT/said"
wait $guest
echo "exit $?" >>"$LAB_OUT/said"
ls "$XDG_RUNTIME_DIR/outrider" >"$LAB_OUT/left"
