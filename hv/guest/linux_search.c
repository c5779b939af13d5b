/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Identifies the guest's kernel and its location. The interrupt descriptor table leads to the kernel's text regardless of
 * KASLR: gate 3 points to asm_exc_int3, whose run-time address minus its link-time address is the slide. Without a symbol file,
 * the kernel image around that address is searched for its kallsyms tables. With a symbol file, the file must agree with these
 * tables: two builds of one version can have entry code and banner at the same addresses, and all other code at different
 * addresses.
 */
#include <stdio.h>
#include <string.h>

#include "hv/base/linux_image.h"
#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_search.h"

#define IMAGE_ALIGN 0x200000ull		 /* least alignment of the image, in bytes (CONFIG_PHYSICAL_ALIGN) */
#define NOTE_HEADER 16u			 /* bytes of an ELF note before its content: two sizes, the type, and "GNU" */
#define LINK_TEXT 0xffffffff81000000ull	 /* link address of _text */
#define CPU_ENTRY_AREA_SIZE (1ull << 39) /* bytes */
#define MISSES_MAX 10			 /* give up after this many polls that found a CPU in kernel mode, but no kernel */

static bool idt_is_final(const struct x86_regs *regs)
{
	return regs->idt_base >= LINUX_FINAL_IDT && regs->idt_base - LINUX_FINAL_IDT < CPU_ENTRY_AREA_SIZE;
}

/* Returns the handler's address in an IDT gate (SDM vol. 3, figure 6-8), or 0 if the gate is not present or unreadable. */
static uint64_t gate_handler(const struct guest *g, const struct x86_regs *regs, unsigned vector)
{
	uint16_t d[8];

	if (guest_read(g, regs->idt_base + vector * sizeof(d), d, sizeof(d)) || !(d[2] & 0x8000))
		return 0;
	return d[0] | (uint64_t)d[3] << 16 | (uint64_t)d[4] << 32 | (uint64_t)d[5] << 48;
}

bool linux_may_be_hidden(struct guest *g, const struct x86_regs *regs)
{
	return x86_user_mode(regs) || ++g->misses < MISSES_MAX;
}

/* Find the mapped range around `inside`. The kernel image is mapped by 2 MiB pages, with 4 KiB pages at section boundaries. */
static void image_around(const struct guest *g, uint64_t inside, uint64_t *start, uint64_t *end)
{
	uint64_t gpa;

	*start = inside & ~(IMAGE_ALIGN - 1);
	*end = *start + IMAGE_ALIGN;
	while (*start > LINUX_IMAGE_START && guest_translate(g, *start - IMAGE_ALIGN, &gpa) == 0)
		*start -= IMAGE_ALIGN;
	while (*end < LINUX_IMAGE_END && guest_translate(g, *end, &gpa) == 0)
		*end += IMAGE_ALIGN;
}

static struct symtab *kallsyms_around(const struct guest *g, uint64_t inside, struct err *err)
{
	uint64_t start, end;

	image_around(g, inside, &start, &end);
	return symtab_from_kallsyms(&g->poll_reader, start, end, err);
}

/*
 * Read the kernel's banner, "Linux version ...", at the symbol linux_banner into g->banner. Returns 0, -1 if something else is
 * there, or 1 if the memory is unreadable now.
 */
static int read_banner(struct guest *g, const struct symtab *symbols)
{
	uint64_t at = symtab_addr(symbols, "linux_banner");
	char banner[sizeof(g->banner)];

	if (!at || guest_read(g, at, banner, sizeof(banner) - 1))
		return 1;
	banner[sizeof(banner) - 1] = 0;
	if (strncmp(banner, "Linux version ", strlen("Linux version ")) != 0)
		return -1;
	banner[strcspn(banner, "\n")] = 0;
	memcpy(g->banner, banner, sizeof(banner));
	return 0;
}

/* ---- symbols of a file ---- */

/* Returns true if some IDT gates point to the expected functions. */
static bool gates_agree(const struct guest *g, const struct x86_regs *regs)
{
	static const struct {
		unsigned vector;
		const char *handler;
	} gates[] = {{0, "asm_exc_divide_error"}, {3, "asm_exc_int3"}, {6, "asm_exc_invalid_op"}, {14, "asm_exc_page_fault"}};

	for (size_t i = 0; i < sizeof(gates) / sizeof(*gates); i++) {
		if (gate_handler(g, regs, gates[i].vector) != symtab_addr(g->symtab, gates[i].handler))
			return false;
	}
	return true;
}

enum agreement { AGREE, DIFFER, UNKNOWN };

/*
 * Copy the GNU build id (note type 3, owner "GNU"), of at most `max` bytes, from ELF notes. Returns its length, or 0 if there
 * is none.
 */
static size_t id_in_notes(const uint8_t *notes, size_t size, uint8_t *out, size_t max)
{
	uint32_t len;

	for (size_t at = 0; at + NOTE_HEADER <= size; at += 4) {
		if (memcmp(notes + at, "\4\0\0\0", 4) != 0 || memcmp(notes + at + 8, "\3\0\0\0GNU", 8) != 0)
			continue;
		memcpy(&len, notes + at + 4, sizeof(len));
		if (len > max || len > size - at - NOTE_HEADER)
			return 0;
		memcpy(out, notes + at + NOTE_HEADER, len);
		return len;
	}
	return 0;
}

/* Copy the kernel's build id from its .notes section. Returns its length, or 0 if there is none. */
static size_t read_build_id(const struct guest *g, uint8_t *out, size_t max)
{
	uint64_t start = symtab_addr(g->symtab, "__start_notes"), end = symtab_addr(g->symtab, "__stop_notes");
	uint8_t notes[4096];

	if (!start || end <= start || end - start > sizeof(notes) || guest_read(g, start, notes, end - start))
		return 0;
	return id_in_notes(notes, end - start, out, max);
}

void linux_find_build_id(struct guest *g)
{
	g->build_id_len = read_build_id(g, g->build_id, sizeof(g->build_id));
}

static enum agreement compare_build_ids(const struct guest *g)
{
	uint8_t own[MODULE_BUILD_ID_MAX];
	const uint8_t *id;
	size_t len = symtab_build_id(g->symtab, &id), own_len = read_build_id(g, own, sizeof(own));

	if (!len || !own_len)
		return UNKNOWN;
	return len == own_len && memcmp(own, id, len) == 0 ? AGREE : DIFFER;
}

/*
 * Check that global functions have the addresses that the guest's own tables `own` give. Tolerate 1 % of differences: a name
 * can occur twice, and the two sources may keep different functions of that name.
 */
static enum agreement compare_functions(const struct guest *g, const struct symtab *own)
{
	size_t compared = 0, differ = 0;

	for (size_t i = 0; i < symtab_count(own); i++) {
		struct symbol sym;
		uint64_t addr;

		symtab_get(own, i, &sym);
		addr = sym.type == 'T' ? symtab_addr(g->symtab, sym.name) : 0;
		compared += addr != 0;
		differ += addr != 0 && addr != sym.addr;
	}
	if (!compared)
		return UNKNOWN;
	return differ * 100 <= compared ? AGREE : DIFFER;
}

/*
 * Use the guest's own tables `own` in place of those of a file. Takes ownership of `own`. Returns 1 on success, 0 if the next
 * poll must try again, because the kernel's banner cannot be read now, or -1 with `err` set.
 */
static int adopt(struct guest *g, const struct x86_regs *regs, struct symtab *own, struct err *err)
{
	int banner = read_banner(g, own);

	if (banner > 0 && linux_may_be_hidden(g, regs)) {
		symtab_free(own);
		return 0;
	}
	if (g->symtab != own)
		symtab_free(g->symtab);
	g->symtab = own;
	g->from_file = false;
	g->source = GUEST_OWN_TABLES;
	g->slide = symtab_addr(own, "_text") - LINK_TEXT;
	return banner == 0 ? 1 : err_set(err, EXIT_INPUT, "the guest's kallsyms have no linux_banner: not a Linux kernel");
}

/*
 * Reject the user's file, and continue with the guest's own tables `own`. Takes ownership of `own`. If `own` is NULL, the
 * guest's tables are not readable now. Returns 1, 0 or -1 as adopt() does.
 */
static int refuse_file(struct guest *g, const struct x86_regs *regs, struct symtab *own, const char *why, struct err *err)
{
	int version;

	if (!own && linux_may_be_hidden(g, regs))
		return 0;
	if (own)
		read_banner(g, own);
	/* The banner is "Linux version 6.1.0-9-amd64 (who built it) ...". Print only the part before the parenthesis. */
	version = (int)strcspn(g->banner, "(");
	while (version && g->banner[version - 1] == ' ')
		version--;
	snprintf(g->refused, sizeof(g->refused), "%s: %s%s%.*s", g->source, why,
		 g->banner[0] ? " than the guest's, which is " : "", version, g->banner);
	return own ? adopt(g, regs, own, err) : err_set(err, EXIT_INPUT, "%s; give those of this very build", g->refused);
}

static int wrong_symbols(struct guest *g, const struct x86_regs *regs, struct symtab *own, struct err *err)
{
	return refuse_file(g, regs, own, "symbols of another kernel", err);
}

/*
 * Accept the user's file unless the file is of another build. The build id identifies a vmlinux, and the addresses of the
 * functions identify a System.map. Returns 1, 0 or -1 as adopt() does.
 */
static int check_build(struct guest *g, const struct x86_regs *regs, uint64_t handler, bool final, struct err *err)
{
	enum agreement same = compare_build_ids(g);
	struct symtab *own = same == AGREE ? NULL : kallsyms_around(g, handler, NULL);

	if (same == UNKNOWN && !own && linux_may_be_hidden(g, regs))
		return 0;
	if (same == UNKNOWN && own)
		same = compare_functions(g, own);
	if (same == DIFFER && final)
		return wrong_symbols(g, regs, own, err);
	symtab_free(own);
	return same != DIFFER;
}

/* Derive the slide from gate 3, and check the slide against other gates. Before the IDT is final, a mismatch means nothing. */
static int match_file(struct guest *g, const struct x86_regs *regs, uint64_t handler, struct err *err)
{
	bool final = idt_is_final(regs);
	uint64_t linked;
	int banner;

	symtab_set_slide(g->symtab, 0);
	linked = symtab_addr(g->symtab, "asm_exc_int3");
	if (!linked || !symtab_addr(g->symtab, "linux_banner"))
		return final ? refuse_file(g, regs, kallsyms_around(g, handler, NULL),
					   "no symbols asm_exc_int3 and linux_banner, so of another kernel", err)
			     : 0;
	g->slide = handler - linked;
	if (handler < linked || g->slide % IMAGE_ALIGN || g->slide > LINUX_IMAGE_END - LINUX_IMAGE_START)
		return final ? wrong_symbols(g, regs, kallsyms_around(g, handler, NULL), err) : 0;
	symtab_set_slide(g->symtab, g->slide);
	banner = read_banner(g, g->symtab);
	if (banner > 0 && (!final || linux_may_be_hidden(g, regs)))
		return 0;
	if (banner || !gates_agree(g, regs))
		return final ? wrong_symbols(g, regs, kallsyms_around(g, handler, NULL), err) : 0;
	return check_build(g, regs, handler, final, err);
}

/* ---- symbols in the guest's memory ---- */

/* Find the build id without symbols: the first build-id note in the mapped image around `inside`. */
static size_t search_build_id(const struct guest *g, uint64_t inside, uint8_t *out, size_t max)
{
	uint64_t start, end;
	/* One page, and the rest of a note that begins on it. */
	uint8_t page[X86_PAGE_SIZE + NOTE_HEADER + MODULE_BUILD_ID_MAX];
	size_t len = 0;

	image_around(g, inside, &start, &end);
	for (uint64_t at = start; at < end && !len && !atomic_load(&g->polls_cancelled); at += X86_PAGE_SIZE) {
		size_t size = guest_read(g, at, page, sizeof(page)) == 0 ? sizeof(page) : X86_PAGE_SIZE;

		if (size == sizeof(page) || guest_read(g, at, page, size) == 0)
			len = id_in_notes(page, size, out, max);
	}
	return len;
}

/*
 * Load the vmlinux with the kernel's build id, because the kernel's own tables are invalid. Returns false if there is no such
 * file.
 */
static bool load_by_build_id(struct guest *g, uint64_t handler, const char *why)
{
	uint8_t id[MODULE_BUILD_ID_MAX];
	size_t len = g->files.find ? search_build_id(g, handler, id, sizeof(id)) : 0;
	const char *path = len ? g->files.find(g->files.ctx, id, len) : NULL;

	g->symtab = path ? symtab_load(path, NULL) : NULL;
	if (!g->symtab)
		return false;
	g->source = path;
	g->from_file = true;
	snprintf(g->refused, sizeof(g->refused), "%.480s", why);
	return true;
}

static int search_memory(struct guest *g, const struct x86_regs *regs, uint64_t handler, struct err *err)
{
	struct err why = {0};
	struct symtab *own = kallsyms_around(g, handler, &why);

	if (own)
		return adopt(g, regs, own, err);
	if (why.code == EXIT_INPUT && linux_may_be_hidden(g, regs))
		return 0;
	if (why.code == EXIT_INPUT && load_by_build_id(g, handler, why.text))
		return match_file(g, regs, handler, err);
	return err_set(err, why.code, "%s", why.text);
}

int linux_search(struct guest *g, const struct x86_regs *regs, struct err *err)
{
	uint64_t handler = gate_handler(g, regs, 3);

	if (handler < LINUX_IMAGE_START || handler >= LINUX_IMAGE_END)
		return 0;
	if (g->from_file || idt_is_final(regs))
		atomic_store(&g->progress, GUEST_READING);
	if (g->from_file)
		return match_file(g, regs, handler, err);
	/* Search only when the IDT is final: before, the CPU may use the tables of the decompressor or of early boot. */
	return idt_is_final(regs) ? search_memory(g, regs, handler, err) : 0;
}
