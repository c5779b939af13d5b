// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens a scenario, finds the kernel in its memory, and names its sites and data (scene.h). */
#include "hv/session/scene.h"

#include <stdio.h>
#include <string.h>

#include "hv/report/naming/naming.h"
#include "hv/session/symbol_files.h"

/*
 * Maximum number of calls of guest_poll(), which may need several calls to find the kernel. The memory does not change, so a
 * kernel that this many calls have not found will not be found by more.
 */
#define POLLS 50

static int read_gva(void *ctx, uint64_t gva, void *buf, size_t len)
{
	return guest_read(ctx, gva, buf, len);
}

static void on_module(void *ctx, const struct guest_module *m)
{
	(void)ctx;
	(void)m;
}

static const char *find_vmlinux(void *ctx, const uint8_t *id, size_t len)
{
	struct scene *s = ctx;

	return debug_images_path(s->images, DEBUG_IMAGE_KERNEL, id, len);
}

static int open_symbols(struct scene *s, const struct scene_config *config, struct err *err)
{
	const struct debug_images_sink sink = {.message = config->message, .found = config->found, .ctx = config->ctx};

	s->images = debug_images_new(&sink, err);
	if (!s->images || symbol_files_add(config->symbols, config->symbol_count, s->images, err) < 0)
		return -1;
	if (config->debuginfod && debug_images_use_debuginfod(s->images, err) < 0)
		return -1;
	return debug_images_add_usual(s->images, err);
}

static void find_modules(struct scene *s)
{
	const struct guest_module_events events = {.loaded = on_module, .gone = on_module};
	uint64_t version;

	do {
		version = guest_modules_version(s->guest);
		guest_poll_modules(s->guest, &events);
	} while (guest_modules_version(s->guest) != version);
}

/*
 * Find the kernel in the image, a target that consists of the scenario's RAM and one CPU. This CPU is the CPU of side 0, which
 * is in kernel mode, so its page tables map all of the kernel.
 */
static int open_kernel(struct scene *s, const struct scene_config *config, struct err *err)
{
	const struct guest_symbol_files files = {.find = find_vmlinux, .ctx = s};
	const char *symbols;
	struct err why = {0};
	int found = 0;

	if (symbol_files_kernel(config->symbols, config->symbol_count, &symbols, err) < 0)
		return -1;
	image_init(&s->image, &s->scenario.ram, &s->scenario.rendezvous.sides[0].regs, 1);
	s->guest = guest_new(&s->image.target, symbols, &files, err);
	if (!s->guest)
		return -1;
	for (unsigned i = 0; i < POLLS && !found; i++)
		found = guest_poll(s->guest, &why);
	s->known = found > 0;
	if (s->known)
		find_modules(s);
	else
		snprintf(s->why_not, sizeof(s->why_not), "%s", why.text[0] ? why.text : "no kernel was found in its memory");
	return 0;
}

int scene_open(struct scene *s, const struct scene_config *config, struct err *err)
{
	*s = (struct scene){0};
	if (scenario_open(config->path, &s->scenario, err) < 0)
		return -1;
	s->opened = true;
	if (vm_state_check(&s->scenario.state, &s->machine, err) < 0)
		return -1;
	replay_rendezvous_take(&s->scenario.rendezvous, &s->rendezvous);
	return open_symbols(s, config, err) < 0 ? -1 : open_kernel(s, config, err);
}

void scene_close(struct scene *s)
{
	guest_free(s->guest);
	debug_images_free(s->images);
	if (s->opened)
		scenario_close(&s->scenario);
}

void scene_name(struct scene *s, struct replay_instance *instance)
{
	if (s->known)
		replay_names_give(s->guest, &s->rendezvous, instance);
}

/* ---- source lines ---- */

/* State of the search for the source line at `gva`: first the kernel's or module's text that contains `gva`, then the line. */
struct search {
	struct scene *scene;
	uint64_t gva;
	struct source_line *line;
	bool found;
};

static void look_in(struct search *q, const struct debug_image *image)
{
	struct debuginfo_frame frames[DEBUGINFO_MAX_FRAMES];
	struct debuginfo *di = debug_images_of(q->scene->images, image);
	struct err err = {0};
	int count = di ? debuginfo_lines(di, q->gva, frames, &err) : 0;

	if (count < 0)
		debug_images_failed(q->scene->images, image, &err);
	if (count <= 0)
		return;
	naming_line(&frames[0], q->line);
	q->found = true;
}

static void look_in_module(void *ctx, const struct guest_module *m)
{
	struct search *q = ctx;
	const struct debug_image image = {.name = m->name,
					  .id = m->build_id,
					  .id_len = m->build_id_len,
					  .generation = m->generation,
					  .sections = m->sections,
					  .nsections = m->nsections};

	if (q->gva >= m->base && q->gva - m->base < m->size)
		look_in(q, &image);
}

static void look_in_kernel(struct search *q)
{
	struct debug_image image = {.name = DEBUG_IMAGE_KERNEL, .slide = guest_slide(q->scene->guest)};

	image.id_len = guest_build_id(q->scene->guest, &image.id);
	look_in(q, &image);
}

bool scene_source(struct scene *s, unsigned side, struct source_line *out)
{
	const struct rendezvous_side *at = &s->scenario.rendezvous.sides[side];
	struct search q = {.scene = s, .gva = at->regs.rip, .line = out};
	struct guest_symbol symbol = {0};

	*out = (struct source_line){0};
	if (!s->known || guest_symbol_at(s->guest, q.gva, &symbol) < 0)
		return false;
	if (symbol.module[0])
		guest_each_module(s->guest, look_in_module, &q);
	else
		look_in_kernel(&q);
	return q.found;
}

/* ---- for a core ---- */

int scene_core(const struct scene *s, struct vmcore_kernel *out, struct err *err)
{
	const struct guest_reader reader = {.read = read_gva, .ctx = s->guest};

	*out = (struct vmcore_kernel){0};
	if (!s->known)
		return err_set(err, EXIT_INPUT, "%s", s->why_not);
	return vmcore_kernel_read(out, &reader, guest_symtab(s->guest), err);
}

int32_t scene_pid(const struct scene *s, const struct replay_cpu *cpu)
{
	struct guest_context context = {.pid = -1};
	struct x86_regs regs = cpu->regs;

	/* If the CPU is in user mode, the base of its per-CPU data is in the other GS base register (SWAPGS). */
	if (x86_user_mode(&regs))
		regs.gs_base = cpu->kernel_gs_base;
	if (s->known)
		guest_context(s->guest, &regs, &context);
	return context.pid;
}
