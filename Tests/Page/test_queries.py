"""Queries as they are written again and again: by keyboard, from the history, with Back, as files, and for all that they find."""

import glob
import json
import os
import subprocess
import tempfile

from page import PHONE, PROGRAM, WIDE, Keys, PageTestCase

COUNT = 1_300


class Queries(PageTestCase):
    @classmethod
    def make_stores(cls):
        cls.fill("orders", [{"_id": f"order-{number:04}", "state": ["open", "shipped"][number % 2], "n": number, "inner": {"note": 'a "word", two'}}
                            for number in range(COUNT)])
        cls.fill("tasks", [{"_id": "task-0000", "done": True, "price": 0}])

    def run_query(self, selector, sees):
        self.write("Selector", selector).send_keys(Keys.CONTROL + Keys.ENTER)
        self.see(sees)

    def selector(self):
        return self.named("field", "Selector").get_attribute("value")

    def test_ctrl_enter_runs_and_the_text_is_formatted(self):
        self.open("orders", "query")
        self.run_query('{"n": {"$lt": 3}}', "Results 1 to 3 of 3")
        self.write("Selector", '{"n":{"$lt":3},"state":"open","inner.note":{"$exists":true}}')
        self.keys(Keys.ESCAPE)
        self.press("Format")
        self.assertEqual(self.selector(), '{\n  "n": {"$lt": 3},\n  "state": "open",\n  "inner.note": {"$exists": true}\n}')
        # As tall as its text.
        lines = self.run_script("const a = document.querySelector('textarea'); return [a.clientHeight, a.scrollHeight]")
        self.assertEqual(*lines)
        self.check_view("a query that was formatted")

    def test_back_goes_through_queries_and_returns_to_the_place_in_a_list(self):
        self.open("orders", "query")
        self.run_query('{"state": "open"}', "Results 1 to 50 of 650")
        self.run_query('{"state": "shipped"}', "Results 1 to 50 of 650")
        self.press("Next page")
        self.see("Results 51 to 100 of 650")
        self.browser.back()
        self.see("Results 1 to 50 of 650")
        self.browser.back()
        self.wait(lambda: self.selector() == '{"state": "open"}' and "Results 1 to 50 of 650" in self.text, "the first query")
        self.browser.forward()
        self.wait(lambda: self.selector() == '{"state": "shipped"}', "the second query")
        self.see("Results 1 to 50 of 650")
        self.click("link", "Documents")
        self.see("1,300 documents", "order-0000")
        self.run_script("document.querySelector('.scroller').scrollTop = 20_000")
        first = self.wait(lambda: (self.find("tbody tr a").text != "order-0000") and self.find("tbody tr a").text, "other rows")
        self.wait(lambda: self.run_script("return history.state?.place?.inner ?? 0") > 19_000, "the place in the list")
        link = self.find("tbody tr:nth-child(3) a")
        name = link.text
        link.click()
        self.wait(lambda: self.find("h1").text == name, "the document")
        self.browser.back()
        self.wait(lambda: self.find("tbody tr a").text == first, "the place in the list")

    def test_an_index_ends_the_warning(self):
        self.open("orders", "query", selector='{"n": 7}')
        self.see("No matching index found", "of 1,")
        self.press("Explain")
        self.press("Make this index")
        self.see("1 document and 1 index row read")
        self.assertNotIn("No matching index found", self.text)
        # The plans stay.
        self.see("Plan before and after the index")
        self.assertEqual(self.focused(), "H2")
        self.send("POST", "/orders/_index/_delete", {"ddoc": "n", "name": "n"})

    def test_suggestions_have_lines_and_the_focus_is_kept(self):
        self.open("orders", "query", selector='{"stat": "open", "innr": 1}')
        self.see("Use state", "Use inner")
        self.assertEqual(len(self.all("[role=alert].notice > div")), 2)
        self.check_view("two suggestions")
        self.press("Use state")
        self.wait(lambda: "Use state" not in self.text, "one suggestion less")
        self.assertEqual(self.focused(), "TEXTAREA")

    def focused(self):
        return self.run_script("return document.activeElement.tagName")

    def test_history_is_kept_by_store(self):
        self.open("orders", "query")
        self.run_query('{"n": 7}', "Results 1 to 1 of 1")
        self.run_query('{"n": {"$gt": 1290}}', "Results 1 to 9 of 9")
        self.run_query('{"n": 7}', "Results 1 to 1 of 1")
        # Also in another tab, or later.
        self.open("orders", "query")
        self.find(".editor + .row + .row details summary").click()
        queries = [button.text for button in self.all("details[open] button")]
        self.assertEqual(queries[:2], ['{"n": 7}', '{"n": {"$gt": 1290}}'])
        self.check_view("the history")
        self.press('{"n": {"$gt": 1290}}')
        self.see("Results 1 to 9 of 9")
        self.open("tasks", "query")
        self.find(".editor + .row + .row details summary").click()
        self.assertEqual([button.text for button in self.all("details[open] button") if '"n"' in button.text], [])

    def test_relaxed_json_is_corrected_as_on_the_command_line(self):
        self.open("orders", "query")
        field = self.named("field", "Selector")
        for text in ("{n: 7}", "{'n': 7,}", "n=7", "n >= 1299", "{n: {$in: [7, 8,]}, state: 'shipped'}", "{state: True}", "state = open",
                     "{n: 007}", "{n: 0551.58}", "{n: 5.}", "{n: 1.2.3}", "{n: undefined}", "n != 7", '{"n": 7', "{n: .5}", "{'a \"b\"': x}", "inner.note<b", "{n: \u201copen\u201d}", "hello",
                     r"{n: 'it\'s'}", r"{n: 'a\\\'b\d'}"):
            found = subprocess.run([PROGRAM, "find", "stores/orders", text], capture_output=True, text=True, cwd=os.path.dirname(self.directory))
            expected = found.stderr.rstrip().split("; did you mean '")[1][:-2] if "did you mean '" in found.stderr else None
            self.run_script("arguments[0].value = arguments[1]", field, text)
            self.press("Run")
            self.wait(lambda: self.find(".problem").text, f"an error in {text}")
            self.assertEqual(expected is not None, "did you mean" in self.find(".problem").text, text)
            if expected:
                self.press("Use it")
                self.assertEqual(self.selector(), expected, text)
                if "it" in text:
                    self.assertEqual(json.loads(expected), {"n": "it's"})

    def test_a_correction_shows_the_line_that_it_changes(self):
        self.open("orders", "query")
        field = self.named("field", "Selector")
        self.run_script("arguments[0].value = arguments[1]", field, '{\n  "state": "paid",\n  "total": 0551.58\n}')
        self.press("Run")
        self.wait(lambda: "did you mean" in self.find(".problem").text, "the correction")
        self.assertIn('did you mean "total": 551.58? Use it', self.find(".problem").text)
        self.press("Use it")
        self.assertEqual(json.loads(self.selector()), {"state": "paid", "total": 551.58})

    def test_a_value_of_another_type_is_said_in_place_of_an_index(self):
        self.open("orders", "query", selector='{"n": "7"}')
        self.see('the query needs a string in "n", which is a number, such as 0; did you mean 7?')
        self.assertNotIn("create an index", self.text)
        self.open("orders", "query", selector='{"n": -7}')
        self.see("No results", "create an index")

    def test_results_end_with_a_text_that_is_no_json(self):
        self.open("orders", "query", selector='{"n": 7}')
        self.see("Results 1 to 1")
        self.run_script("arguments[0].value = '{'", self.named("field", "Selector"))
        self.press("Run")
        self.wait(lambda: self.find(".problem").text, "the error")
        self.assertEqual((self.find("#summary").text, self.find("#results").text), ("", ""))
        self.menu("All results")
        self.press("Delete…")
        self.see("No results are shown; press Run first.")

    def test_results_are_downloaded_as_the_command_line_prints_them(self):
        with tempfile.TemporaryDirectory() as directory:
            self.browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": directory})
            selector, fields = '{"state": "open"}', "n, inner.note"
            for more in ({}, {"fields": fields, "sort": "n:desc"}):
                self.open("orders", "query", selector=selector, limit="10", **more)
                self.see("Results 1 to 10 of 650")
                options = [word for name, value in more.items() for word in (f"--{name}", value.replace(" ", ""))]
                for format in ("csv", "jsonl"):
                    self.menu("All results")
                    self.press("Download as " + {"csv": "CSV", "jsonl": "JSON Lines"}[format])
                    path = os.path.join(directory, f"orders.{format}")
                    self.wait(lambda: os.path.exists(path) and not glob.glob(path + ".*"), "the file")
                    with open(path) as file:
                        content = file.read()
                    os.remove(path)
                    expected = self.tool("find", "stores/orders", selector, *options, "--format", format)
                    if format == "csv":
                        self.assertEqual(content, expected)
                    else:
                        kept = lambda row: {name: row[name] for name in (["n", "inner"] if more else row)}
                        self.assertEqual([json.loads(line) for line in content.splitlines()],
                                         [kept(json.loads(line)) for line in expected.splitlines()])

    def test_results_of_a_query_that_is_too_long_for_an_address_are_downloaded(self):
        with tempfile.TemporaryDirectory() as directory:
            self.browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": directory})
            self.open("orders", "query")
            ids = [f"order-{number:04}" for number in range(900)]
            self.run_script("arguments[0].value = arguments[1]", self.named("field", "Selector"), json.dumps({"_id": {"$in": ids}}))
            self.press("Run")
            self.see("Results 1 to 50 of 900")
            self.menu("All results")
            self.press("Download as JSON Lines")
            path = os.path.join(directory, "orders.jsonl")
            self.wait(lambda: os.path.exists(path) and not glob.glob(path + ".*"), "the file")
            with open(path) as file:
                self.assertEqual(sorted(json.loads(line)["_id"] for line in file), ids)

    def test_a_phone_has_all_of_it(self):
        self.addCleanup(self.set_view, WIDE, "light")
        self.set_view(PHONE, "dark")
        self.open("orders", "query", selector='{"state": "open"}')
        self.see("of 650")
        for name in ("History", "All results", "Columns"):
            self.menu(name)
            self.check_view(f"the menu {name}")
            self.menu(name)
