#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The pure parts of vm-images/ and of the labs: archives, modules, payloads, and what a lab may write when it comes back."""

import io
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
sys.dont_write_bytecode = True
sys.path += [str(HERE), str(TREE / "vm-images")]
from images import build, cache, kernel, modules, newc, programs  # noqa: E402
from images.error import Failure  # noqa: E402
from labhost import payload  # noqa: E402
from labhost.error import LabFailure  # noqa: E402

BUILD_INITRAMFS = TREE / "vm-images/build-initramfs"


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def file(self, name, data=b"", mode=0o644):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(mode)
        return path


class Archives(InFolder):
    def unpacked(self, archive):
        """{path: content} as cpio, which is not ours, reads it; folders end with a slash."""
        out, place = io.BytesIO(), self.folder / "unpacked"
        archive.write(out)
        place.mkdir()
        done = subprocess.run(["busybox", "cpio", "-idmv"], cwd=place, input=out.getvalue(), capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {str(path.relative_to(place)) + ("/" if path.is_dir() else ""): b"" if path.is_dir() else path.read_bytes()
                for path in place.rglob("*")}

    def test_cpio_reads_it(self):
        archive = newc.Archive()
        archive.data("/deep/er/odd", b"123", executable=True)
        archive.data("empty", b"")
        archive.link("deep/link", "er/odd")
        self.assertEqual(self.unpacked(archive), {"deep/": b"", "deep/er/": b"", "deep/er/odd": b"123", "empty": b"",
                                                  "deep/link": b"123"})
        self.assertTrue(os.access(self.folder / "unpacked/deep/er/odd", os.X_OK))
        self.assertEqual((self.folder / "unpacked/deep/er/odd").stat().st_mtime, 0)

    def test_no_way_out_and_no_file_as_folder(self):
        archive = newc.Archive()
        archive.data("../../up", b"1")
        self.assertEqual(self.unpacked(archive), {"up": b"1"})
        with self.assertRaises(Failure):
            archive.data("up/stairs", b"")
        with self.assertRaises(Failure):
            archive.data("/..", b"")

    def test_same_input_same_bytes(self):
        outputs = []
        for name in ("first", "second"):
            init = self.file(f"{name}/init", b"#!/bin/sh\n", 0o755)
            os.utime(init, (len(outputs), len(outputs)))
            subprocess.run([sys.executable, BUILD_INITRAMFS, "-o", self.folder / name / "out", "--init", init,
                            "--file", f"{init}:/etc/copy"], check=True)
            outputs.append((self.folder / name / "out").read_bytes())
        self.assertEqual(outputs[0], outputs[1])

    def test_a_failed_build_leaves_the_old_image(self):
        out = self.file("out", b"old")
        for options in (["--file", "/no/such:/x"], ["--file", f"{out}:relative"], ["--init", out], ["--bin", "/no/such"],
                        ["--kernel-dir", self.folder, "--module", "kvm"]):
            with self.subTest(options=options):
                done = subprocess.run([sys.executable, BUILD_INITRAMFS, "-o", out, *options], capture_output=True, text=True,
                                      check=False)
                self.assertEqual((done.returncode, len(done.stderr.splitlines())), (3, 1), done.stderr)
                self.assertEqual((out.read_bytes(), sorted(os.listdir(self.folder))), (b"old", ["out"]))


class ModuleSets(InFolder):
    def setUp(self):
        super().setUp()
        base = "lib/modules/6.1-test"
        self.file(f"{base}/modules.dep", b"kernel/a-top.ko: kernel/mid.ko kernel/base.ko\nkernel/mid.ko: kernel/base.ko\n"
                  b"kernel/base.ko:\nkernel/alone.ko:\n")
        self.file(f"{base}/modules.builtin", b"kernel/fs/ext4/ext4.ko\n")
        self.file(f"{base}/kernel/alone.ko", b"code" + self.signature(b"sig"))
        self.modules = modules.Modules(self.folder)

    @staticmethod
    def signature(signature, length=None):
        size = len(signature) if length is None else length
        return signature + bytes(8) + size.to_bytes(4, "big") + modules.SIGNATURE_MARKER

    def test_order_to_load_in(self):
        self.assertEqual(self.modules.closure(["a_top", "alone", "ext4", "base"]),
                         ["kernel/base.ko", "kernel/mid.ko", "kernel/a-top.ko", "kernel/alone.ko"])
        with self.assertRaises(Failure):
            self.modules.closure(["nosuch"])

    def module(self, path, source):
        """A module that depmod can read: an object file with the names that it has and needs."""
        target = self.file(path)
        subprocess.run(["cc", "-x", "c", "-c", "-o", target, "-"], input=source, text=True, check=True)

    def test_an_unpacked_package_without_lists(self):
        """As `dpkg -x` leaves it, and with /usr/lib as packages since trixie have it. The folder stays unchanged."""
        for place in ("lib/modules/6.1-new", "usr/lib/modules/6.1-new"):
            with self.subTest(place=place):
                root = place.split("/")[0]
                self.module(f"{root}.d/{place}/kernel/base.ko", 'int base(void) { return 0; }\n'
                            'const char name[] __attribute__((section("__ksymtab_strings"), used)) = "base";\n')
                self.module(f"{root}.d/{place}/updates/top.ko", "int base(void);\nint top(void) { return base(); }\n")
                self.file(f"{root}.d/{place}/modules.order", b"kernel/base.ko\nupdates/top.ko\n")
                (self.folder / f"{root}.d/{place}/build").symlink_to("/nowhere")
                before = sorted((self.folder / f"{root}.d").rglob("*"))
                found = modules.Modules(self.folder / f"{root}.d")
                self.assertEqual(found.closure(["top"]), ["kernel/base.ko", "updates/top.ko"])
                self.assertEqual(found.read("kernel/base.ko")[:4], b"\x7fELF")
                self.assertIn("modules.dep.bin", found.files())
                self.assertNotIn("build", found.files())
                self.assertEqual(sorted((self.folder / f"{root}.d").rglob("*")), before)

    def test_no_modules_or_those_of_two_kernels(self):
        with self.assertRaisesRegex(Failure, "no kernel modules"):
            modules.Modules(self.folder / "lib")
        self.file("lib/modules/6.2-test/modules.order")
        with self.assertRaisesRegex(Failure, "of 2 kernels"):
            modules.Modules(self.folder)

    def test_signatures(self):
        self.assertEqual(self.modules.content("kernel/alone.ko", signed=False), b"code")
        self.assertTrue(self.modules.content("kernel/alone.ko").endswith(modules.SIGNATURE_MARKER))
        self.assertEqual(modules.without_signature(b"unsigned"), b"unsigned")
        for damaged in (b"code" + self.signature(b"sig", 100), modules.SIGNATURE_MARKER):
            with self.assertRaises(Failure):
                modules.without_signature(damaged)


class Kernels(InFolder):
    RELEASE = "7.3.4+deb13-cloud-amd64"

    def test_packages_named_by_a_field(self):
        """A metapackage, and a kernel package whose files are in packages of their own."""
        self.assertEqual(kernel.named("image", "linux-image-6.1.0-50-cloud-amd64 (= 6.1.176-1)"),
                         [["linux-image-6.1.0-50-cloud-amd64", "6.1.176-1"]])
        meta = f"linux-base-cloud-amd64 (= 7.3.4-1~bpo13+1), linux-image-{self.RELEASE} (= 7.3.4-1~bpo13+1)"
        self.assertEqual(kernel.named("image", meta), [[f"linux-image-{self.RELEASE}", "7.3.4-1~bpo13+1"]])
        image = (f"dracut | initramfs-tools (>= 0.120+deb8u2), linux-base-{self.RELEASE} (= 7.3.4-1), "
                 f"linux-binary-{self.RELEASE} (= 7.3.4-1), linux-modules-{self.RELEASE} (= 7.3.4-1)")
        self.assertEqual(kernel.named("binary|modules", image),
                         [[f"linux-binary-{self.RELEASE}", "7.3.4-1"], [f"linux-modules-{self.RELEASE}", "7.3.4-1"]])
        self.assertEqual(kernel.named("image", "kmod, linux-base (>= 4.3~)"), [])

    def test_kernel_in_boot_or_among_its_modules(self):
        for folder, place in (("old", f"boot/vmlinuz-{self.RELEASE}"), ("new", f"lib/modules/{self.RELEASE}/vmlinuz")):
            image = self.file(f"{folder}/{place}")
            self.file(f"{folder}/lib/modules/{self.RELEASE}/modules.dep")
            paths = kernel.describe(self.folder / folder)
            self.assertEqual((paths["version"], paths["vmlinuz"]), (self.RELEASE, image))
        with self.assertRaisesRegex(Failure, "does not hold one kernel"):
            kernel.describe(self.folder)


class Headers(InFolder):
    RELEASE = "7.3.4-amd64"

    def fetched(self, start):
        """The entry that fetch_headers() makes of packages with a Makefile and one tool. Libraries are a loader that says what it was to start."""
        tool = f"usr/lib/linux-kbuild-7.3.4/{kernel.TOOLS[0]}"
        content = {f"usr/src/linux-headers-{self.RELEASE}/Makefile": "KBUILD_OUTPUT=/usr/src/a\ninclude /usr/src/b/Makefile\n", tool: start}
        asked = []

        def unpack(archives, folder):
            asked.append([str(archive) for archive in archives])
            files = {"usr/lib64/ld-linux-x86-64.so.2": "#!/bin/sh\ncat $3\n"} if folder.name == "libraries" else content
            for name, text in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text)
                (folder / name).chmod(0o755)

        needed = "gcc-14-for-host, linux-base (>= 4.12~), linux-base-7.3.4-amd64 (= 1), linux-headers-7.3.4-common (= 1), linux-kbuild-7.3.4"
        apt = unittest.mock.Mock(field=lambda *_: needed, download=lambda words, _: words, missing_for=lambda words: words)
        with (unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=str(self.folder)), unittest.mock.patch.object(kernel, "unpack", unpack),
              unittest.mock.patch.object(kernel, "Apt", lambda *_, **__: apt),
              unittest.mock.patch.object(kernel, "resolve", lambda *_: [f"linux-image-{self.RELEASE}", "7.3.4-1"])):
            paths = kernel.fetch_headers()
        return paths, paths["folder"] / tool, asked

    def test_they_name_each_other_in_the_cache(self):
        paths, _, asked = self.fetched("#!/bin/sh\n")
        self.assertEqual((paths["tree"] / "Makefile").read_text(),
                         f"KBUILD_OUTPUT={paths['folder']}/usr/src/a\ninclude {paths['folder']}/usr/src/b/Makefile\n")
        self.assertEqual(asked[0], [f"linux-headers-{self.RELEASE}=7.3.4-1", "linux-base-7.3.4-amd64", "linux-headers-7.3.4-common",
                                    "linux-kbuild-7.3.4"])

    def test_a_tool_starts_with_libraries_of_its_own(self):
        """A tool for which ldd finds no libraries."""
        _, tool, asked = self.fetched("for another libc")
        self.assertEqual(asked[1:], [kernel.LIBRARIES])
        done = subprocess.run([tool], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "for another libc")

    def test_a_tool_that_starts_is_left_alone(self):
        with unittest.mock.patch.object(kernel, "_starts", lambda _: True):
            _, tool, asked = self.fetched("mine")
        self.assertEqual((tool.read_text(), len(asked)), ("mine", 1))


class BuiltKernels(InFolder):
    """Of a tree whose makefile does as the kernel's does, and knows no CONFIG_NEVER."""

    def setUp(self):
        super().setUp()
        self.file("tree/Makefile", b"allnoconfig:\n\tprintf '# CONFIG_A is not set\\nCONFIG_AA=y\\n' >$(O)/.config\n"
                  b"olddefconfig:\n\tsed -i /NEVER/d $(O)/.config\n"
                  b"bzImage:\n\tgrep -q A=y $(O)/.config || { echo 'x.c:1: error: no A'; echo more; exit 1; }\nmodules:\n")
        (self.folder / "built").mkdir()
        self.builder = build.Builder(self.folder / "tree", self.folder / "built", 1)

    def test_options_of_a_file_and_more(self):
        path = self.file("config", b"# what it is\n\nCONFIG_A=y\nCONFIG_B=16\n")
        self.assertEqual(build.options(path, ["CONFIG_A=m"]), {"CONFIG_A": "m", "CONFIG_B": "16"})
        for wrong in ("A=y", "CONFIG_A", "CONFIG_A=y # why", "# CONFIG_A is not set\nCONFIG_B=\n"):
            with self.assertRaisesRegex(Failure, "is not an option"):
                build.options(self.file("wrong", wrong.encode()), [])
        with self.assertRaisesRegex(Failure, "cannot read"):
            build.options(self.folder / "nothing", [])

    def test_it_has_the_options_asked_for(self):
        self.builder.configure({"CONFIG_A": "y", "CONFIG_B": "2"})
        self.assertEqual((self.folder / "built/tree/.config").read_text(), "CONFIG_AA=y\nCONFIG_A=y\nCONFIG_B=2\n")
        self.assertEqual(self.builder.build()["jobs"], 1)

    def test_an_option_that_is_not_taken_is_said(self):
        with self.assertRaisesRegex(Failure, "does not take CONFIG_NEVER=y"):
            self.builder.configure({"CONFIG_A": "y", "CONFIG_NEVER": "y"})

    def test_the_first_error_is_said(self):
        self.builder.configure({"CONFIG_AA": "n"})
        with self.assertRaisesRegex(Failure, "does not build: x.c:1: error: no A"):
            self.builder.build()


class Programs(InFolder):
    def test_libraries(self):
        self.assertEqual(programs.libraries("/bin/busybox"), [])
        self.assertEqual(programs.libraries(self.file("script", b"#!/bin/sh\n")), [])
        names = [os.path.basename(path) for path in programs.libraries("/bin/sh")]
        self.assertIn("libc.so.6", names)
        self.assertIn("ld-linux-x86-64.so.2", names)
        with self.assertRaises(Failure):
            programs.libraries(self.folder / "nosuch")


class Cache(InFolder):
    def setUp(self):
        super().setUp()
        self.enterContext(unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=str(self.folder)))

    def test_entries_come_whole_or_not(self):
        def fail(scratch):
            (scratch / "half").write_text("")
            raise Failure("no network")
        with self.assertRaises(Failure):
            cache.entry("thing", fail)
        self.assertEqual([name for name in os.listdir(cache.root()) if not name.endswith(".lock")], [])
        made = cache.entry("thing", lambda scratch: (scratch / "whole").write_text("1"))
        self.assertEqual(cache.entry("thing", fail), made)
        self.assertEqual(os.listdir(made), ["whole"])

    def test_memory(self):
        answers = iter("abcd")
        ask = lambda key: cache.remember("what", key, 100, lambda: next(answers))  # noqa: E731
        self.assertEqual([ask(1), ask(1), ask(2)], ["a", "a", "b"])
        old = time.time() - 200
        os.utime(cache.root() / "what.json", (old, old))
        self.assertEqual(ask(2), "c")
        (cache.root() / "what.json").write_text("{")
        self.assertEqual(ask(2), "d")


class Payloads(InFolder):
    def results(self, *entries):
        """A result disk as a lab, perhaps a wild one, left it."""
        disk = self.folder / "results.img"
        with tarfile.open(disk, "w") as tar:
            for name, kind, data in entries:
                entry = tarfile.TarInfo(name)
                entry.type, entry.size, entry.linkname = kind, len(data), "/etc/passwd"
                tar.addfile(entry, io.BytesIO(data))
        return disk

    def test_only_plain_files_inside_the_folder(self):
        out = self.folder / "out"
        disk = self.results(("lab-out/../../escaped", tarfile.REGTYPE, b"1"), ("/etc/escaped", tarfile.REGTYPE, b"1"),
                            ("lab-out/link", tarfile.SYMTYPE, b""), ("lab-out/hard", tarfile.LNKTYPE, b""),
                            ("lab-out/node", tarfile.CHRTYPE, b""), ("elsewhere/file", tarfile.REGTYPE, b"1"),
                            ("lab-out/good/file", tarfile.REGTYPE, b"12"), ("lab.d/status", tarfile.REGTYPE, b"nonce 9\n"))
        self.assertEqual(payload.read_results(disk, "nonce", out), 9)
        self.assertEqual([str(path.relative_to(self.folder)) for path in sorted(self.folder.rglob("*")) if path.is_file()],
                         ["out/good/file", "results.img"])
        self.assertEqual((out / "good/file").read_bytes(), b"12")

    def test_status_must_be_this_run_s(self):
        for text in (b"", b"other 0\n", b"nonce\n", b"nonce 0", b"nonce 1000\n", b"nonce -1\n"):
            with self.subTest(text=text), self.assertRaises(LabFailure):
                payload.read_results(self.results(("lab.d/status", tarfile.REGTYPE, text)), "nonce", None)
        for disk in (self.results(), self.file("empty", bytes(1 << 20)), self.file("noise", os.urandom(4096))):
            with self.subTest(disk=disk), self.assertRaises(LabFailure):
                payload.read_results(disk, "nonce", None)

    def test_items(self):
        source = self.file("source")
        self.assertEqual(payload.Item(str(source)).place, "source")
        self.assertEqual(payload.Item(f"{source}:a/../b/./c").place, "b/c")
        for word in (f"{source}:/absolute", f"{source}:../up", f"{source}:.", f"{self.folder}/nosuch"):
            with self.subTest(word=word), self.assertRaises(LabFailure):
                payload.Item(word)


if __name__ == "__main__":
    unittest.main()
