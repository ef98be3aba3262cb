"""Queries as they are written again and again: by keyboard, from the history, with Back, as files, and for all that they find."""

import glob
import json
import os
import subprocess
import tempfile

from page import ALL, PHONE, PROGRAM, WIDE, Keys, PageTestCase

COUNT = 1_300


class Queries(PageTestCase):
    @classmethod
    def make_stores(cls):
        cls.fill("orders", [{"_id": f"order-{number:04}", "state": ["open", "shipped"][number % 2], "n": number, "inner": {"note": 'a "word", two'}}
                            for number in range(COUNT)])
        cls.fill("tasks", [{"_id": "task-0000", "done": True, "price": 0}])

    def run_query(self, selector, sees):
        self.write("Filter", selector).send_keys(Keys.CONTROL + Keys.ENTER)
        self.see(sees)

    def selector(self):
        return self.named("field", "Filter").get_attribute("value")

    def test_ctrl_enter_runs_and_the_text_is_formatted(self):
        self.open("orders", "documents")
        self.run_query('{"n": {"$lt": 3}}', "Results 1 to 3 of 3")
        self.write("Filter", '{"n":{"$lt":3},"state":"open","inner.note":{"$exists":true}}')
        self.keys(Keys.ESCAPE)
        self.menu("Options")
        self.press("Format")
        self.assertEqual(self.selector(), '{\n  "n": {"$lt": 3},\n  "state": "open",\n  "inner.note": {"$exists": true}\n}')
        # As tall as its text.
        lines = self.run_script("const a = document.querySelector('textarea'); return [a.clientHeight, a.scrollHeight]")
        self.assertEqual(*lines)
        self.check_view("a query that was formatted")

    def test_back_goes_through_queries_and_returns_to_the_place_in_a_list(self):
        self.open("orders", "documents")
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
        self.click("link", "Schema")
        self.see(" fields")
        self.click("link", "Documents")
        self.see("1,300 documents", "order-0000")
        self.run_script("document.querySelector('.scroller').scrollTop = 20_000")
        first = self.wait(lambda: (self.find("tbody tr a").text != "order-0000") and self.find("tbody tr a").text, "other rows")
        self.wait(lambda: self.run_script("return history.state?.place?.inner ?? 0") > 19_000, "the place in the list")
        self.click("link", "Changes")
        self.see("Written")
        self.browser.back()
        self.wait(lambda: self.find("tbody tr a").text == first, "the place in the list")

    def test_an_index_ends_the_warning(self):
        self.open("orders", "documents", selector='{"n": 7}')
        self.see("no index", "of 1")
        self.explain()
        self.press("Make this index")
        self.see("1 document read")
        self.assertNotIn("no index", self.text)
        # The plans stay.
        self.see("Plan before and after the index")
        self.assertEqual(self.focused(), "H2")
        self.send("POST", "/orders/_index/_delete", {"ddoc": "n", "name": "n"})

    def test_suggestions_have_lines_and_the_focus_is_kept(self):
        self.open("orders", "documents", selector='{"stat": "open", "innr": 1}')
        self.see("Use state", "Use inner")
        self.assertEqual(len(self.all("[role=alert].notice > div")), 2)
        self.check_view("two suggestions")
        self.press("Use state")
        self.wait(lambda: "Use state" not in self.text, "one suggestion less")
        self.assertEqual(self.focused(), "TEXTAREA")

    def focused(self):
        return self.run_script("return document.activeElement.tagName")

    def test_history_is_kept_by_store(self):
        self.open("orders", "documents")
        self.run_query('{"n": 7}', "Results 1 to 1 of 1")
        self.run_query('{"n": {"$gt": 1290}}', "Results 1 to 9 of 9")
        self.run_query('{"n": 7}', "Results 1 to 1 of 1")
        # Also in another tab, or later.
        self.open("orders", "documents")
        self.menu("Queries")
        queries = [button.text for button in self.all(".menu[open] button")]
        self.assertEqual(queries[:3], ["Save the query…", '{"n": 7}', '{"n": {"$gt": 1290}}'])
        self.check_view("the history")
        self.press('{"n": {"$gt": 1290}}')
        self.see("Results 1 to 9 of 9")
        self.open("tasks", "documents")
        self.menu("Queries")
        self.assertEqual([button.text for button in self.all(".menu[open] button") if '"n"' in button.text], [])

    def test_relaxed_json_is_read_as_the_command_line_corrects_it(self):
        self.open("orders", "documents")
        field = self.named("field", "Filter")
        for text in ("{n: 7}", "{'n': 7,}", "n=7", "n >= 1299", "{n: {$in: [7, 8,]}, state: 'shipped'}", "{state: True}", "state = open",
                     "{n: 007}", "{n: 0551.58}", "{n: 5.}", "{n: 1.2.3}", "{n: undefined}", '{"n": 7', "{n: .5}", "{'a \"b\"': x}", "inner.note<b", "{n: \u201copen\u201d}", "hello",
                     r"{n: 'it\'s'}", r"{n: 'a\\\'b\d'}"):
            found = subprocess.run([PROGRAM, "find", "stores/orders", text], capture_output=True, text=True, cwd=os.path.dirname(self.directory))
            expected = found.stderr.rstrip().split("; did you mean '")[1][:-2] if "did you mean '" in found.stderr else None
            self.run_script("arguments[0].value = arguments[1]; document.getElementById('meaning').textContent = ''", field, text)
            self.press("Run")
            if expected:
                meaning = self.wait(lambda: self.find("#meaning").text, f"what {text} means")
                self.assertEqual(json.loads(meaning), json.loads(expected), text)
                self.assertEqual(self.find(".problem").text, "", text)
            else:
                self.wait(lambda: self.find(".problem").text, f"an error in {text}")
                self.assertNotIn("did you mean", self.find(".problem").text, text)

    def test_conditions_are_a_filter(self):
        for text, selector, sees in [
            ('n > 1290 and state = "open"', {"n": {"$gt": 1290}, "state": "open"}, "Results 1 to 4 of 4"),
            ("n < 3 or n>=1298", {"$or": [{"n": {"$lt": 3}}, {"n": {"$gte": 1298}}]}, "Results 1 to 5 of 5"),
            ("(n = 1 or n = 2) and state != open", {"$or": [{"n": 1}, {"n": 2}], "state": {"$ne": "open"}}, "Results 1 to 1 of 1"),
            ("n >= 5 and n <= 6", {"n": {"$gte": 5, "$lte": 6}}, "Results 1 to 2 of 2"),
            ("n in [7, 8] and 'inner.note' != null", {"n": {"$in": [7, 8]}, "inner.note": {"$ne": None}}, "Results 1 to 2 of 2"),
        ]:
            self.open("orders", "documents", selector=text)
            self.see(sees)
            self.assertEqual(json.loads(self.find("#meaning").text), selector, text)
        for text, problem in [("n > ", "a value is missing"), ("n = 007", 'write "007" for the text'), ("n", "is missing after n"), ("n = 1 n = 2", '"and" or "or" is missing')]:
            self.open("orders", "documents", selector=text)
            self.see(problem)
        self.check_view("a filter with an error")

    def test_a_query_has_a_name(self):
        self.open("orders", "documents", selector="n < 3", sort="n:desc")
        self.see("Results 1 to 3 of 3")
        self.menu("Queries")
        self.press("Save the query…")
        self.write("Name", "the first ones")
        self.find("dialog[open] button:not([type])").click()
        self.open("orders", "documents")
        self.menu("Queries")
        self.check_view("a query with a name")
        self.press("the first ones")
        self.see("Results 1 to 3 of 3")
        self.assertEqual([cell.text for cell in self.all("tbody td:first-child")], ["order-0002", "order-0001", "order-0000"])
        self.menu("Queries")
        self.press("Remove the first ones")
        self.assertNotIn("the first ones", self.text)

    def test_a_value_of_another_type_is_said_in_place_of_an_index(self):
        self.open("orders", "documents", selector='{"n": "7"}')
        self.see('the query needs a string in "n", which is a number, such as 0; did you mean 7?')
        self.assertNotIn("no index", self.find(".slow") if self.all(".slow") else "")
        self.open("orders", "documents", selector='{"n": -7}')
        self.see("No documents match", "no index")
        self.find(".slow")

    def test_results_end_with_a_text_that_is_no_json(self):
        self.open("orders", "documents", selector='{"n": 7}')
        self.see("Results 1 to 1")
        self.run_script("arguments[0].value = '{'", self.named("field", "Filter"))
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
                self.open("orders", "documents", selector=selector, limit="10", **more)
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
            self.open("orders", "documents")
            ids = [f"order-{number:04}" for number in range(900)]
            self.run_script("arguments[0].value = arguments[1]", self.named("field", "Filter"), json.dumps({"_id": {"$in": ids}}))
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
        self.open("orders", "documents", selector='{"state": "open"}')
        self.see("of 650")
        for name in ("Queries", "Copy", "All results", "Columns"):
            self.menu(name)
            self.check_view(f"the menu {name}")
            self.menu(name)
