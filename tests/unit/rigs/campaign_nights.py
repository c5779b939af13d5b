# SPDX-License-Identifier: GPL-2.0-or-later
"""Rounds of a campaign in which each run plays back a report that was recorded earlier, so that neither a guest nor KVM is needed.
All else is real: `outrider campaign run` starts the runs and fills the store."""

import json
import lzma
import os
import pathlib
import subprocess
import sys

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build")).resolve()
CAP = 300  # seconds that nothing here ever took

# Stands for outrider: what a run's kernel is to play back stands in a file.
PLAYER = """#!{python}
import json, pathlib, sys, time
arguments = sys.argv[1:]
def value(option):
    return arguments[arguments.index(option) + 1] if option in arguments else None
night = json.loads(pathlib.Path({now!r}).read_text())[pathlib.Path(value("--kernel")).name]
for option in ("--json", "--coverage", "--console"):
    if value(option) and night.get(option):
        pathlib.Path(value(option)).write_bytes(pathlib.Path(night[option]).read_bytes())
while night.get("wait") and not pathlib.Path(night["wait"]).exists():
    time.sleep(0.05)
sys.stderr.write(night.get("says", ""))
sys.exit(night.get("status", 0))
"""

CAMPAIGN = """<campaign name='{name}'>
  <emulator>{player}</emulator>
  <jobs>1</jobs>
  <learn state='off'/>
  {more}
  <machine><vcpu>1</vcpu></machine>
  <kernels>{kernels}</kernels>
  <images><image name='image'/></images>
  <seeds from='1' count='1'/>
</campaign>
"""


def recorded(name):
    """A recorded report as a document."""
    return json.loads(lzma.decompress((ROOT / "tests/data/recorded" / name / "named.json.xz").read_bytes()))


def check(document, name):
    """Validate against docs/campaign-NAME.schema.json. References to other schemas are resolved here, because some versions of jsonschema cannot."""
    text = (ROOT / f"docs/campaign-{name}.schema.json").read_text()
    parts = {}
    for other, file in (("campaign-list", "campaign-list"), ("races", "report")):
        text = text.replace(f'"urn:outrider:{other}:1#/$defs/', f'"#/$defs/{file}/$defs/')
        part = json.loads((ROOT / f"docs/{file}.schema.json").read_text().replace('"#/$defs/', f'"#/$defs/{file}/$defs/'))
        parts[file] = {"$defs": part["$defs"]}
    schema = json.loads(text)
    schema["$defs"] |= parts
    jsonschema.Draft202012Validator(schema).validate(document)


class Nights:
    """`kernels` names the kernels of the campaign, each of which makes one run a round. `more` is XML for the campaign file."""

    def __init__(self, folder, kernels, name="nightly", more=""):
        self.folder = pathlib.Path(folder)
        self.store = self.folder / "store/campaigns.db"
        self.now = self.folder / "now.json"
        player = self.folder / "player"
        player.write_text(PLAYER.format(python=sys.executable, now=str(self.now)))
        player.chmod(0o755)
        for kernel in kernels:
            (self.folder / kernel).write_bytes(b"")
        self.file = self.folder / "campaign.xml"
        self.file.write_text(CAMPAIGN.format(name=name, player=player, more=more, kernels="".join(
            f"<os name='{kernel}'><kernel>{self.folder / kernel}</kernel></os>" for kernel in kernels)))

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return str(path)

    def play(self, **kernels):
        """What the next round plays back: each kernel is given a report, or a dict with what its run is to write, say, wait for and end
        with. A report that is None is not written."""
        nights = {}
        for kernel, night in kernels.items():
            night = dict(night) if "--json" in night else {"--json": night}
            for option in ("--json", "--coverage", "--console"):
                if night.get(option) is not None and not isinstance(night[option], str):
                    night[option] = self.write(kernel + option, night[option])
            nights[kernel] = night
        self.now.write_text(json.dumps(nights))

    def round(self, **kernels):
        """A round. Returns the finished process."""
        self.play(**kernels)
        return self.command("run", self.file)

    def arguments(self, command, *arguments):
        return [BUILD / "outrider", "campaign", command, "--store", self.store, *arguments]

    def start(self, command, *arguments):
        return subprocess.Popen(self.arguments(command, *arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def command(self, command, *arguments, **more):
        return subprocess.run(self.arguments(command, *arguments), stdin=subprocess.DEVNULL, capture_output=True, timeout=CAP, check=False,
                              **more)

    def said(self, command, *arguments, **more):
        """What a command that succeeds prints."""
        done = self.command(command, *arguments, **more)
        assert done.returncode == 0 and done.stderr == b"", (done.returncode, done.stderr)
        return done.stdout.decode()
