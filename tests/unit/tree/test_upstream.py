#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`outrider report --format upstream` writes a mail in the form of the kernel's mailing lists, with its recipients."""

import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))
RACES = ROOT / "docs/evaluation/example.json"
RACE = "20e3a2bc83e1"  # getboottime64() against timekeeping_advance()
FILE = "kernel/time/timekeeping.c"  # the file of both functions

TO_FILL_IN = "[Say here what this race leads to, and how you would mend it, before you\nsend this mail.]\n"


def mail(*arguments, races=RACES, status=0):
    done = subprocess.run([BUILD / "outrider", "report", "--format", "upstream", *arguments, races], capture_output=True, text=True,
                          check=False, timeout=600)
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr


class Mail(unittest.TestCase):
    def test_form(self):
        text, _ = mail("--race", RACE)
        self.assertTrue(text.startswith("Subject: [BUG] data race: getboottime64() / timekeeping_advance()\n\nHello,\n\n"))
        self.assertTrue(text.isascii())
        self.assertNotIn("\t", text)
        for line in text.splitlines():
            self.assertLessEqual(len(line), 72)
            self.assertEqual(line, line.rstrip())

    def test_what_it_says(self):
        text, _ = mail("--race", RACE)
        words = " ".join(text.split())
        for said in ("a data race on tk_core.timekeeper.offs_boot (ktime_t) in Linux 6.1.0-56-cloud-amd64",
                     f"read of 8 bytes in getboottime64() {FILE}:2255",
                     f"write of 8 bytes in timekeeping_advance() {FILE}:2222",
                     "The read, on CPU 1 by init (pid 131), task, interrupts on",
                     "The write, on CPU 1 by init (pid 131), hardirq, interrupts off",
                     f"getboottime64+0x14/0x40 {FILE}:2255 show_stat+0x93/0x750 fs/proc/stat.c:121",
                     f"update_wall_time+0xc/0x20 {FILE}:2237",
                     "for up to 3.0 ms", "a watchpoint on the memory caught the other access",
                     "The value was 0 before and after: what was written was there already.", "It was seen 2 times in 1817 s of sampling, in 1 run.",
                     "harmful candidate", "Debian 6.1.192-2", f"Race: {RACE}", "[Say here what this race leads to"):
            self.assertIn(said, words)

    def test_one_race_a_mail(self):
        text, said = mail(status=2)
        self.assertEqual(text, "")
        self.assertIn("give --race ID", said)

    def test_text_of_a_guest(self):
        """A name from the guest cannot add a header or steer the terminal."""
        document = json.loads(RACES.read_text())
        for race in document["races"]:
            for side in race["sides"]:
                if not side["unknown"]:
                    side["function"] = "f\nBcc: somebody@example.org\n\x1b[2J"
                    side["context"]["comm"] = "a\r\n.\r\nb"
        with tempfile.NamedTemporaryFile("w", suffix=".json") as races:
            json.dump(document, races)
            races.flush()
            text, _ = mail("--race", RACE, races=races.name)
        self.assertNotRegex(text, r"(?m)^Bcc:|^\.$|\x1b|\r")


class Kept(unittest.TestCase):
    def test_mails_of_the_evaluation(self):
        """Up to the verdict, the mails in docs/evaluation are the output for the kept documents, with one paragraph filled in."""
        for kept, races, race in (("mail-getboottime64.txt", RACES, RACE),
                                  ("mail-decay_pcp_high.txt", ROOT / "docs/evaluation/pcp-high.json", "847ec4a9fc4a")):
            with self.subTest(mail=kept):
                text, _ = mail("--race", race, races=races)
                before, after = text.split("Outrider's verdict")[0].split(TO_FILL_IN)
                said = (ROOT / "docs/evaluation" / kept).read_text()
                self.assertTrue(said.isascii())
                self.assertNotIn("\t", said)
                for line in said.splitlines():
                    self.assertLessEqual(len(line), 72)
                headers, body = said.split("Subject: ")
                self.assertRegex(headers, r"^To: .*<.*@.*>")
                body = "Subject: " + body.split("Outrider's verdict")[0]
                self.assertEqual(body[:len(before)], before)
                self.assertEqual(body[-len(after):], after)
                self.assertGreater(len(body), len(before) + len(after) + 300)


def alive(group):
    """Returns the processes of a group that have not ended. Zombies have ended."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _parent, its_group = stat.read_text().rpartition(")")[2].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(its_group) == group and state not in "ZX":
            found.append(stat.parent.name)
    return found


SCRIPT = """#!/usr/bin/perl
use Cwd;
die "options @ARGV" unless "@ARGV" eq "--no-git --no-git-fallback --no-tree -f kernel/time/timekeeping.c";
die "no tree" unless -f "MAINTAINERS";
die "environment" if join(" ", sort keys %%ENV) !~ /^(LC_ALL PATH)( PWD| SHLVL| _)*$/;
die "input" if defined <STDIN>;
%s
"""

ANSWER = r"""
print "John Doe <john\@example.org> (maintainer:TIMEKEEPING)\n";
print "J\xc3\xb6rg (the \"other\") <jm\@example.org> (supporter:TIMEKEEPING)\n";
print "Some Reviewer <rev\@example.org> (reviewer:TIMEKEEPING)\n";
print "linux-kernel\@vger.kernel.org (open list:TIMEKEEPING)\n";
"""


class Maintainers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        self.tree, self.other = self.top / "linux", self.top / "hold"
        self.other.mkdir()
        for name in ("scripts", "kernel/time"):
            (self.tree / name).mkdir(parents=True)
        (self.tree / "MAINTAINERS").touch()
        (self.tree / FILE).write_text("x\n")

    def ask(self, body, *more):
        (self.tree / "scripts/get_maintainer.pl").write_text(SCRIPT % body)
        return mail("--race", RACE, *more, "--sources", self.tree)

    def assertNobody(self, text, said, why):
        self.assertTrue(text.startswith("Subject: "), text[:200])
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn("nobody is named", said)
        self.assertIn(why, said)

    def test_recipients(self):
        text, said = self.ask(ANSWER, "--sources", self.other)
        self.assertEqual(said, "")
        head, _ = text.split("Subject: ", 1)
        self.assertEqual(head, "To: John Doe <john@example.org>,\n"
                               "    =?UTF-8?Q?J=C3=B6rg=20=28the=20=22other=22=29?= <jm@example.org>\n"
                               "Cc: Some Reviewer <rev@example.org>,\n"
                               "    linux-kernel@vger.kernel.org\n")

    def test_no_script(self):
        self.assertNobody(*mail("--race", RACE, "--sources", self.tree), "has no folder with scripts/get_maintainer.pl")

    def test_script_that_a_link_leads_to(self):
        outside = self.top / "script.pl"
        outside.write_text(SCRIPT % ANSWER)
        (self.tree / "scripts/get_maintainer.pl").symlink_to(outside)
        self.assertNobody(*mail("--race", RACE, "--sources", self.tree), "has no folder with scripts/get_maintainer.pl")

    def test_files_that_are_not_there(self):
        (self.tree / FILE).unlink()
        self.assertNobody(*self.ask(ANSWER), "source files are not known")

    def test_files_with_names_for_a_shell(self):
        """The script would pass such names to a shell."""
        for name in ("kernel/$(touch x).c", "-f", "kernel/a b.c", "../linux/" + FILE, str(self.tree / FILE)):
            with self.subTest(name=name):
                if name.startswith(("kernel", "-")):
                    (self.tree / name).write_text("x\n")
                (self.tree / "scripts/get_maintainer.pl").write_text("print 'somebody@example.org (maintainer:X)', qq(\\n);")
                document = json.loads(RACES.read_text())
                for race in document["races"]:
                    for side in race["sides"]:
                        if not side["unknown"]:
                            for place in (side, *side["stack"]["frames"]):
                                for line in place["source"]:
                                    line["file"] = name
                with tempfile.NamedTemporaryFile("w", suffix=".json") as races:
                    json.dump(document, races)
                    races.flush()
                    self.assertNobody(*mail("--race", RACE, "--sources", self.tree, races=races.name), "source files are not known")

    def test_script_that_fails(self):
        self.assertNobody(*self.ask(ANSWER + "exit 1;"), "failed")

    def test_script_that_never_stops_talking(self):
        self.assertNobody(*self.ask(r'while (1) { print "John Doe <john\@example.org> (maintainer:X)\n"; }'), "failed")

    def test_script_that_hangs(self):
        """A script that does not end is killed together with its children."""
        self.assertNobody(*self.ask('open(my $f, ">", "pid"); print $f $$; close($f); system("sleep 1000");'), "failed")
        group = int((self.tree / "pid").read_text())
        end = time.monotonic() + 60
        while alive(group) and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(alive(group), [])

    def test_lines_that_are_no_addresses(self):
        text, said = self.ask(r'''print "Bcc: a\@b.c\n";
            print "evil <a\@b.c>\r\nBcc: x\@y.z (maintainer:X)\n";
            print "\e[2J <a\@b.c> (maintainer:X)\n";
            print "no address (maintainer:X)\n";
            print "two <a\@b.c, x\@y.z> (maintainer:X)\n";
            print "x" x 5000, " <long\@b.c> (maintainer:X)\n";
            print "NUL\0 <a\@b.c> (maintainer:X)\n";
            print "Good <good\@b.c> (maintainer:X)\n";''')
        self.assertEqual(said, "")
        self.assertTrue(text.startswith("To: Good <good@b.c>\nSubject: "), text[:300])


if __name__ == "__main__":
    unittest.main()
