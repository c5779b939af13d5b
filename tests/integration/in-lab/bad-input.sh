# SPDX-License-Identifier: GPL-2.0-or-later
# Wrong options, files and devices, one at a time. Each attempt leaves a line "NAME|EXIT STATUS|LINES ON STANDARD ERROR|THEIR TEXT" in
# $LAB_OUT/attempts, without the message that every run begins with.
[ -n "${APART:-}" ] || APART=yes exec unshare -m sh "$0" # what is mounted here goes with us
. ./told.sh
kernel=vmlinuz
initrd=initrd.img

note() {
	grep -v '^outrider: booting; seed' errors >said
	echo "$1|$2|$(grep -c '' said)|$(tr '\n' ' ' <said)" >>"$LAB_OUT/attempts"
}

# attempt NAME OPTION...: a run with these options.
attempt() {
	name=$1
	shift
	timeout -k 20 1200 outrider run "$@" </dev/null >output 2>errors
	note "$name" $?
}

# start COMMAND...: in the background, as $started; "enough NAME" can be said to its guest by enough(). Its output is in $out, a file.
start() {
	console_input tell
	# Truncate here, and not in the background: a reader that waits for words must not find the words of the run before.
	: >"$out"
	: >errors
	"$@" <>tell >"$out" 2>errors &
	started=$!
}

# or_gone COMMAND...: it succeeds, or the run that was started has ended, which its line in attempts then shows.
or_gone() {
	"$@" || ! kill -0 $started 2>/dev/null
}

# enough NAME
enough() {
	echo "enough $1" 1<>tell
}

printed() {
	[ "$(grep -c '^RACE' "$1")" -ge "$2" ]
}

# boot NAME CMDLINE OPTION...: one of the stock kernel, its console in $LAB_OUT/NAME.console.
boot() {
	name=$1
	cmdline=$2
	shift 2
	attempt "$name" --kernel $kernel --initrd $initrd --append "$cmdline" --console "$LAB_OUT/$name.console" "$@"
}

# Files that are none.
attempt no-kernel --kernel nowhere
attempt kernel-is-a-folder --kernel /
: >empty
attempt kernel-is-empty --kernel empty
echo "not a kernel" >text
attempt kernel-is-text --kernel text
head -c 5000000 $kernel >cut
attempt kernel-is-cut --kernel cut
head -c 515 $kernel >cut-header
attempt kernel-header-is-cut --kernel cut-header
attempt aim-at-text --kernel $kernel --aim text
boot aim-at-another-build "quiet cryptomgr.notests -- sleep:600" --quiet --aim other-build.json
attempt no-initrd --kernel $kernel --initrd nowhere
truncate -s 200M large
attempt initrd-too-large --kernel $kernel --initrd large --memory 128M
attempt memory-too-small --kernel $kernel --memory 64M
attempt no-symbols --kernel $kernel --symbols nowhere
attempt symbols-are-text --kernel $kernel --symbols text
attempt console-nowhere --kernel $kernel --console nowhere/console
attempt console-is-a-folder --kernel $kernel --console /
attempt json-nowhere --kernel $kernel --json nowhere/races.json
attempt json-is-a-folder --kernel $kernel --json /

# Devices that the host does not have or does not permit.
attempt no-disk --kernel $kernel --disk nowhere
attempt disk-is-odd --kernel $kernel --disk text
attempt disk-is-given-twice --kernel $kernel --disk large --disk large
attempt no-tap --kernel $kernel --net tap=nosuchtap
busybox nc -l -p 4445 </dev/null >/dev/null 2>&1 &
listener=$!
until_true grep -q "^ *[0-9]*: 0*:115D 0*:0000 0A" /proc/net/tcp /proc/net/tcp6
attempt port-in-use --kernel $kernel --net user,hostfwd=tcp:0.0.0.0:4445-:22
kill $listener
attempt address-of-another-host --kernel $kernel --net user,hostfwd=tcp:192.0.2.1:22-:22
attempt vsock-nowhere --kernel $kernel --vsock 3,socket=nowhere/socket

# A /dev/kvm that is not KVM, or that is missing, in its own mount namespace.
elsewhere() {
	name=$1
	shift
	unshare -m sh -c "$* && exec outrider run --kernel $kernel" </dev/null >output 2>errors
	note "$name" $?
}
mkdir -p empty-dev
elsewhere kvm-is-not-kvm "mount -o bind /dev/null /dev/kvm"
elsewhere kvm-is-not-there "mount -o bind empty-dev /dev"

# boot_with_map NAME MAP: boot a guest that waits until outrider has looked for the kernel with that System.map. Outrider finds the kernel by
# the map or by other means.
boot_with_map() {
	out=output
	start timeout -k 20 1200 outrider run --kernel $kernel --initrd $initrd --append "quiet cryptomgr.notests -- wait:600" --console "$LAB_OUT/$1.console" \
		--symbols "$2"
	until_true or_gone grep -q "kernel found" errors
	enough wait
	wait $started
	note "$1" $?
}

# A System.map of this very kernel, with the needed symbols only, then maps that differ from it a little.
boot map 'nokaslr quiet -- "sh:grep -e asm_exc_ -e linux_banner -e init_top_pgt -e system_state -e _stext -e _etext -e T.vfs_ /proc/kallsyms"' \
	--no-detect
tr -d '\r' <"$LAB_OUT/map.console" | grep '^ffffffff........ [A-Za-z] [A-Za-z0-9_.]*$' >map
boot_with_map own-map map
grep -v ' linux_banner$' map >map-without-banner
boot_with_map map-without-banner map-without-banner
sed 's/^\(.............\)... T asm_exc_int3$/\1ff0 T asm_exc_int3/' map >map-gate
boot_with_map map-gate map-gate
sed 's/^ffffffff8\(.*\) linux_banner$/ffffffffa\1 linux_banner/' map >map-banner
boot_with_map map-banner map-banner
sed '/ T vfs_/s/^ffffffff81./ffffffff817/' map >map-functions
boot_with_map map-functions map-functions

# Guests that die.
attempt no-root --kernel $kernel --append "quiet cryptomgr.notests panic=0 root=/dev/none" --console "$LAB_OUT/no-root.console" --no-detect

# Disks that are full: from the start, in the middle, for the console, for what is printed.
mkdir full small
mount -t tmpfs -o size=64k tmp full
head -c 65536 /dev/zero >full/file
boot json-on-a-full-disk "quiet cryptomgr.notests -- sleep:1" --json full/races.json
mount -t tmpfs -o size=48k tmp small
console_input tell
status=0
told tell timeout -k 20 1200 outrider run --kernel $kernel --initrd $initrd --append "quiet cryptomgr.notests -- gt:basic:1:120" --module outrider_gt \
	--rate 1000 --delay 2000 --json small/races.json --console "$LAB_OUT/disk-fills-up.console" >output 2>errors || status=$?
note disk-fills-up $status
cp small/races.json "$LAB_OUT/disk-fills-up.json"
cp output "$LAB_OUT/disk-fills-up.printed"
attempt console-on-a-full-disk --kernel $kernel --initrd $initrd --append "quiet cryptomgr.notests -- sleep:1" --console /dev/full --no-detect
timeout -k 20 120 outrider run --kernel $kernel --initrd $initrd --append "quiet cryptomgr.notests -- sleep:1" --no-detect </dev/null >/dev/full 2>errors
note output-on-a-full-disk $?

# Killed: what was printed is in the file, and the file is whole.
out=$LAB_OUT/killed.printed
start outrider run --kernel $kernel --initrd $initrd --append "quiet cryptomgr.notests -- gt:basic:1:600" --module outrider_gt --rate 1000 --delay 2000 \
	--json "$LAB_OUT/killed.json" --console /dev/null
for case in rwrace wwrace samevalue; do
	until_true or_gone grep -q "^RACE .*gt_$case" "$out"
	enough $case
done
kill -9 $started
wait $started
note killed $?

# Ended by Ctrl-C or a similar signal: an end that the user asked for.
out=$LAB_OUT/interrupted.printed
start outrider run --kernel $kernel --initrd $initrd --append "quiet cryptomgr.notests -- wait:600" --json "$LAB_OUT/interrupted.json" --console /dev/null
until_true or_gone grep -q "kernel found" errors
kill -TERM $started
wait $started
note interrupted $?

# A guest without a kernel that gives the worker of its disk requests without end (endless-disk.c). Its run ends by every means tried here, and
# the report is complete. SIGQUIT comes after many times the usual duration, and gives a status that no check expects.
truncate -s 2M endless.img
endless="--kernel endless --disk endless.img --memory 128"

# endless_run NAME OPTION...: until it ends by itself.
endless_run() {
	name=$1
	shift
	timeout -s QUIT -k 20 600 outrider run $endless --json "$LAB_OUT/$name.json" --console "$LAB_OUT/$name.console" "$@" </dev/null \
		>output 2>errors
	note "$name" $?
}

endless_run endless-off --append off
endless_run endless-no-kernel --wait-kernel 2s
endless_run endless-timeout --timeout 2s

# A first signal, when it is at work. Then with a disk of the host that never answers; then with an output that is not read.
# endless_stop NAME: tell the run that was started to end. The lab's own limit is the cap.
endless_stop() {
	kill -TERM $started
	wait $started
	note "$1" $?
}

out=output
name=endless-interrupted
start outrider run $endless --json "$LAB_OUT/$name.json" --console "$LAB_OUT/$name.console"
until_true or_gone grep -q -s endless "$LAB_OUT/$name.console"
endless_stop $name
name=stuck-disk
start env LD_PRELOAD=./stuck-disk.so outrider run $endless --json "$LAB_OUT/$name.json" --console "$LAB_OUT/$name.console"
until_true or_gone grep -q stuck errors
endless_stop $name
