# SPDX-License-Identifier: GPL-2.0-or-later
# Two guests of one kernel: locks.sh with LOCK_CASES and OTHERS, then replay.sh with REPLAY_CASES.
CASES=$LOCK_CASES sh locks.sh && CASES=$REPLAY_CASES sh replay.sh
