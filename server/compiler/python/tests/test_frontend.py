"""What a request for bytecode is answered with: code, or an error at its place."""

from __future__ import annotations

import tempfile
import textwrap
import unittest
from pathlib import Path

from support import COPY_SIGNATURE, LOAD, Case, array, constant, copy, path_of


class Compiled(Case):
    """Kernels that compile."""

    def test_hello_names_the_versions(self) -> None:
        """The first answer says what works here."""
        answer = self.process.send({"id": "a", "op": "hello"})
        assert answer is not None
        self.assertEqual((answer["id"], answer["ok"], answer["protocol"]), ("a", True, 1))
        self.assertRegex(answer["cuda_tile"], r"^\d+\.\d+")
        self.assertRegex(answer["python"], r"^3\.\d+")

    def test_symbol_is_what_launch_would_choose(self) -> None:
        """The oldest convention that can say it; divisors in elements, as given."""
        more = {"stride_divisor": 1, "shape_divisor": 16, "base_divisor": 16}
        both = array("float32", **more)
        answer = self.compiled(copy(), both, both, constant(256))
        self.assertEqual(answer["symbol"], "copy_Kt1_A1f32_1i16t1_p16_A1f32_1i16t1_p16_I256")

    def test_signatures(self) -> None:
        """Every kind of parameter arrives as what it is."""
        body = "ct.store(x, (0,), ct.full((16,), {}, ct.float32))"
        kernel = "import cuda.tile as ct\n@ct.kernel\ndef copy(x, p):\n    " + body + "\n"
        kinds = [
            ("p", {"kind": "scalar", "dtype": "float32"}, "_Sf32"),
            ("p", {"kind": "scalar", "dtype": "int64"}, "_Si64"),
            ("p", constant(3), "_I3"),
            ("p", constant(True), "_B1"),
            ("p", constant(1.0), "_F3ff0000000000000"),
            ("p", {"kind": "constant", "float": "inf"}, "_F7ff0000000000000"),
            ("p[1]", {"kind": "tuple", "items": [constant(1), constant(2)]}, "_T2I1I2"),
            ("p.shape[1]", array("int32", 2, index="int64"), "w"),
            ("p.shape[0]", array("int8", 1, alias=[], overlaps=True), "i"),
            ("len(p)", {"kind": "list", "element": array()}, "_LA1f16"),
        ]
        for value, entry, ending in kinds:
            with self.subTest(entry=entry):
                answer = self.compiled(kernel.format(value), array("float32"), entry)
                self.assertIn(ending, answer["symbol"])

    def test_hints_replace_those_of_the_decorator(self) -> None:
        """The bytecode has them; nothing else changes."""
        plain, hinted = (
            self.compiled(copy(), hints=hints)["bytecode"] for hints in (None, {"occupancy": 4})
        )
        self.assertNotEqual(plain, hinted)

    def test_globals_are_there_before_the_text(self) -> None:
        """What a factory's parameters would have been."""
        text = copy("TWICE = FACTOR * 2", f"{LOAD} * TWICE")
        self.compiled(text, globals={"FACTOR": constant(2)})
        self.assertEqual(self.refused(text)["kind"], "frontend")

    def test_unsaved_text_wins_over_the_file(self) -> None:
        """The file at the path says something else, or nothing."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "kernel.py")
            path.write_text("\n" * 40 + "raise SystemExit\n")
            module = {"name": "kernel", "path": str(path), "text": copy()}
            error = copy(value=LOAD.replace("TILE", "3"))
            for text, ok in ((copy(), True), (error, False), (copy(), True)):
                answer = self.process.send(
                    {
                        "id": 1,
                        "op": "frontend",
                        "modules": [{**module, "text": text}],
                        "entry": "kernel",
                        "kernel": "copy",
                        "signature": list(COPY_SIGNATURE),
                        "arch": "sm_90",
                    }
                )
                assert answer is not None
                self.assertEqual(answer["ok"], ok, answer)

    def test_statements_that_raise_are_reported_and_do_not_matter(self) -> None:
        """A constant of the host's that the kernel does not use."""
        answer = self.compiled(copy("COUNT = 1 / 0\nSIZE = int(1)"))
        [failure] = answer["failures"]
        self.assertEqual((failure["type"], failure["line"]), ("ZeroDivisionError", 2))

    def test_what_code_prints_is_no_answer(self) -> None:
        """Standard output is the protocol's."""
        self.compiled(copy("print('hello')"))

    def test_a_kernel_of_another_decorator(self) -> None:
        """One from a package that is not there leaves the function, which becomes a kernel."""
        text = copy("import elsewhere").replace("@ct.kernel", "@elsewhere.fast(3)\n@ct.kernel")
        self.compiled(text)
        self.compiled(text.replace("@ct.kernel", ""))


class Errors(Case):
    """Kernels that do not compile."""

    def test_an_error_has_its_range_in_bytes(self) -> None:
        """Names and texts before it may have characters of several bytes."""
        line = f"ct.store(y, (0,), {LOAD})"
        text = copy().replace(f"ct.store(y, (i,), {LOAD})", f"ß = 1; {line}")
        text = text.replace("TILE,))", "3333,))")
        error = self.refused(text)
        before, width = len("    ß = 1; ct.store(y, (0,), ".encode()), len(LOAD.encode())
        self.assertEqual((error["kind"], error["path"]), ("frontend", path_of("pkg.main")))
        self.assertEqual((error["line"], error["end_line"]), (6, 6))
        self.assertEqual((error["column"], error["end_column"]), (before, before + width))

    def test_the_chain_has_the_calls(self) -> None:
        """From a helper of another module back to the kernel."""
        helper = """
            import cuda.tile as ct


            def inner(x, n):
                return ct.load(x, (0, 0), (n,))


            def outer(x, n):
                return inner(x, n)
        """
        texts = {
            "pkg.main": copy("from .helper import outer", "outer(x, TILE)"),
            "pkg.helper": textwrap.dedent(helper),
        }
        error = self.refused(texts)
        self.assertEqual((error["path"], error["line"]), (path_of("pkg.helper"), 6))
        self.assertEqual(error["function"], "inner")
        places = [(call["path"], call["line"]) for call in error["chain"]]
        self.assertEqual(places, [(path_of("pkg.helper"), 10), (path_of("pkg.main"), 6)])
        self.assertEqual([call["function"] for call in error["chain"]], ["outer", "copy"])

    def test_kinds(self) -> None:
        """Each kind of error, with the line where there is one."""
        cases = [
            (copy("x = ("), {}, "syntax", 2),
            (copy().replace("def copy", "def other"), {}, "load", None),
            (copy("copy = 1 / 0").replace("@ct.kernel", "@missing"), {}, "load", 3),
            (copy(), {"signature": [array()]}, "signature", None),
            (copy(), {"signature": [array(), array(), array()]}, "signature", None),
            (copy(), {"signature": [array(dtype="f16")] * 3}, "signature", None),
            (copy(), {"signature": [{"kind": "thing"}] * 3}, "signature", None),
            (copy(), {"signature": [array(), array(), constant(None)]}, "signature", None),
            (copy(), {"hints": {"occupancy": 99}}, "signature", None),
            (copy(), {"hints": {"speed": 1}}, "signature", None),
            (copy(value="ct.load(x, (i,), (TILE - 1,))"), {}, "frontend", 6),
            (copy(value="ct.load(x, (i, i), (TILE,))"), {}, "frontend", 6),
            (copy(value="nothing"), {}, "frontend", 6),
        ]
        for text, more, kind, line in cases:
            with self.subTest(kind=kind, text=text):
                error = self.refused(text, **more)
                self.assertEqual((error["kind"], error["line"]), (kind, line), error)

    def test_requests_that_are_none(self) -> None:
        """Each is answered, and the next one served."""
        for line in ("nonsense", "[]", "{}", '{"op": "what", "id": 7}', '{"op": "frontend"}'):
            with self.subTest(line=line):
                answer = self.process.send(line)
                assert answer is not None
                self.assertEqual(answer["error"]["kind"], "request", answer)
        self.compiled(copy())


if __name__ == "__main__":
    unittest.main()
