"""Each thing that the page is for, done as a person does it: on a wide screen in light colors, and on a phone's in dark ones."""

import base64
import json
import os
import shutil
import subprocess
import tempfile

from selenium.common.exceptions import NoAlertPresentException

from page import PHONE, PROGRAM, WIDE, By, Keys, PageTestCase


def people(count):
    cities = ["Berlin", "Oslo", "Paris", "Rome"]
    return [
        {"_id": f"person-{number:05}", "name": f"Person {number}", "age": number * 7 % 100, "city": cities[number % 4],
         "pet": {"species": "cat" if number % 3 else "dog"}, "tags": ["a", "b"][:number % 3]}
        for number in range(count)
    ]


class PointsOnWideScreen(PageTestCase):
    @classmethod
    def make_stores(cls):
        cls.fill("contacts", people(3_000) + [{"_id": "zoe", "name": "Zoe", "age": 36, "city": "Bergen"}])
        cls.fill("planned", people(1_000))
        for store in ("contacts", "planned"):
            cls.tool("index", "create", f"stores/{store}", "city", "--name", "by_city")
        cls.tool("index", "create", "stores/contacts", "name", "--name", "by_name")
        for store in ("tasks", "watched"):
            cls.fill(store, [{"_id": f"task-{number}", "text": f"Task {number}", "done": number % 2 == 0} for number in range(30)])
        # Documents that are changed below as a replication does it.
        cls.fill("torn", [{"_id": name, "name": "both", "age": 1, "city": "Oslo"} for name in ("merged", "compared")])

    def test_stores(self):
        self.hurry()
        self.open()
        self.see("contacts", "watched", "3,001", "30")
        self.check_view("the stores")
        # Another process writes.
        self.tool("put", "stores/watched", "task-new", "-", text='{"text": "more"}')
        self.wait(lambda: "31" in self.row("watched"), "the new document")
        self.send("POST", "/watched/_bulk_docs", {"new_edits": False, "docs": [{"_id": "task-1", "_rev": "1-abc"}]})
        self.wait(lambda: "1 conflict" in self.row("watched"), "the conflict")
        self.send("POST", "/watched/_index", {"index": {"fields": ["done"]}})
        self.wait(lambda: self.named("link", "1 index of watched"), "the index")
        self.click("link", "contacts")
        self.see("3,001 documents")

    def test_a_damaged_store_does_not_hide_the_others(self):
        broken = os.path.join(self.directory, "broken")
        os.mkdir(broken)
        self.addCleanup(shutil.rmtree, broken)
        with open(os.path.join(broken, "db.sync"), "w") as file:
            file.write("no database " * 1_000)
        self.open()
        self.wait(lambda: "contacts" in self.text and "broken: " in self.text, "both stores")
        self.check_view("the stores, with a damaged one")

    def row(self, store):
        return next((row.text for row in self.all("tbody tr") if row.text.split()[0] == store), "")

    def test_documents(self):
        self.open("contacts")
        self.see("3,001 documents", "person-00000", "Berlin")
        self.check_view("the documents")
        self.picture("documents" if self.size == WIDE else "documents-phone")
        self.assertLessEqual(len(self.all("tr")), 500)
        self.click("choice", "JSON")
        self.see('"species": "dog"')
        self.check_view("the documents as JSON")
        self.click("choice", "Table")
        self.find("details.menu summary").click()
        self.click("choice", "city")
        self.find("details.menu summary").click()
        self.wait(lambda: "city" not in self.find("thead").text, "no column city")
        self.write("Go to id", "person-02000" + Keys.ENTER)
        self.see("person-02000")
        self.find(".scroller").send_keys(Keys.END)
        self.see("zoe")
        self.assertNotIn("person-02000", self.text)
        self.find(".scroller").send_keys(Keys.HOME)
        self.see("person-00000")
        self.find(".scroller").send_keys(Keys.ARROW_DOWN)
        self.wait(lambda: "person-00000" not in self.find("tbody").text, "one row further")

    def test_document_is_added_edited_and_deleted(self):
        self.open("tasks")
        self.click("link", "Add a document")
        self.write("The document as JSON", '{"_id": "milk", "text": "Buy milk", "price": 1.10')
        self.press("Save")
        self.see('Line 1: "," or "}" is missing')
        self.check_view("the editor")
        self.named("field", "The document as JSON").send_keys("}")
        self.press("Save")
        self.see('"price": 1.10')
        self.check_view("a document")
        self.press("Edit")
        # As somebody types: at the end of a line in the middle.
        field = self.named("field", "The document as JSON")
        field.send_keys(Keys.CONTROL, Keys.END)
        field.send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT, ', "done": true')
        self.press("Save")
        self.see('"done": true', "2-")
        stored = self.tool("get", "stores/tasks", "milk")
        # The spelling of the number is kept.
        self.assertIn('"price":1.10', stored.replace(" ", ""))
        self.press("Delete")
        self.see("Delete the document?")
        self.keys(Keys.ESCAPE)
        self.assertIn('"price": 1.10', self.text)
        self.press("Delete")
        self.find("dialog[open] button:not([type])").click()
        self.see("Deleted.")
        self.assertNotIn("milk", self.tool("export", "stores/tasks"))

    def test_conflicting_edit_is_told_and_merged(self):
        self.fill("tasks", [{"_id": "shared", "text": "one", "place": "here", "who": {"name": "ann", "age": 3}}])
        self.open("tasks", "document", id="shared")
        self.press("Edit")
        self.write("The document as JSON", self.value_with("shared", text="mine", who={"name": "ann", "age": 4}))
        # Somebody else is faster, in another process.
        self.tool("update", "stores/tasks", '{"_id": "shared"}', "--set", 'place="there"', "--set", 'text="theirs"', "--yes")
        self.press("Save")
        self.see("The document was changed meanwhile", "place", "who.age", "text")
        self.check_view("the fields of a conflict")
        self.picture("merge")
        # What only one side has changed is chosen already.
        chosen = {field.accessible_name for field in self.all("input[type=radio]:checked") if field.is_displayed()}
        theirs = next(name for name in chosen if name.startswith("place of Theirs"))
        self.assertTrue(theirs)
        self.assertIn("who.age of Yours", chosen)
        self.click("choice", "text of Yours")
        self.press("Save the merged document")
        self.see("3-")
        saved = json.loads(self.tool("get", "stores/tasks", "shared"))
        self.assertEqual({name: saved[name] for name in ("text", "place", "who")},
                         {"text": "mine", "place": "there", "who": {"name": "ann", "age": 4}})

    def value_with(self, name, **changes):
        document = json.loads(self.tool("get", "stores/tasks", name))
        return json.dumps({**document, **changes})

    def test_stored_conflict_is_merged(self):
        name = "merged"
        self.send("POST", "/torn/_bulk_docs", {"new_edits": False, "docs": [
            {"_id": name, "_rev": "1-aaa", "name": "both", "age": 2, "city": "Rome"}]})
        self.open("torn", "conflicts")
        self.see("with a conflict. Open one to merge its revisions.")
        self.check_view("the conflicts")
        self.click("link", name)
        self.see("This document has a conflict: 2 revisions are current.")
        self.press("Merge them")
        self.see("Choose for each field what to keep.")
        self.check_view("the merge of a conflict")
        self.click("choice", "age of 1-aaa")
        self.press("Save the merged document")
        self.see("The conflict is resolved.", "deleted leaf")
        merged = self.send("GET", f"/torn/{name}?conflicts=true")
        self.assertEqual(merged["age"], 2)
        self.assertNotIn("_conflicts", merged)

    def test_a_stored_conflict_keeps_what_only_one_side_has_changed(self):
        name = "parted"
        file = {"content_type": "text/plain", "data": base64.b64encode(b"a note").decode()}
        base = self.send("PUT", f"/torn/{name}", {"n": 1, "m": 1, "kept": True, "both": 1})["rev"]
        digest = base.split("-")[1]
        revisions = lambda ids: {"start": len(ids), "ids": ids}
        self.send("POST", "/torn/_bulk_docs", {"new_edits": False, "docs": [
            {"_id": name, "_revisions": revisions(["zzb", "zza", digest]), "n": 2, "m": 1, "kept": True, "both": 2},
            {"_id": name, "_revisions": revisions(["aaa", digest]), "n": 1, "m": 2, "kept": True, "both": 3, "_attachments": {"x.txt": file}}]})
        self.open("torn", "document", id=name)
        self.press("Merge them")
        self.see("What only one of them has changed since their common ancestor is chosen already.", "attachment x.txt", "Winner, 3-zzb", "Before")
        self.assertEqual(self.find("tr.contested th").text, "both")
        self.check_view("the merge of a conflict with an attachment")
        self.press("Save the merged document")
        self.see("The conflict is resolved.")
        merged = self.send("GET", f"/torn/{name}?conflicts=true")
        self.assertEqual((merged["n"], merged["m"], merged["kept"], merged["both"]), (2, 2, True, 2))
        self.assertNotIn("_conflicts", merged)
        self.assertEqual(list(merged["_attachments"]), ["x.txt"])
        self.assertEqual(merged["_attachments"]["x.txt"]["length"], 6)

    def test_a_sort_that_is_misspelled_is_said(self):
        for sort, said in [("-age", '"-age" is not a sort; write age:desc'), ("age:DESC", '"age:DESC" is not a sort; write age:desc'),
                           ("agee", 'None of the first 1,000 documents has the field "agee" of the sort; did you mean "age"?')]:
            self.open("contacts", "query", selector="{}", sort=sort)
            self.see(said)
        self.open("contacts", "query", selector="{}", sort="age:desc,_id")
        self.see("of 3,001")
        self.assertNotIn("of the sort", self.text)

    def test_a_misspelled_field_is_said_before_an_index_is_proposed(self):
        self.open("contacts", "query", selector='{"city": {"$gt": "A"}, "$or": [{"ctiy": "Oslo"}, {"pet": {"speces": "cat"}}]}')
        self.see("No results of 0", 'None of the first 1,000 documents has the field "ctiy"; did you mean "city"?', 'did you mean "pet.species"?')
        self.assertNotIn("No matching index found", self.text)
        self.check_view("a misspelled field")
        self.press("Use city")
        self.see("Results 1 to 50 of 750")
        self.assertIn('[{"city": "Oslo"}, {"pet": {"speces": "cat"}}]', self.named("field", "Selector").get_attribute("value"))
        # What has results is not questioned by its plan.
        self.open("contacts", "query", selector='{"speces": "cat"}')
        self.see("None of the first 1,000 documents")
        self.press("Explain")
        self.see("every document")
        self.assertNotIn("would help", self.text)
        self.open("contacts", "groups", by="citty")
        self.press("Use city")
        self.see("Oslo")
        self.assertNotIn("did you mean", self.text)

    def test_results_without_ids_are_opened(self):
        for more in ({}, {"live": "1"}):
            self.open("tasks", "query", selector='{"_id": "task-3"}', fields="text", **more)
            self.see("Task 3")
            self.assertNotIn("_id", self.named("field", "Fields").get_attribute("value"))
            self.press("Copy as a command")
            self.assertRegex(self.find("#plan pre").text, "--fields text$")
            self.click("choice", "JSON")
            self.wait(lambda: self.all("#results pre"), "the result as JSON")
            self.assertNotIn("_id", self.find("#results pre").text)
            self.click("link", "task-3")
            self.see('"_id": "task-3"')

    def test_one_message_at_a_time(self):
        self.fill("tasks", [{"_id": "said", "n": 1}])
        self.open("tasks", "document", id="said")
        self.press("Edit")
        self.write("The document as JSON", self.value_with("said", n=2))
        self.press("Save")
        self.see("Saved.")
        self.press("Edit")
        self.assertNotIn("Saved.", self.text)
        self.write("The document as JSON", '{"n": ')
        self.press("Save")
        self.see("Line 1: a value is missing")
        self.assertEqual(self.find("#status").text, "")

    def test_a_merge_that_comes_too_late_deletes_nothing(self):
        name = "late"
        self.send("POST", "/torn/_bulk_docs", {"new_edits": False, "docs": [
            {"_id": name, "_rev": "1-aaa", "age": 2}, {"_id": name, "_rev": "1-bbb", "age": 3}]})
        self.open("torn", "document", id=name)
        self.press("Merge them")
        self.see("Choose for each field what to keep.")
        self.send("PUT", f"/torn/{name}", {"_rev": "1-bbb", "age": 4})
        self.press("Save the merged document")
        self.see("The document was changed meanwhile, and nothing is merged.")
        found = self.send("GET", f"/torn/{name}?conflicts=true")
        self.assertEqual((found["age"], found["_conflicts"]), (4, ["1-aaa"]))
        # What comes between the merged document and the deletions.
        self.open("torn", "document", id=name)
        self.press("Merge them")
        self.see("Choose for each field what to keep.")
        self.send("POST", "/torn/_bulk_docs", {"docs": [{"_id": name, "_rev": "1-aaa", "_deleted": True}]})
        self.press("Save the merged document")
        self.see("another revision is not deleted: somebody else has changed it meanwhile.")

    def test_fields_are_merged(self):
        nested = '{"a": {"x": 1, "y": 2}}'
        cases = [
            # The version that both come from, the versions, the choices if they are not the first ones; what is saved, or the error.
            ('{"a": {"x": 1}}', [nested, '{"a": {}}'], None, '{"a": {"y": 2}}'),
            # Both have changed a, so that one of them is chosen for all that is in it.
            ('{"a": {"x": 1}}', [nested, '{"a": 5}'], None, nested),
            ('{"a": {"x": 1}}', ['{"a": 5}', nested], None, '{"a": 5}'),
            ('{"a": {"x": 1}}', ["{}", nested], None, "{}"),
            ('{"a": {"x": 1}}', ['{"a": {"x": 1}}', "{}"], 1, "{}"),
            ("null", ['{"a": {"b": {"c": 1}}, "d": 1}', '{"d": 1}'], 1, '{"d": 1}'),
            ("null", ['{"a": {"b": {"c": 1}}}', '{"a": {"b": {}}}'], 1, '{"a": {"b": {}}}'),
            ("null", [nested, '{"a": 5}'], 1, '{"a": 5}'),
            ("null", ['{"a": 5}', nested], 1, nested),
            ('{"_attachments": {"a": {"digest": "1", "revpos": 1}}}',
             ['{"b": 1, "_attachments": {"a": {"digest": "1", "revpos": 1}}}', '{"b": 2, "_attachments": {"a": {"digest": "1", "revpos": 2}}}'],
             1, '{"b": 2}'),
            ('{"n": 1.0, "m": 1}', ['{"n": 1.0, "m": 2}', '{"n": 1.00, "m": 1}'], None, '{"n": 1.00, "m": 2}'),
        ]
        self.open()
        for base, versions, choice, expected in cases:
            result = self.browser.execute_async_script(
                """const [base, versions, choice, done] = arguments
                Promise.all([import('/_utils/merge.js'), import('/_utils/json.js')]).then(([{chosenFirst, merged}, {line, parse}]) => {
                  const values = versions.map(text => parse(text))
                  const first = chosenFirst(values, parse(base))
                  return line(merged(values, choice === null ? first : first.map(() => choice)))
                }).catch(error => error.message).then(done)""",
                base, versions, choice)
            self.assertEqual(result, expected, versions)

    def test_the_id_of_a_document_is_not_changed(self):
        self.fill("tasks", [{"_id": "kept", "n": 1}, {"_id": "other", "n": 2}])
        for text in ('{"_id": "other", "n": 3}', '{"n": 3}'):
            self.open("tasks", "document", id="kept")
            self.press("Edit")
            self.write("The document as JSON", text)
            self.press("Save")
            self.see("The id of a document can't be changed; add a document instead.")
        self.assertEqual(json.loads(self.tool("get", "stores/tasks", "other"))["n"], 2)
        self.assertEqual(self.send("GET", "/tasks")["doc_count"], len(self.tool("export", "stores/tasks").splitlines()))

    def test_text_that_is_not_saved_is_not_lost_by_a_click(self):
        self.fill("tasks", [{"_id": "begun", "n": 1}])
        self.open("tasks", "document", id="begun")
        address = self.browser.current_url
        self.press("Edit")
        self.write("The document as JSON", '{"n": 17')
        for is_left in (False, True):
            self.click("link", "Query")
            question = self.wait(self.question, "the question")
            self.assertEqual(question.text, "Leave without saving your text?")
            question.accept() if is_left else question.dismiss()
            if not is_left:
                self.assertEqual(self.named("field", "The document as JSON").get_attribute("value"), '{"n": 17')
                self.assertEqual(self.browser.current_url, address)
        self.named("field", "Selector")

    def test_the_id_of_a_new_document_may_be_taken(self):
        self.fill("tasks", [{"_id": "taken", "n": 1}])
        self.open("tasks", "document", new="1")
        self.write("The document as JSON", '{"_id": "taken", "n": 2}')
        self.press("Save")
        self.see("Line 1: _id: a document with this id exists; choose another id, or change that document. Show it")
        self.check_view("an id that is taken")
        self.click("link", "Show it")
        self.wait(self.question, "the question").accept()
        self.see('"n": 1')

    def test_text_that_is_not_saved_is_not_lost_by_cancel(self):
        self.fill("tasks", [{"_id": "typed", "n": 1}])
        for parameters, seen in [({"id": "typed"}, '"n": 1'), ({"new": "1"}, "Go to id"), ({"new": "1", "like": "typed"}, '"_id": "typed"')]:
            self.open("tasks", "document", **parameters)
            if "id" in parameters:
                self.press("Edit")
            self.write("The document as JSON", '{"n": 17')
            self.press("Cancel")
            self.wait(self.question, "the question").dismiss()
            self.assertEqual(self.named("field", "The document as JSON").get_attribute("value"), '{"n": 17')
            self.press("Cancel")
            self.wait(self.question, "the question").accept()
            self.see(seen)
            self.assertEqual(self.all("textarea"), [])

    def question(self):
        try:
            return self.browser.switch_to.alert
        except NoAlertPresentException:
            return None

    def test_results_with_a_field_named_docs(self):
        self.fill("tasks", [{"_id": "with-docs", "kind": "docs", "docs": [1]}])
        self.open("tasks", "query", selector='{"kind": "docs"}', fields="docs")
        self.see("Results 1 to 1 of 1")

    def test_results_stay_when_they_are_not_counted(self):
        self.open("contacts", "query")
        self.named("field", "Selector")
        self.fail_requests("body.includes('$count')")
        self.press("Run")
        self.see("The server does not answer", "Results 1 to 50, in")
        self.assertEqual(len(self.all("#results tbody tr")), 50)
        self.write("Limit", "10")
        # The page that follows is that of the results, whatever is in the field by then.
        self.press("Next page")
        self.see("Results 51 to 60, in")

    def test_a_live_view_goes_on_when_the_server_answers_again(self):
        self.hurry()
        self.open()
        self.see("watched")
        self.fail_requests("true")
        self.see("The server does not answer; is it still running? Trying again…")
        self.run_script("window.failing = false")
        self.see("The server answers again.")
        self.fill("again", [{"n": 1}])
        self.wait(lambda: self.row("again"), "the new store")
        self.send("DELETE", "/again")

    def test_query_is_completed_run_and_remembered(self):
        self.open("contacts", "query")
        self.see("Selector")
        field = self.named("field", "Selector")
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

    def test_error_is_at_its_place(self):
        self.open("contacts", "query", selector='{\n  "city": "Rome",\n  "age": {"$gtt": 3}\n}')
        self.see('Line 3: age.$gtt: unknown operator "$gtt" (did you mean "$gt"?)')
        self.assertEqual(self.find(".behind mark").get_attribute("textContent"), '"$gtt"')
        self.check_view("an error")
        self.picture("error")
        self.write("Selector", '{"age": ')
        self.press("Run")
        self.see("Line 1: a value is missing")

    def test_live_results(self):
        self.open("tasks", "query", selector='{"kind": "live"}', live="1")
        self.see("Live: 0 results")
        self.tool("put", "stores/tasks", "live-1", "-", text='{"kind": "live", "n": 1}')
        self.see("Live: 1 result", "live-1")
        self.tool("put", "stores/tasks", "live-0", "-", text='{"kind": "live", "n": 2}')
        self.see("Live: 2 results")
        self.assertLess(self.find("#results").text.index("live-0"), self.find("#results").text.index("live-1"))
        self.tool("delete", "stores/tasks", "live-1")
        self.see("Live: 1 result,")
        self.press("Stop")
        self.see("Stopped.")

    def copied(self, form, **parameters):
        self.open("contacts", "query", **parameters)
        self.see("Results 1 to")
        self.press(f"Copy as {form}")
        return self.find("#plan pre").get_attribute("textContent")

    def test_query_is_copied(self):
        parameters = {"selector": '{"city": "Oslo", "age": {"$gte": 90}}', "sort": "age:desc, name", "limit": "5"}
        # SnippetTests compiles the same texts.
        with open(os.path.join(os.path.dirname(__file__), "copies.json")) as file:
            for copy in json.load(file):
                self.open("contacts", "query", **copy["parameters"])
                self.see(copy["sees"])
                self.press("Copy as Swift")
                self.assertEqual(self.find("#plan pre").get_attribute("textContent"), copy["swift"])
        command = self.copied("a command", **parameters)
        self.assertTrue(command.startswith("cdtquery find "), command)
        shell = command.replace("cdtquery", f"'{PROGRAM}'", 1)
        found = subprocess.run(["/bin/sh", "-c", shell], capture_output=True, text=True, check=True).stdout
        ages = [json.loads(line)["age"] for line in found.splitlines()]
        self.assertEqual(len(ages), 5)
        self.assertEqual(ages, sorted(ages, reverse=True))
        fixture = self.copied("a fixture", **parameters)
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "copied.test"), "w") as file:
                file.write(fixture)
            self.assertIn("1 passed, 0 failed", self.tool("test", directory))

    def test_plan_as_a_tree_and_an_index_made_for_it(self):
        self.open("contacts", "query", selector='{"$or": [{"city": "Bergen"}, {"name": "Person 7"}], "age": {"$lt": 50}}')
        self.see("Results 1 to")
        self.press("Explain")
        self.see("any of", 'index "by_city": city at one value', 'index "by_name"', "estimated", "actual 1 row, 1 document", "The matcher decided")
        self.check_view("a plan of two sources")
        self.open("planned", "query", selector='{"age": {"$lt": 3}}')
        self.see("No matching index found")
        self.press("Explain")
        self.see("every document", "actual 1,000 documents", "Indexes not used", "by_city", "An index on age would help.")
        self.check_view("a plan")
        self.picture("plan", "#plan")
        self.press("Make this index")
        self.see("Plan before and after the index", "Before", "After", "age in a range", "actual 30 rows, 30 documents")
        self.assertEqual(len(self.all(".beside .plan")), 2)
        self.check_view("two plans")
        self.picture("plans", "#plan")
        self.send("POST", "/planned/_index/_delete", {"ddoc": "age", "name": "age"})

    def test_revisions_are_drawn_and_compared(self):
        name = "compared"
        self.send("POST", "/torn/_bulk_docs", {"new_edits": False, "docs": [
            {"_id": name, "_rev": "3-ccc", "_revisions": {"start": 3, "ids": ["ccc", "bbb", "aaa"]}, "age": 5, "city": "Rome"},
            {"_id": name, "_rev": "2-ddd", "_revisions": {"start": 2, "ids": ["ddd", "aaa"]}, "age": 6, "city": "Rome"},
        ]})
        self.open("torn", "document", id=name)
        self.see("3-ccc", "2-bbb", "1-aaa", "2-ddd", "winner", "conflict")
        self.assertGreaterEqual(len(self.all("svg.tree circle")), 4)
        self.assertEqual(len(self.all("svg.tree circle.winner")), 1)
        self.check_view("revisions")
        self.picture("revisions")
        self.click("choice", "A: 3-ccc")
        self.click("choice", "B: 2-ddd")
        self.press("Compare A with B")
        comparison = self.find("[aria-label='Comparison'] tbody")
        self.assertEqual(comparison.text.split(), ["age", "5", "6"])
        self.click("choice", "B: 2-bbb")
        self.press("Compare A with B")
        self.see("The content of revision 2-bbb was compacted.")
        self.click("link", "2-ddd")
        self.see("Content of 2-ddd")

    def test_groups_as_a_bar_chart(self):
        self.open("contacts", "groups")
        self.write("Group by", "pet.species")
        self.press("Group")
        self.see("cat", "2,000", "dog", "1,000", "absent")
        bars = [bar.size["width"] for bar in self.all(".bar")]
        self.assertAlmostEqual(bars[0] / bars[1], 2, delta=0.1)
        self.check_view("groups")
        self.picture("groups")
        self.named("field", "Show the").send_keys("average")
        self.write("of the field", "age")
        self.press("Group")
        self.see("The average of age by pet.species")
        self.write("Selector", '{"age": {"$gtt": 1}}')
        self.press("Group")
        self.see('unknown operator "$gtt"')

    def test_plan_of_groups(self):
        self.open("planned", "groups", by="city")
        self.see("Berlin")
        self.press("Explain")
        self.see("; 4 groups", 'index "by_city": all of it', "actual 1,000 rows, 1,000 documents", "decided nothing; 1,000 documents match",
                 "made from the index alone, in its order",
                 "1,000 index rows, 0 documents")
        self.assertEqual(self.run_script("return document.activeElement.textContent"), "Plan")
        self.check_view("a plan of groups")
        self.write("Group by", "age")
        self.press("Explain")
        self.see("; 100 groups", "every document", "made from the documents", "An index on age would help.",
                 "by_city: the selector has no condition on its fields")
        self.press("Make this index")
        self.see("Plan before and after the index", "made from the index alone")
        self.check_view("two plans of groups")
        self.send("POST", "/planned/_index/_delete", {"ddoc": "age", "name": "age"})
        self.write("Selector", '{"age": {"$gtt": 1}}')
        self.press("Explain")
        self.see('unknown operator "$gtt"')

    def test_indexes_are_listed_if_they_take_too_long_to_measure(self):
        self.open("contacts", "changes")
        self.find("#changes")
        self.run_script("""
          const real = window.fetch
          window.fetch = (address, options) => address.includes('statistics=true')
            ? Promise.resolve(new Response('{"error": "timeout", "reason": "Measuring took longer."}', {status: 503})) : real(address, options)""")
        self.click("link", "Indexes")
        self.see("Measuring took longer.", "Values of city")
        self.assertNotIn("entries", self.text)
        self.named("button", "Delete by_city")

    def test_indexes_are_made_built_again_and_deleted(self):
        self.open("contacts", "indexes")
        self.see("by_city", "3,001 entries")
        self.find("summary").click()
        self.see("About 4 distinct values.", '"Berlin"', "25 %")
        self.check_view("indexes")
        self.picture("indexes")
        self.write("Fields", "age:desc, name")
        self.write("Name", "ages")
        self.press("Make the index")
        self.see("age descending, name")
        self.write("Fields", "city")
        self.write("Name", "ages")
        self.press("Make the index")
        self.see('There is an index with the name "ages"; delete it first, or choose another name.')
        self.see("age descending, name")
        self.press("Rebuild ages")
        self.see("The index is complete.")
        self.press("Delete ages")
        self.see("Delete the index?")
        self.find("dialog[open] button:not([type])").click()
        self.wait(lambda: "age descending" not in self.text, "the index is gone")
        self.assertNotIn("ages", self.tool("index", "list", "stores/contacts"))

    def test_settings_of_an_index_are_shown(self):
        # JavaScript has no such number.
        index = {"fields": ["name"], "unique": True, "collation": "unicode", "partial_filter_selector": {"age": {"$ne": 9007199254740993}}}
        self.send("POST", "/planned/_index", {"index": index, "name": "names", "ddoc": "names"})
        self.open("planned", "indexes")
        self.see("; unique", "; collation unicode", "; only documents that match", "9007199254740993")
        self.send("POST", "/planned/_index/_delete", {"ddoc": "_design/names", "name": "names"})

    def test_changes_as_they_come(self):
        self.open("tasks", "changes")
        self.find("#changes")
        # What is written before the last changes are known does not count as new.
        self.find("#changes tbody tr")
        self.tool("put", "stores/tasks", "changed", "-", text='{"n": 1}')
        self.see("1 change since the page was opened.")
        self.wait(lambda: "changed" in self.find("#changes tbody tr").text, "the change is first")
        self.tool("delete", "stores/tasks", "changed")
        self.see("2 changes since the page was opened.", "deleted")
        self.check_view("changes")
        rows = len(self.all("#changes tbody tr"))
        self.assertLess(rows, 30)
        self.press("Older changes")
        self.wait(lambda: len(self.all("#changes tbody tr")) >= 31, "the older changes")
        self.wait(lambda: not self.browser.find_element("xpath", "//button[.='Older changes']").is_displayed(), "all are there")

    def test_what_can_not_be_read_is_tried_again(self):
        self.open("tasks")
        self.find("tbody tr")
        self.fail_requests("address.includes('_fields')")
        self.click("link", "Schema")
        self.see("The server does not answer")
        self.assertNotIn("Reading the documents", self.text)
        self.run_script("window.failing = false")
        self.press("Try again")
        self.see("distinct values")

    def test_replications_with_their_lag(self):
        self.open()
        replication = {"source": "tasks", "target": "copy", "create_target": True, "continuous": True}
        self.send("POST", "/_replicate", replication)
        self.click("link", "Replications")
        self.see("tasks", "copy", "continuous")
        self.wait(lambda: " s" in self.find("tbody tr").text, "the lag")
        self.check_view("replications")
        self.send("POST", "/_replicate", {**replication, "cancel": True})
        self.see("The server runs no replication.")
        self.send("DELETE", "/copy")

    def test_attachments_are_shown(self):
        self.fill("tasks", [{"_id": "files", "n": 1}])
        drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30" fill="red"/></svg>'
        for name, kind, content in [
            ("drawing.svg", "image/svg+xml", drawing), ("note.txt", "text/plain", "Buy milk <b>now</b>"),
            ("page.html", "text/html", "<script>document.title = 'ran'</script>"), ("data.bin", "application/octet-stream", "\u0001\u0002"),
            ("paper.pdf", "application/pdf", PDF),
        ]:
            rev = self.send("GET", "/tasks/files")["_rev"]
            self.attach("tasks", "files", name, kind, content, rev)
        self.open("tasks", "document", id="files")
        self.see("drawing.svg", "image/svg+xml", "note.txt")
        self.check_view("attachments")
        self.press("Show drawing.svg")
        picture = self.find("#attachment img")
        self.wait(lambda: self.run_script("return arguments[0].naturalWidth", picture) == 40, "the picture is loaded")
        self.press("Show note.txt")
        self.see("Buy milk <b>now</b>")
        self.press("Show page.html")
        self.see("<script>document.title = 'ran'</script>")
        self.press("Show paper.pdf")
        frame = self.find("#attachment iframe")
        self.assertTrue(frame.get_attribute("src").startswith("blob:"))
        self.check_view("a document of PDF")
        self.assertEqual([b.accessible_name for b in self.all("button") if "data.bin" in b.accessible_name], ["Remove data.bin"])
        self.assertEqual(self.named("link", "Download data.bin").get_attribute("download"), "data.bin")
        self.assertNotEqual(self.browser.title, "ran")

    def attach(self, store, document, name, kind, content, rev):
        status = self.browser.execute_async_script(
            """const [path, kind, content, done] = arguments
            fetch(path, {method: 'PUT', headers: {'Content-Type': kind}, body: new TextEncoder().encode(content)})
              .then(response => done(response.status))""",
            f"/{store}/{document}/{name}?rev={rev}", kind, content)
        self.assertEqual(status, 201)

    def test_keyboard_alone(self):
        self.open()
        self.see("contacts")
        self.keys(Keys.TAB)
        self.assertEqual(self.run_script("return document.activeElement.textContent"), "Skip to the content")
        self.keys(Keys.ENTER)
        self.assertEqual(self.run_script("return document.activeElement.id"), "main")
        self.tab_to("contacts")
        self.keys(Keys.ENTER)
        self.see("3,001 documents")
        self.assertEqual(self.run_script("return document.activeElement.id"), "main")
        self.see("person-00000")
        self.tab_to("person-00000")
        self.keys(Keys.ENTER)
        self.see('"_id": "person-00000"')
        self.tab_to("Edit")
        self.keys(Keys.ENTER)
        self.wait(lambda: self.run_script("return document.activeElement.tagName") == "TEXTAREA", "the editor has the focus")
        self.tab_to("Cancel")
        self.keys(Keys.ENTER)
        self.wait(lambda: self.named("button", "Edit"), "the document again")

    def tab_to(self, name):
        for _ in range(40):
            self.keys(Keys.TAB)
            if self.run_script("return document.activeElement.textContent") == name:
                # What has the focus is marked.
                self.assertNotEqual(self.run_script("return getComputedStyle(document.activeElement).outlineStyle"), "none")
                return
        self.fail(f"Tab does not reach {name!r}")


class PointsOnPhone(PointsOnWideScreen):
    size, colors = PHONE, "dark"


PDF = """%PDF-1.1
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj
trailer<</Root 1 0 R>>
"""
