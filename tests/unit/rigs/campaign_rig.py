# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns without a guest, for tests: tests/unit/rigs/campaign_emulator is what the runs are. And what their stores have."""

import contextlib
import csv
import glob
import io
import json
import os
import pathlib
import pwd
import shutil
import sqlite3
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build")).resolve()
OUTRIDER = BUILD / "outrider"
CAP = 600  # seconds that nothing here ever took

CAMPAIGN = """<campaign name='{name}'>
  <emulator>{emulator}</emulator>
  <jobs>{jobs}</jobs>
  <learn state='off'/>
  <failure on=''/>
  <kernels>
    <os name='6.1'><kernel>vmlinuz-6.1</kernel></os>
    <os name='6.12'><kernel>vmlinuz-6.12</kernel></os>
  </kernels>
  <images><image name='small'/></images>
  <workloads>
    <workload name='a'><cmdline>work=a</cmdline></workload>
    <workload name='b'><cmdline>work=b</cmdline></workload>
    <workload name='c'><cmdline>work=c</cmdline></workload>
  </workloads>
  <seeds from='1' count='2'/>
</campaign>
"""
RUNS = 12  # of a round


def make_campaign(folder, name="made", jobs=4, emulator=ROOT / "tests/unit/rigs/campaign_emulator"):
    """A campaign file in `folder`, with what it names."""
    for kernel in ("6.1", "6.12"):
        (folder / f"vmlinuz-{kernel}").write_text("kernel\n", encoding="utf-8")
    path = folder / "campaign.xml"
    path.write_text(CAMPAIGN.format(name=name, emulator=emulator, jobs=jobs), encoding="utf-8")
    return path


def outrider(*words, pace=0.0, status=0, folder=None):
    """Run `outrider campaign WORDS`; what it printed."""
    done = subprocess.run([OUTRIDER, "campaign", *map(str, words)], cwd=folder, env=dict(os.environ, PACE=str(pace)), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=CAP, check=False)
    if done.returncode != status:
        raise AssertionError(f"outrider campaign {words}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def children(pid, deep=True):
    """The processes that this one has started; with `deep`, theirs too."""
    try:
        words = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    except OSError:
        return []
    found = [int(word) for word in words]
    return found + [below for child in found for below in children(child)] if deep else found


# ---- PostgreSQL ----

def _program(name):
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))
    if not found:
        raise AssertionError(f"{name} is missing: `make deps-check` installs Debian's package postgresql")
    return found[-1]


def _as_server():
    """The server refuses to be root. Its package makes the user."""
    if os.getuid():
        return {}
    user = pwd.getpwnam("postgres")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


class Server:
    """A PostgreSQL server in a folder of its own, without a port. It can be stopped, and started again with what it has."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="outrider-postgres."))
        self.log = self.folder / "server.log"
        self.url = f"postgresql:///postgres?host={self.folder}&user=outrider"  # of an empty database
        self.process = None
        if not os.getuid():
            shutil.chown(self.folder, "postgres")
        self.folder.chmod(0o755)
        with open(self.log, "w", encoding="utf-8") as log:
            subprocess.run([_program("initdb"), "-D", "data", "-U", "outrider", "-A", "trust", "-E", "UTF8", "--no-sync"], cwd=self.folder,
                           check=True, stdout=log, stderr=log, **_as_server())

    def _launch(self):
        # The socket's folder is open for all, as its user may not be this one.
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen([_program("postgres"), "-D", "data", "-k", self.folder, "-h", "", "-F"], cwd=self.folder,
                                            stdout=log, stderr=log, **_as_server())

    def start(self):
        """Returns when the server answers. One that follows a killed one starts as soon as no process of that one is left."""
        end = time.monotonic() + CAP
        while subprocess.run(["psql", "-qc", "", self.url], stderr=subprocess.DEVNULL, check=False).returncode:
            if self.process is None or self.process.poll() is not None:
                self._launch()
            if time.monotonic() > end:
                raise AssertionError("the server does not start:\n" + self.log.read_text(encoding="utf-8", errors="replace")[-3000:])
            time.sleep(0.1)

    def stop(self, number):
        """Returns when the server has ended. PostgreSQL calls SIGQUIT its immediate mode: as after a power cut, but with all that is written."""
        self.process.send_signal(number)
        self.process.wait(timeout=CAP)

    def remove(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def postgres():
    """The URL of an empty database of a server that is there as long as the context is."""
    server = Server()
    try:
        server.start()
        yield server.url
    finally:
        server.remove()


# ---- what a store has ----

RUN = "o.number || ' ' || r.cell"
SIGHTED = ("sighting s JOIN run r ON r.id = s.run_id JOIN round o ON o.id = r.round_id JOIN build_race b ON b.id = s.build_race_id "
           "JOIN race c ON c.id = b.race_id JOIN verdict v ON v.id = s.verdict_id JOIN kernel k ON k.id = b.kernel_id")
QUERIES = {
    # What depends on times, on ids of the store or on places is left out.
    "rounds": "SELECT o.campaign, o.number, o.plan_hash FROM round o",
    "runs": f"SELECT {RUN}, r.kernel, r.image, r.workload, r.sampling, r.seed, r.engine, r.state, r.outcome, r.detail, k.build_id, r.hits, "
            "r.windows, r.conflicts, r.sampled_ns, r.lost_permille, r.pool "
            "FROM run r JOIN round o ON o.id = r.round_id LEFT JOIN kernel k ON k.id = r.kernel_id",
    "sightings": f"SELECT {RUN}, b.report, b.site0, b.site1, k.build_id, c.identity, v.class, v.rank, v.rule, v.evidence, v.suppressed, s.seen, "
                 f"s.first_ns, s.last_ns, (SELECT count(*) FROM instance i WHERE i.sighting_id = s.id) FROM {SIGHTED}",
    "findings": f"SELECT {RUN}, f.number, f.kind, f.line FROM finding f JOIN run r ON r.id = f.run_id JOIN round o ON o.id = r.round_id",
    "races": "SELECT c.identity, c.name, c.sides, c.datum, c.place, l.identity FROM race c JOIN race l ON l.id = c.line",
    "sums": "SELECT c.identity, o.number, q.seen, q.runs, v.class, v.rank, v.rule FROM race_round q JOIN race c ON c.id = q.race_id "
            "JOIN round o ON o.id = q.round_id JOIN verdict v ON v.id = q.verdict_id",
    "sites": "SELECT k.build_id, s.name, s.armed, s.hits, s.windows, s.conflicts, s.runs FROM site s JOIN kernel k ON k.id = s.kernel_id",
}


def ask(place, query):
    """The rows of a query, as lists of words, in byte order."""
    if not str(place).startswith("postgresql:"):
        with contextlib.closing(sqlite3.connect(f"file:{place}?mode=ro", uri=True, timeout=CAP)) as store:
            return sorted([str("" if word is None else word) for word in row] for row in store.execute(query))
    done = subprocess.run(["psql", "-qX", "--csv", "-t", "-c", query, place], env=dict(os.environ, PGOPTIONS="-c search_path=outrider"),
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    return sorted(csv.reader(io.StringIO(done.stdout)))


def dump(place):
    return {name: ask(place, query) for name, query in QUERIES.items()}


def finished(content):
    """Without the attempts that were not finished, whose keys end with "~" and a number."""
    return {name: [row for row in rows if "~" not in row[0]] for name, rows in content.items() if name in ("rounds", "runs", "sightings", "findings")}


def reported(runs):
    """What the runs' own files have: ROUND's uuid, RUN's uuid with "~N" of an unfinished attempt, race, and how often it was seen."""
    found = []
    for path in runs.glob("*/*/races.json"):
        for race in json.loads(path.read_text(encoding="utf-8"))["races"]:
            found.append([path.parts[-3], path.parts[-2], race["id"], str(race["count"])])
    return sorted(found)


def stored(place):
    """The same of the store."""
    rows = ask(place, f"SELECT o.uuid, r.folder, b.report, s.seen FROM {SIGHTED}")
    return sorted([row[0], pathlib.Path(row[1]).name, *row[2:]] for row in rows)


def check_file(place):
    """SQLite's own check of a store; "ok" when nothing is corrupt."""
    with contextlib.closing(sqlite3.connect(place, timeout=CAP)) as store:
        return store.execute("PRAGMA integrity_check").fetchone()[0]
