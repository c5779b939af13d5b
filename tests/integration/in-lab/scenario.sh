# SPDX-License-Identifier: GPL-2.0-or-later
# A race that is kept, run again, debugged from outside of the lab, and taken out as cores. GDB: the address at which gdb may connect.
. ./told.sh

# kept: a scenario of the case nlink whose orders lead to different states; or outrider has ended.
kept() {
	ls kept/*-state-change.scenario >/dev/null 2>&1 || ! kill -0 "$pid" 2>/dev/null
}

# waits ORDER PID: the server of this order waits for gdb; or it has ended.
waits() {
	grep -q "waiting for gdb" "$LAB_OUT/gdb$1.err" 2>/dev/null || ! kill -0 "$2" 2>/dev/null
}

# debugged ORDER: serve this order to one gdb. The line that the lab's output shows lets it connect.
debugged() {
	outrider replay "$scenario" --order "$1" --gdb-tcp "$GDB" 2>"$LAB_OUT/gdb$1.err" &
	server=$!
	until_true waits "$1" "$server"
	if [ "$LAB_KIND" = amd ]; then
		nc "${GDB%:*}" "${GDB##*:}" <>/dev/ttyS2 >&0 &
		relay=$!
	fi
	cat "$LAB_OUT/gdb$1.err"
	echo "gdb may connect: order $1"
	status=0
	wait $server || status=$?
	echo "gdb$1 exit $status" >>"$LAB_OUT/exits"
	[ "$LAB_KIND" != amd ] || kill $relay 2>/dev/null
}

mkdir kept
console_input tell
timeout -k 20 2400 outrider run --kernel vmlinuz --initrd initrd.img --memory 192 --cpus 2 --module outrider_gt --rate 1000 --delay 4000 --seed 1 \
	--replay --replay-for 500ms --save kept --append 'quiet cryptomgr.notests -- gtcase:nlink:1:1200 dmesg poweroff' --json "$LAB_OUT/run.json" \
	--console "$LAB_OUT/run.log" <>tell >"$LAB_OUT/run.out" 2>"$LAB_OUT/run.err" &
pid=$!
until_true kept
echo "enough nlink" >tell
status=0
wait "$pid" || status=$?
echo "run exit $status" >"$LAB_OUT/exits"
cat "$LAB_OUT/run.err"
ls -l kept
scenario=$(ls kept/*-state-change.scenario | head -n 1)
[ -s "$scenario" ] || exit 0

# step NAME ARGUMENT...: outrider replay of the scenario, with its output and status.
step() {
	what=$1
	shift
	status=0
	outrider replay "$scenario" "$@" >"$LAB_OUT/$what.out" 2>"$LAB_OUT/$what.err" || status=$?
	echo "$what exit $status" >>"$LAB_OUT/exits"
	cat "$LAB_OUT/$what.err"
}

step again
step times --for 0 --times 5
step before --vmcore before.core
step after1 --order 1 --for 0 --vmcore after1.core
step after2 --order 2 --for 0 --vmcore after2.core
# Who can connect when no path is said, while the server waits.
umask 0
outrider replay "$scenario" --gdb unix: 2>"$LAB_OUT/gdb0.err" &
server=$!
until_true waits 0 "$server"
socket=$(sed -n 's/.*target remote //p' "$LAB_OUT/gdb0.err")
echo "socket $(stat -c '%a %F' "$socket") in $(stat -c '%a %F' "$(dirname "$socket")")" >"$LAB_OUT/socket"
kill $server
wait $server
echo "left: $(ls "$(dirname "$socket")")" >>"$LAB_OUT/socket"
umask 022
mv ./*.core "$LAB_OUT"
cp "$scenario" "$LAB_OUT/race.scenario"
[ "$LAB_KIND" != amd ] || stty -F /dev/ttyS2 115200 raw -echo
debugged 1
debugged 2
grep -l '^outrider$' /proc/[0-9]*/comm >"$LAB_OUT/left" 2>/dev/null
exit 0
