// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule for lone words: the datum is a variable of one word. One side stores a new value as a whole, the other side loads
 * the word as a whole, and no fact of raise.h makes the race worse, such as a lock on one side. The word is not a member of an
 * object, so it need not be consistent with other members: the reader's value is right by itself, old or new. Only the source
 * says whether the race is intended: READ_ONCE() and WRITE_ONCE() leave no trace in machine code
 * (tools/memory-model/Documentation/access-marking.txt in Linux). So the class is unclear until the source of both sides was
 * read. Once the source of both sides was read, this rule no longer fits: the rule "marked-accesses" fits if both sides are
 * marked, and otherwise the race is a harmful candidate.
 */
#include "pruner/rules/raise.h"
#include "pruner/rules/rules.h"

/*
 * Returns whether the access is to the whole of the variable that the datum is in. The kernel's symbols give the size of the
 * variable.
 */
static bool is_whole_variable(const struct view *v, const struct view_side *s)
{
	const struct guest_memory *memory = &v->race->first.memory;

	return (memory->kind == GUEST_MEMORY_KERNEL || memory->kind == GUEST_MEMORY_MODULE) && memory->symbol.name[0] &&
	       memory->object && memory->offset == 0 && memory->object_size == s->side->size &&
	       s->side->size <= sizeof(uint64_t);
}

/* Returns whether any fact makes the race worse, such as a lock on one side or a branch on the value. */
static bool is_raised(const struct view *v)
{
	struct verdict unsaid = {0};
	enum rule_id worst;

	return raise_points(v, &unsaid, &worst) != 0;
}

bool rule_lone_word(const struct view *v, struct verdict *out)
{
	unsigned w = v->side[0].writes ? 0 : 1;
	const struct view_side *writer = &v->side[w], *reader = &v->side[!w];

	if (!reader->followed || !writer->followed || reader->writes || !writer->writes || view_updates(writer) ||
	    !is_whole_variable(v, reader) || !is_whole_variable(v, writer) || (reader->source_read && writer->source_read) ||
	    is_raised(v))
		return false;
	out->class = VERDICT_UNCLEAR;
	out->rule = RULE_LONE_WORD;
	verdict_evidence(
		out,
		"%s is a variable of one word: %s stores it as a whole, and %s loads it as a whole; only the source shows if "
		"that is meant, and the source of %s was not read: if both accesses are marked there, by WRITE_ONCE() and "
		"READ_ONCE() for example, the race is synchronisation, and otherwise a harmful candidate",
		v->datum, view_function(writer), view_function(reader),
		reader->source_read   ? view_function(writer)
		: writer->source_read ? view_function(reader)
				      : "both sides");
	return true;
}
