# SPDX-License-Identifier: GPL-2.0-or-later
# outrider explore of the module's pairs of calls. The states of the threads of one run and of its child processes go to boot.threads, while the
# guest boots, and to copy.threads, while a copy is recorded.
. ./told.sh
. ./states.sh

module="insmod /outrider_gt.ko"

# explore NAME PREPARE A B OPTION...: the exit status goes to "exits", the result to NAME.json. A part of a schedule may take an eighth of
# --trial-time. On a busy machine, the part before an access took more than the eighth of the default.
explore() {
	name=$1
	prepare=$2
	a=$3
	b=$4
	shift 4
	status=0
	outrider explore --kernel vmlinuz --initrd initrd.img --append "quiet cryptomgr.notests -- pair" --console "$LAB_OUT/$name.log" --prepare "$prepare" --a "$a" --b "$b" --trial-time 16s --format json \
		"$@" >"$LAB_OUT/$name.json" 2>"$LAB_OUT/$name.err" || status=$?
	echo "$name exit $status" >>"$LAB_OUT/exits"
	cat "$LAB_OUT/$name.err"
}

# processes: the folders in /proc of the outriders that run, and of their openers.
processes() {
	grep -l '^\(outrider\|opener\)$' /proc/[0-9]*/comm 2>/dev/null | sed 's/comm$//'
}

# boots: the guest of lockedput writes to its console; or its run is over.
boots() {
	[ -s "$LAB_OUT/lockedput.log" ] || grep -q "^lockedput " "$LAB_OUT/exits"
}

# copies: lockedput records in a copy; or its run is over.
copies() {
	{ grep -q "both programs are at the mark" "$LAB_OUT/lockedput.err" && [ "$(processes | wc -l)" -ge 3 ]; } || grep -q "^lockedput " "$LAB_OUT/exits"
}

# look NAME: the threads of all these processes.
look() {
	for process in $(processes); do
		states "$process"task/*
	done >"$LAB_OUT/$1.threads" 2>/dev/null
}

# pair NAME OPTION...
pair() {
	pair=$1
	shift
	explore "$pair" "$module; echo prepare $pair >/proc/outrider_gt" "echo step $pair 0 >/proc/outrider_gt" "echo step $pair 1 >/proc/outrider_gt" "$@"
}

pair twice --trials 20 --save kept
ls kept >"$LAB_OUT/kept"
status=0
outrider replay kept/*.scenario --times 3 --format json >"$LAB_OUT/replayed.json" 2>"$LAB_OUT/replayed.err" || status=$?
echo "replayed exit $status" >>"$LAB_OUT/exits"
cat "$LAB_OUT/replayed.err"
pair lateuse --trials 20 --no-baseline
pair nulltest --trials 20 --no-baseline
pair chained --trials 20 --no-baseline --chains 1
pair statcount --trials 2 --no-baseline --keep-going
pair actlen --trials 6 --no-baseline --keep-going
pair actirq --trials 6 --no-baseline --keep-going --b-also gt_actirq_timer
# The exit statuses do not tell that a write has failed.
explore oneseat "$module; echo prepare oneseat >/proc/outrider_gt" "echo step oneseat 0 >/proc/outrider_gt; true" \
	"echo step oneseat 1 >/proc/outrider_gt; true" --trials 4 --no-baseline --keep-going
pair alloconce --trials 12 --no-baseline
pair alloclose --trials 8 --no-baseline
pair freetwice --trials 12 --no-baseline
pair freeonce --trials 8 --no-baseline
pair lockedput --trials 12 --no-baseline --walks 8 --depth 2 --jobs 2 &
lockedput=$!
until_true boots || :
look boot
until_true copies || :
look copy
wait $lockedput || :
explore recorded "$module; echo prepare twice >/proc/outrider_gt" "echo step twice 0 >/proc/outrider_gt" "echo step twice 1 >/proc/outrider_gt" --record-only --no-baseline --steps 20000
explore harmful "$module" "echo complain null >/proc/outrider_gt" true --quiet --no-baseline --steps 3000
explore nofunction "$module" true true --quiet --b-also gt_no_such
explore nomark true true true --append quiet --quiet
explore unprepared false true true --quiet
