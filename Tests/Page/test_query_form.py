"""The form of a query: what it completes and says of mistakes, its results, and the query as a command, a fixture or Swift."""

import json
import os
import subprocess
import tempfile

from page import ALL, PHONE, PROGRAM, Keys
from people import PeopleTestCase


class QueryForm(PeopleTestCase):
    def test_query_is_completed_run_and_remembered(self):
        self.open("contacts", "documents")
        field = self.named("field", "Filter")
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(Keys.DELETE)
        field.send_keys('{"pet.sp')
        self.see("pet.species")
        self.check_view("the completions")
        field.send_keys(Keys.ENTER, ': {"$n')
        self.see("$nin")
        options = self.find("[role=listbox]")
        self.assertEqual(field.get_attribute("aria-expanded"), "true")
        self.assertTrue(field.get_attribute("aria-activedescendant"))
        self.assertIn("$ne", options.text)
        field.send_keys(Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ESCAPE)
        self.wait(lambda: not options.is_displayed(), "no completions")
        field.send_keys("e", '": "dog"}}')
        self.menu("Options")
        self.write("Sort", "age:desc, name")
        self.write("Limit", "10")
        self.press("Run")
        self.see("Results 1 to 10 of 2,001", " ms")
        self.check_view("the results")
        self.press("Next page")
        self.see("Results 11 to 20 of 2,001")
        address = self.browser.current_url
        self.assertIn("skip=10", address)
        # Who gets the address sees the same.
        first = self.find("#results tbody tr").text
        self.browser.get("about:blank")
        self.browser.get(address)
        self.see("Results 11 to 20 of 2,001")
        self.assertEqual(self.find("#results tbody tr").text, first)
        self.click("choice", "JSON")
        self.see('"species": "cat"')

    def test_fields_and_values_are_completed(self):
        self.open("contacts", "documents")
        field = self.named("field", "Filter")

        def offers(typed, *expected):
            field.send_keys(Keys.ESCAPE, Keys.CONTROL, "a")
            field.send_keys(Keys.DELETE)
            field.send_keys(typed)
            self.wait(lambda: set(expected) <= {item.get_attribute("textContent") for item in self.all("[role=option]")}, f"what {typed} can be")

        offers('{"city": "O', "Oslo")
        offers('{"city": {"$in": ["Rome", "O', "Oslo")
        offers("ci", "city")
        offers("age > 3 and city = O", '"Oslo"')
        # What was typed runs, unless something else was chosen.
        field.send_keys(Keys.ENTER)
        self.see("No documents match")
        offers("pet.s", "pet.species")
        field.send_keys(Keys.TAB, " = ")
        self.see('"cat"')
        field.send_keys("c", Keys.ARROW_DOWN, Keys.ENTER)
        self.assertEqual(field.get_attribute("value"), 'pet.species = "cat"')
        field.send_keys(Keys.ENTER)
        self.see("Results 1 to 50 of")

    def test_error_is_at_its_place(self):
        self.open("contacts", "documents", selector='{\n  "city": "Rome",\n  "age": {"$gtt": 3}\n}')
        self.see('Line 3: age.$gtt: unknown operator "$gtt" (did you mean "$gt"?)')
        self.assertEqual(self.find(".behind mark").get_attribute("textContent"), '"$gtt"')
        self.check_view("an error")
        self.picture("error")
        self.write("Filter", '{"age": ')
        self.press("Run")
        self.see("Line 1, column 9: a value is missing")

    def test_a_sort_that_is_misspelled_is_said(self):
        for sort, said in [("-age", '"-age" is not a sort; write age:desc'), ("age:DESC", '"age:DESC" is not a sort; write age:desc'),
                           ("agee", 'None of the first 1,000 documents has the field "agee" of the sort; did you mean "age"?')]:
            self.open("contacts", "documents", selector=ALL, sort=sort)
            self.see(said)
        self.open("contacts", "documents", selector=ALL, sort="age:desc,_id")
        self.see("of 3,001")
        self.assertNotIn("of the sort", self.text)

    def test_a_misspelled_field_is_said_before_an_index_is_proposed(self):
        self.open("contacts", "documents", selector='{"city": {"$gt": "A"}, "$or": [{"ctiy": "Oslo"}, {"pet": {"speces": "cat"}}]}')
        self.see("No documents match", 'None of the first 1,000 documents has the field "ctiy"; did you mean "city"?', 'did you mean "pet.species"?')
        self.assertNotIn("no index", self.text)
        self.check_view("a misspelled field")
        self.press("Use city")
        self.see("Results 1 to 50 of 750")
        self.assertIn('[{"city": "Oslo"}, {"pet": {"speces": "cat"}}]', self.named("field", "Filter").get_attribute("value"))
        # What has results is not questioned by its plan.
        self.open("contacts", "documents", selector='{"speces": "cat"}')
        self.see("None of the first 1,000 documents")
        self.explain()
        self.see("every document")
        self.assertNotIn("would help", self.text)
        self.open("contacts", "groups", by="citty")
        self.press("Use city")
        self.see("Oslo")
        self.assertNotIn("did you mean", self.text)

    def test_results_without_ids_are_opened(self):
        for more in ({}, {"live": "1"}):
            self.open("tasks", "documents", selector='{"_id": "task-3"}', fields="text", **more)
            self.see("Task 3")
            self.assertNotIn("_id", self.named("field", "Fields").get_attribute("value"))
            self.copy_as("a command")
            self.assertRegex(self.find("#plan pre").text, "--fields text$")
            self.click("choice", "JSON")
            self.wait(lambda: self.all("#results pre"), "the result as JSON")
            self.wait(lambda: "_id" not in self.find("#results pre").text, "no id")
            self.click("link", "task-3")
            self.see('"_id": "task-3"')

    def test_results_with_a_field_named_docs(self):
        self.fill("tasks", [{"_id": "with-docs", "kind": "docs", "docs": [1]}])
        self.open("tasks", "documents", selector='{"kind": "docs"}', fields="docs")
        self.see("Results 1 to 1 of 1")

    def test_results_stay_when_they_are_not_counted(self):
        self.open("contacts", "documents")
        self.write("Filter", '{"age": {"$gte": 0}}')
        self.menu("Options")
        self.fail_requests("body.includes('$count')")
        self.press("Run")
        self.see("The server does not answer", "Results 1 to 50 ")
        self.assertEqual(len(self.all("#results tbody tr")), 50)
        self.write("Limit", "10")
        # The page that follows is that of the results, whatever is in the field by then.
        self.press("Next page")
        self.see("Results 51 to 60 ")

    def test_live_results(self):
        self.open("tasks", "documents", selector='{"kind": "live"}', live="1")
        self.see("Live: 0 results")
        self.tool("put", "stores/tasks", "live-1", "-", text='{"kind": "live", "n": 1}')
        self.see("Live: 1 result", "live-1")
        self.tool("put", "stores/tasks", "live-0", "-", text='{"kind": "live", "n": 2}')
        self.see("Live: 2 results")
        self.assertLess(self.find("#results").text.index("live-0"), self.find("#results").text.index("live-1"))
        self.tool("delete", "stores/tasks", "live-1")
        self.see("Live: 1 result,")
        self.click("choice", "Live")
        self.see("Stopped.")

    def copied(self, form, **parameters):
        self.open("contacts", "documents", **parameters)
        self.see("Results 1 to")
        self.copy_as(form)
        return self.find("#plan pre").get_attribute("textContent")

    def test_query_is_copied(self):
        parameters = {"selector": '{"city": "Oslo", "age": {"$gte": 90}}', "sort": "age:desc, name", "limit": "5"}
        # SnippetTests compiles the same texts.
        with open(os.path.join(os.path.dirname(__file__), "copies.json")) as file:
            for copy in json.load(file):
                self.open("contacts", "documents", **copy["parameters"])
                self.see(copy["sees"])
                self.copy_as("Swift")
                self.assertEqual(self.find("#plan pre").get_attribute("textContent"), copy["swift"])
        command = self.copied("a command", **parameters)
        self.assertTrue(command.startswith("cdtquery find "), command)
        shell = command.replace("cdtquery", f"'{PROGRAM}'", 1)
        found = subprocess.run(["/bin/sh", "-c", shell], capture_output=True, text=True, check=True).stdout
        ages = [json.loads(line)["age"] for line in found.splitlines()]
        self.assertEqual(len(ages), 5)
        self.assertEqual(ages, sorted(ages, reverse=True))
        fixture = self.copied("a golden file", **parameters)
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "copied.test"), "w") as file:
                file.write(fixture)
            self.assertIn("1 passed, 0 failed", self.tool("test", directory))


class QueryFormOnPhone(QueryForm):
    size, colors = PHONE, "dark"
