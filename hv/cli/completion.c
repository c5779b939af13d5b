// SPDX-License-Identifier: GPL-2.0-or-later
/* Generates the files by which shells complete outrider's command lines, from the option tables of --help. */
#include "hv/cli/completion.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Options that every subcommand has besides those in its tables. */
static const struct argp_option common[] = {{"help", 'h', NULL, 0, "explain this command", 0}, {0}};

/* ---- walking the tables ---- */

/* Call `each` for every option of the parser and of its children. */
static void each_option(const struct argp *argp, void (*each)(void *ctx, const struct argp_option *o), void *ctx)
{
	for (const struct argp_option *o = argp->options; o && (o->name || o->doc); o++) {
		if (o->name && !(o->flags & OPTION_HIDDEN))
			each(ctx, o);
	}
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		each_option(child->argp, each, ctx);
}

/* Call `each` for every option that the subcommand takes. */
static void each_option_of(const struct cli_command *c, void (*each)(void *ctx, const struct argp_option *o), void *ctx)
{
	each_option(c->argp, each, ctx);
	each_option(&(const struct argp){.options = common}, each, ctx);
}

/*
 * Returns the commands that take options and arguments themselves: each of `commands` that has no subcommands, and each
 * subcommand of the others, with the name "OUTER INNER". The list and the names of inner commands come from malloc();
 * leaves_free() frees both. Returns NULL if memory runs out.
 */
static struct cli_command *leaves(const struct cli_command *commands)
{
	struct cli_command *list = NULL;
	size_t count = 1, at = 0;

	for (const struct cli_command *c = commands; c->name; c++) {
		count++;
		for (const struct cli_command *inner = c->inner; inner && inner->name; inner++)
			count++;
	}
	list = calloc(count, sizeof(*list));
	for (const struct cli_command *c = commands; list && c->name; c++) {
		if (!c->inner)
			list[at++] = *c;
		for (const struct cli_command *inner = c->inner; inner && inner->name; inner++) {
			char *name = NULL;

			list[at] = *inner;
			list[at++].name = asprintf(&name, "%s %s", c->name, inner->name) < 0 ? NULL : name;
		}
	}
	return list;
}

static void leaves_free(struct cli_command *list)
{
	for (struct cli_command *c = list; c && c->name; c++) {
		if (strchr(c->name, ' '))
			free((char *)c->name);
	}
	free(list);
}

static bool has_letter(const struct argp_option *o)
{
	return o->key > ' ' && o->key < 0x7f;
}

/* Returns whether the option's value may be left out. The argument after such an option is never its value. */
static bool has_optional_value(const struct argp_option *o)
{
	return o->flags & OPTION_ARG_OPTIONAL;
}

/*
 * How a completion file completes a value: by the words of `choice`, by a shell function of the completion file, or not at all.
 */
struct value {
	const struct cli_choice *choice;
	enum value_kind { VALUE_FREE, VALUE_FILE, VALUE_FOLDER, VALUE_DOMAIN, VALUE_URI } kind;
};

/*
 * Returns how to complete the value of an option. Of a value with several parts, such as "IMAGE[,ro]", only the first part is
 * completed.
 */
static struct value value_of(const char *metavar, const struct cli_choice *const *choices)
{
	static const struct {
		const char *metavar;
		enum value_kind kind;
	} kinds[] = {
		{"FILE", VALUE_FILE},	  {"PATH", VALUE_FILE}, {"FOLDER", VALUE_FOLDER},
		{"DOMAIN", VALUE_DOMAIN}, {"URI", VALUE_URI},	{"IMAGE", VALUE_FILE},
	};
	size_t first = strcspn(metavar, "[");

	for (; *choices; choices++) {
		if (strcmp((*choices)->metavar, metavar) == 0)
			return (struct value){.choice = *choices};
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strlen(kinds[i].metavar) == first && strncmp(kinds[i].metavar, metavar, first) == 0)
			return (struct value){.kind = kinds[i].kind};
	}
	return (struct value){.kind = VALUE_FREE};
}

/* Returns how to complete the arguments of a subcommand: they are libvirt domains, or else files. */
static struct value argument_of(const struct cli_command *c)
{
	if (!c->argp->args_doc)
		return (struct value){.kind = VALUE_FREE};
	return (struct value){.kind = strcmp(c->argp->args_doc, "DOMAIN") == 0 ? VALUE_DOMAIN : VALUE_FILE};
}

/* ---- bash ---- */

static const char bash_begin[] =
	"# SPDX-License-Identifier: GPL-2.0-or-later\n"
	"# Completion of outrider's command line in bash. `outrider completion bash` writes this file.\n"
	"\n"
	"_outrider_files() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$1\"); }\n"
	"_outrider_folders() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- \"$1\"); }\n"
	"_outrider_words() { mapfile -t COMPREPLY < <(compgen -W \"$2\" -- \"$1\"); }\n"
	"\n"
	"# The domains of the connection that the command line names with --connect, or of the default one. Their names are\n"
	"# anybody's, and compgen -W would expand $(...) in them.\n"
	"_outrider_domains()\n"
	"{\n"
	"\tlocal i name names connect=()\n"
	"\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	"\t\t[[ ${COMP_WORDS[i]} == --connect ]] || continue\n"
	"\t\t[[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))\n"
	"\t\tconnect=(--connect \"${COMP_WORDS[i + 1]}\")\n"
	"\tdone\n"
	"\tmapfile -t names < <(\"${COMP_WORDS[0]}\" list --names \"${connect[@]}\" 2>/dev/null)\n"
	"\tfor name in \"${names[@]}\"; do\n"
	"\t\tif [[ $name == \"$1\"* ]]; then COMPREPLY+=(\"$(printf %q \"$name\")\"); fi\n"
	"\tdone\n"
	"}\n"
	"\n"
	"_outrider()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}\n"
	"\n"
	"\t# The shell takes the = of --option=value for a word.\n"
	"\tif [[ $cur == = ]]; then\n"
	"\t\tcur=\n"
	"\telif [[ $prev == = ]]; then\n"
	"\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tfi\n"
	"\tCOMPREPLY=()\n";

static const char bash_end[] = "}\n"
			       "complete -F _outrider outrider\n";

struct bash {
	const struct cli_command *command;
	const struct cli_choice *const *choices;
};

static void bash_value(const struct value *v)
{
	static const char *const calls[] = {
		[VALUE_FREE] = "",
		[VALUE_FILE] = "_outrider_files \"$cur\"",
		[VALUE_FOLDER] = "_outrider_folders \"$cur\"",
		[VALUE_DOMAIN] = "_outrider_domains \"$cur\"",
		[VALUE_URI] = "_outrider_words \"$cur\" 'qemu:///system qemu:///session'",
	};

	if (!v->choice) {
		fputs(calls[v->kind], stdout);
		return;
	}
	fputs("_outrider_words \"$cur\" '", stdout);
	for (size_t i = 0; v->choice->word(i); i++)
		printf("%s%s", i ? " " : "", v->choice->word(i));
	putchar('\'');
}

/* Print one branch of the shell's `case`: how to complete the value of an option. */
static void bash_option_value(void *ctx, const struct argp_option *o)
{
	const struct bash *b = ctx;
	struct value v;

	if (!o->arg || has_optional_value(o))
		return;
	v = value_of(o->arg, b->choices);
	printf("\t'%s --%s'", b->command->name, o->name);
	if (has_letter(o))
		printf(" | '%s -%c'", b->command->name, o->key);
	fputs(")\n\t\t", stdout);
	bash_value(&v);
	fputs(v.choice || v.kind != VALUE_FREE ? "\n\t\treturn ;;\n" : "return ;;\n", stdout);
}

static void bash_option_word(void *ctx, const struct argp_option *o)
{
	bool *first = ctx;

	printf("%s--%s", *first ? "" : " ", o->name);
	if (has_letter(o))
		printf(" -%c", o->key);
	*first = false;
}

static void bash_names(const struct cli_command *commands)
{
	for (const struct cli_command *c = commands; c->name; c++)
		printf("%s%s", c == commands ? "" : " ", c->name);
}

/*
 * Print shell code that completes the subcommands of `c` and appends the subcommand to $command. By $command, later shell code
 * in the file finds the subcommand's options.
 */
static void bash_inner(const struct cli_command *c)
{
	printf("\tif [[ $command == %s ]] && ((COMP_CWORD == 2)); then\n\t\t_outrider_words \"$cur\" '", c->name);
	bash_names(c->inner);
	printf(" --help -h'\n\t\treturn\n\tfi\n\t[[ $command == %s ]] && command+=\" ${COMP_WORDS[2]}\"\n", c->name);
}

static void bash(const struct cli_command *commands, const struct cli_command *leaf, const struct cli_choice *const *choices)
{
	fputs(bash_begin, stdout);
	fputs("\tif ((COMP_CWORD == 1)); then\n\t\t_outrider_words \"$cur\" '", stdout);
	bash_names(commands);
	fputs(" help --help --version'\n\t\treturn\n\tfi\n", stdout);
	for (const struct cli_command *c = commands; c->name; c++) {
		if (c->inner)
			bash_inner(c);
	}
	fputs("\tcase \"$command $prev\" in\n", stdout);
	for (const struct cli_command *c = leaf; c->name; c++)
		each_option_of(c, bash_option_value, &(struct bash){c, choices});
	fputs("\tesac\n\tcase $command,$cur in\n\thelp,*)\n\t\t_outrider_words \"$cur\" '", stdout);
	bash_names(commands);
	fputs("' ;;\n", stdout);
	for (const struct cli_command *c = leaf; c->name; c++) {
		struct value v = argument_of(c);
		bool first = true;

		printf("\t'%s',-*)\n\t\t_outrider_words \"$cur\" '", c->name);
		each_option_of(c, bash_option_word, &first);
		fputs("' ;;\n", stdout);
		if (v.kind == VALUE_FREE)
			continue;
		printf("\t'%s',*)\n\t\t", c->name);
		bash_value(&v);
		fputs(" ;;\n", stdout);
	}
	fputs("\tesac\n", stdout);
	fputs(bash_end, stdout);
}

/* ---- zsh ---- */

static const char zsh_begin[] =
	"#compdef outrider\n"
	"# SPDX-License-Identifier: GPL-2.0-or-later\n"
	"# Completion of outrider's command line in zsh. `outrider completion zsh` writes this file.\n"
	"\n"
	"# The domains of the connection that the command line names with --connect, or of the default one.\n"
	"_outrider_domains()\n"
	"{\n"
	"\tlocal -a domains connect\n"
	"\t[[ -n ${opt_args[--connect]} ]] && connect=(--connect ${opt_args[--connect]})\n"
	"\tdomains=(${(f)\"$(${outrider:-outrider} list --names $connect 2>/dev/null)\"})\n"
	"\tcompadd -a domains\n"
	"}\n"
	"\n"
	"_outrider()\n"
	"{\n"
	"\tlocal outrider=$words[1]\n"
	"\tlocal -a commands\n"
	"\ttypeset -A opt_args\n"
	"\tcommands=(\n";

/* Print `text` inside '...' of the shell, with a backslash before the special characters of _arguments and _describe. */
static void zsh_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			printf("%s%c", strchr(":[]\\", *text) ? "\\" : "", *text);
	}
}

static void zsh_value(const char *metavar, const struct value *v)
{
	static const char *const actions[] = {
		[VALUE_FREE] = " ",
		[VALUE_FILE] = "_files",
		[VALUE_FOLDER] = "_files -/",
		[VALUE_DOMAIN] = "_outrider_domains",
		[VALUE_URI] = "(qemu\\:///system qemu\\:///session)",
	};

	putchar(':');
	zsh_text(metavar);
	putchar(':');
	if (!v->choice) {
		fputs(actions[v->kind], stdout);
		return;
	}
	for (size_t i = 0; v->choice->word(i); i++)
		printf("%c%s", i ? ' ' : '(', v->choice->word(i));
	putchar(')');
}

static void zsh_option(void *ctx, const struct argp_option *o)
{
	const struct cli_choice *const *choices = ctx;
	struct value v;

	fputs("\t\t\t", stdout);
	/* Mark an option that may be given several times, so that zsh offers it again. */
	if (strstr(o->doc, "several times"))
		fputs("'*'", stdout);
	if (has_letter(o))
		printf("{-%c,--%s%s}", o->key, o->name, o->arg ? "=" : "");
	else
		printf("--%s%s", o->name, !o->arg ? "" : has_optional_value(o) ? "=-" : "=");
	fputs("'[", stdout);
	zsh_text(o->doc);
	putchar(']');
	if (o->arg) {
		v = value_of(o->arg, choices);
		if (has_optional_value(o))
			putchar(':');
		zsh_value(o->arg, &v);
	}
	fputs("' \\\n", stdout);
}

static void zsh_names(const struct cli_command *commands)
{
	for (const struct cli_command *c = commands; c->name; c++) {
		printf("\t\t'%s:", c->name);
		zsh_text(c->what);
		fputs("'\n", stdout);
	}
}

/*
 * Print shell code that completes the subcommands of `c` and sets $words[1] to "OUTER INNER". By $words[1], later shell code in
 * the file finds the subcommand's options.
 */
static void zsh_inner(const struct cli_command *c)
{
	printf("\tif [[ $words[1] == %s ]]; then\n\t\tcommands=(\n", c->name);
	zsh_names(c->inner);
	printf("\t\t)\n\t\tif ((CURRENT == 2)); then\n\t\t\t_describe command commands\n\t\t\treturn\n\t\tfi\n"
	       "\t\tshift words\n\t\t((CURRENT--))\n\t\twords[1]=\"%s $words[1]\"\n\tfi\n",
	       c->name);
}

static void zsh(const struct cli_command *commands, const struct cli_command *leaf, const struct cli_choice *const *choices)
{
	fputs(zsh_begin, stdout);
	zsh_names(commands);
	fputs("\t)\n"
	      "\tif ((CURRENT == 2)); then\n"
	      "\t\t_describe command commands\n"
	      "\t\t_arguments {-h,--help}'[explain outrider]' {-V,--version}'[name this version]'\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tshift words\n"
	      "\t((CURRENT--))\n",
	      stdout);
	for (const struct cli_command *c = commands; c->name; c++) {
		if (c->inner)
			zsh_inner(c);
	}
	fputs("\tcase $words[1] in\n"
	      "\thelp)\n"
	      "\t\t_describe command commands ;;\n",
	      stdout);
	for (const struct cli_command *c = leaf; c->name; c++) {
		struct value v = argument_of(c);

		printf("\t'%s')\n\t\t_arguments \\\n", c->name);
		each_option_of(c, zsh_option, (void *)choices);
		fputs("\t\t\t", stdout);
		if (v.kind == VALUE_FREE) {
			fputs("&& return ;;\n", stdout);
			continue;
		}
		fputs(v.kind == VALUE_FILE ? "'*" : "'1", stdout);
		zsh_value(c->argp->args_doc, &v);
		fputs("' ;;\n", stdout);
	}
	fputs("\tesac\n}\n\n_outrider \"$@\"\n", stdout);
}

int completion(const struct cli_command *commands, const struct cli_choice *const *choices, const char *shell)
{
	struct cli_command *leaf = leaves(commands);
	int code = EXIT_OK;

	if (!leaf) {
		fputs("outrider: out of memory\n", stderr);
		code = EXIT_INTERNAL;
	} else if (shell && strcmp(shell, "bash") == 0) {
		bash(commands, leaf, choices);
	} else if (shell && strcmp(shell, "zsh") == 0) {
		zsh(commands, leaf, choices);
	} else {
		fputs("outrider: completion needs the name of a shell: bash or zsh\n", stderr);
		code = EXIT_USAGE;
	}
	leaves_free(leaf);
	return code;
}
