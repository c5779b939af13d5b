# SPDX-License-Identifier: GPL-2.0-or-later
# One guest of tests/bench/kcsan. WHAT: "count" does counted work on one CPU, "find" the workloads WORDS on two. ARM says which detector
# looks: plain none, kcsan KCSAN alone; overhead-P outrider in all of the kernel and the module with --overhead P, module-P in the module alone,
# rate-R with --rate R.
# kcsan-often has KCSAN watch 40 times as many accesses as it does by itself, and each of them 12 times as long, since a guest in a lab is slow.
. ./told.sh

case $ARM in
plain* | kcsan*) how=--no-detect ;;
overhead-*) how="--overhead ${ARM#overhead-}" ;;
module-*) how="--module outrider_gt --overhead ${ARM#module-}" ;;
rate-*) how="--rate ${ARM#rate-}" ;;
esac
[ "$how" = --no-detect ] || how="$how --seed $SEED --stats-every 5s --json $LAB_OUT/races.json"
options="quiet printk.time=1"
[ "$ARM" != kcsan-often ] || options="$options kcsan.skip_watch=100 kcsan.udelay_task=1000 kcsan.udelay_interrupt=250"
case $WHAT in
count) cpus=1 line="$options -- count:$SECONDS_EACH" ;;
find) cpus=2 line="$options -- wait:600 $WORDS" ;;
esac
# The first seconds of sampling are of the time in which points are being armed; of a module that comes with the first case there is nothing
# to arm before.
ready() {
	kill -0 $guest 2>/dev/null || return 0
	grep -q -a -e 'count: ready' -e 'wait:600: start' "$LAB_OUT/console" || return 1
	case $how in
	--no-detect | --module*) ;;
	*) [ "$(grep -c 's sampled: ' "$LAB_OUT/said")" -ge 3 ] ;;
	esac
}
: >"$LAB_OUT/console"
console_input input
# Words.
# shellcheck disable=SC2086
timeout -k 20 1200 outrider run --kernel vmlinuz --initrd initrd.img --append "$line" --cpus $cpus $how \
	--console "$LAB_OUT/console" >"$LAB_OUT/said" 2>&1 <>input &
guest=$!
until_true ready
echo "enough wait" >input
status=0
wait $guest || status=$?
tail -n 2 "$LAB_OUT/said"
case $WHAT in
count) grep -q -a 'count: done' "$LAB_OUT/console" ;;
find) grep -q -a 'gt: case ' "$LAB_OUT/console" ;;
esac && exit $status
