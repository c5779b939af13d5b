# SPDX-License-Identifier: GPL-2.0-or-later
# campaign.sh outrider run ARGUMENT...: a run of a campaign. The script tells the guest which cases are found, so the run must not be --quiet.
# With a file `strike`, the script kills outrider after as many seconds as the file says. When the guest hangs, the script exits with 125, as a
# lab that died, so that the run does not count as done.
. ./told.sh
. ./hung.sh

for word; do
	shift
	[ "$word" = --quiet ] || set -- "$@" "$word"
done
console_input tell
if [ -e strike ]; then
	{
		sleep "$(cat strike)"
		until_true [ -s tell.pid ]
		kill -KILL "$(cat tell.pid)"
	} &
fi
end_if_hung out/console "$SILENCE" tell >hung &
guard=$!
status=0
told tell "$@" || status=$?
kill $guard 2>/dev/null || :
cat hung >&2
[ ! -s hung ] || status=125
exit $status
