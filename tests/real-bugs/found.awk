# SPDX-License-Identifier: GPL-2.0-or-later
# Reads what `outrider run` prints, and passes it on. As soon as a race of the bug is printed, the uptime goes to the file FOUND.
# A race is the bug's if the functions of one side match FIRST and those of the other side match SECOND. A side's functions are that of
# the access and those of its call stack, up to what its context has interrupted. A race of a function that matches LOCKS is one of a lock's word, and not the bug's.
# awk -v first=REGEX -v second=REGEX -v locks=REGEX -v found=FILE -f found.awk

function judge() {
	if (sides == 2 && !done && !of_lock && (fits[1, 1] && fits[2, 2] || fits[1, 2] && fits[2, 1])) {
		getline uptime <"/proc/uptime"
		split(uptime, part, " ")
		print part[1] >found
		close(found)
		done = 1
	}
	sides = 0
}

function name(word) {
	sub(/\+0x[0-9a-f]+$/, "", word)
	if (!calls && word ~ locks)
		of_lock = 1
	if (word ~ first)
		fits[sides, 1] = 1
	if (word ~ second)
		fits[sides, 2] = 1
}

{
	print
	fflush()
}

/^RACE / {
	judge()
	of_lock = 0
	delete fits
	next
}

/^  (read|write|read-write) / && $2 ~ /\+0x[0-9a-f]+$/ {
	sides++
	calls = 0
	name($2)
	next
}

/^             calls / { calls = 1 }
/^             [a-z]/ && !/^             calls / { calls = 0 }

# A frame with the name of its context before it begins what was interrupted.
sides && calls && !/^             calls / && NF > 1 && $1 !~ /\+0x/ { calls = 0 }

sides && calls {
	for (i = 1; i <= NF; i++)
		if ($i ~ /\+0x[0-9a-f]+$/)
			name($i)
}

/^$/ { judge() }
END { judge() }
