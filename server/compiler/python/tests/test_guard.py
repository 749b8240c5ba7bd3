"""Executed code computes and does nothing else, however it is written."""

from __future__ import annotations

import tempfile
import time
import unittest
from pathlib import Path

from support import LOAD, Case, Process, copy

# A way from a module that slices may import to the real ones of the process.
REAL = "import dataclasses\nmodules = dataclasses.sys.modules\n"


class Guard(Case):
    """Files, processes and the network."""

    def setUp(self) -> None:
        """Make files that somebody would miss."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name, "precious")
        self.folder.mkdir()
        self.file = self.folder / "file"
        self.file.write_text("here")

    def check(self, before: str) -> list[str]:
        """Execute statements; return the kinds of what they raised. The files are still there."""
        answer = self.compile(copy(before))
        self.assertEqual([p.name for p in self.folder.parent.iterdir()], ["precious"])
        self.assertEqual([p.name for p in self.folder.iterdir()], ["file"])
        self.assertEqual(self.file.read_text(), "here")
        return [failure["kind"] for failure in answer["failures"]]

    def test_half_typed_removal_of_files_does_nothing(self) -> None:
        """A line at the top of a file that is being typed, should it ever get here."""
        for folder in (str(self.folder), str(self.folder.parent), "/"):
            self.assertEqual(self.check(f"import shutil\nshutil.rmtree({folder!r})"), [])

    def test_ways_around_the_stand_ins_are_refused(self) -> None:
        """The real modules, reached through one that slices may use."""
        file, folder = str(self.file), str(self.folder)
        ways = [
            f"modules['shutil'].rmtree({folder!r})",
            f"modules['os'].remove({file!r})",
            f"modules['os'].rename({file!r}, {file + '2'!r})",
            f"modules['os'].mkdir({folder + '2'!r})",
            f"modules['os'].truncate({file!r}, 0)",
            f"modules['os'].listdir({folder!r})",
            "modules['os'].system('true')",
            "modules['os'].fork()",
            "modules['os'].kill(modules['os'].getpid(), 9)",
            "modules['os'].putenv('A', 'b')",
            "modules['subprocess'].Popen(['true'])",
            "modules['subprocess'].run(['true'])",
            "modules['tempfile'].mkdtemp()",
            "modules['os'].posix_spawn('/bin/true', ['true'], {})",
            f"modules['io'].open({file!r}, 'w')",
            f"modules['io'].open({file!r}, 'a')",
            f"modules['io'].open({file!r})",
            f"modules['os'].open({file!r}, 1)",
            f"modules['pathlib'].Path({file!r}).unlink()",
            "modules['builtins'].__import__('socket').create_connection(('127.0.0.1', 9))",
            "modules['builtins'].__import__('ctypes').CDLL(None)",
            f"open({file!r}, 'w')",
            "eval('1')",
            "exec('x = 1')",
        ]
        for way in ways:
            with self.subTest(way):
                self.assertEqual(self.check(REAL + way), ["refused"])

    def test_code_that_runs_while_cutile_compiles_is_guarded_too(self) -> None:
        """`static_eval` runs Python."""
        text = copy(REAL, f"{LOAD} * ct.static_eval(modules['os'].remove({str(self.file)!r}))")
        error = self.refused(text)
        self.assertTrue(self.file.exists())
        self.assertIn(error["kind"], ("refused", "frontend"))
        self.assertIn("os.remove", error["message"])

    def test_the_world_is_open_again_afterwards(self) -> None:
        """The process itself is not harmed by what it refused."""
        self.check(REAL + "modules['os'].getcwd()")
        self.compiled(copy())

    def test_the_folder_stays_empty(self) -> None:
        """Nothing is left where the process works."""
        self.compiled(copy())
        self.assertEqual(list(self.process.folder.iterdir()), [])


class Limits(Case):
    """Time and memory, each in a process of its own where it ends with it."""

    def test_time(self) -> None:
        """A loop without end is answered, then the process ends."""
        process = Process()
        began = time.monotonic()
        answer = self.compile(copy("while True: pass"), process=process, seconds=0.5)
        self.assertEqual(answer["error"]["kind"], "time")
        self.assertLess(time.monotonic() - began, 30)
        self.assertEqual(process.close()[0], 75)

    def test_time_without_another_thread(self) -> None:
        """One operation that never lets go is ended by the system."""
        process = Process()
        self.compiled(copy(), process=process)
        request = {
            "id": 1,
            "op": "frontend",
            "modules": [{"name": "m", "path": "/m.py", "text": copy("N = 9 ** 9 ** 9")}],
            "entry": "m",
            "kernel": "copy",
            "signature": [],
            "arch": "sm_90",
            "seconds": 0.2,
        }
        self.assertIsNone(process.send(request))
        self.assertLess(process.close()[0], 0)

    def test_memory(self) -> None:
        """Too much is an error of its statement, and the process goes on."""
        process = Process("--memory", "3000")
        answer = self.compile(copy("N = bytearray(1 << 33)"), process=process)
        self.assertEqual([f["kind"] for f in answer["failures"]], ["memory"])
        self.compiled(copy(), process=process)
        self.assertEqual(process.close()[0], 0)


if __name__ == "__main__":
    unittest.main()
