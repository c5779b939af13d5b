# SPDX-License-Identifier: GPL-2.0-or-later
# campaign.sh outrider run ARGUMENT...: a run of a campaign. The script tells the guest which cases are found, so the run must not be --quiet.
# With a file `strike`, the script kills outrider after as many seconds as the file says.
. ./told.sh

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
told tell "$@"
