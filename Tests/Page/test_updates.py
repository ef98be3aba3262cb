"""Changes and deletions of all documents that match."""

import json
import re

from page import ALL, Keys
from people import PeopleTestCase

COUNT = 1_300


class Updates(PeopleTestCase):
    @classmethod
    def make_stores(cls):
        cls.fill("tasks", [{"_id": f"task-{number:04}", "done": number % 2 == 0, "price": number} for number in range(COUNT)])
        # Also numbers that JavaScript would write differently.
        cls.tool("import", "stores/tasks", "-", text='{"_id": "z", "done": false, "price": 1.10, "inner": {"a": 1}}\n')
        cls.fill("carts", [{"_id": "array", "items": [{"price": 5, "name": "x"}, 7]}, {"_id": "text", "items": "none"}, {"_id": "z"}])

    def begin_update(self, store, total, *changes):
        """Opens the dialog and writes changes: each a kind, a field and perhaps a second text."""
        self.menu("All results")
        self.press("Update…")
        self.see(f"Update {total} documents of {store}?")
        for number, (kind, field, *second) in enumerate(changes, 1):
            if number > 1:
                self.press("Add a change")
            self.named("field", f"Change {number}").send_keys(kind)
            self.write(f"Field {number}", field)
            names = {"Set": "Value", "Increment": "Amount", "Rename": "New name"}
            if second:
                self.write(f"{names[kind]} {number}", second[0])

    def give_up(self):
        self.press("Cancel")
        question = self.wait(self.question, "the question")
        self.assertEqual(question.text, "Close without your text?")
        question.accept()

    def confirm(self, action, name=None, store="tasks"):
        self.see(f"{action} ")
        self.write(f"Type the name of the store to confirm: {store}", name or store)
        self.find(f"dialog[open] button:not([type])").click()

    def test_nothing_moves_as_the_preview_comes(self):
        def places():
            return [self.named("button", name).rect for name in ("Add a change", "Update", "Cancel")]

        self.open("carts", "documents", selector=ALL)
        self.see("Results 1 to 3 of 3")
        self.begin_update("carts", 3)
        before = places()
        self.write("Field 1", "_id")
        self.see("the document's own")
        self.assertEqual(before, places())
        self.write("Field 1", "n")
        self.write("Value 1", "two words " * 20)
        self.see("the value is not JSON")
        self.assertEqual(before, places())
        self.write("Value 1", "1")
        self.see("3 of the first 3 documents are changed", "absent → 1")
        self.assertEqual(before, places())

    def test_all_results_are_updated_and_deleted(self):
        self.open("tasks", "documents", selector='{"done": false}', limit="5")
        self.see("Results 1 to 5 of 651")
        self.begin_update("tasks", 651, ("Set", "done", "now"), ("Set", "inner.b", "2.0"), ("Increment", "inner.a", "1"), ("Remove", "text"))
        self.see('All documents that match {"done": false} are changed')
        # The documents before and after, as one types.
        self.wait(lambda: 'done false → "now"' in self.find(".previews li").text and "of the first 5 documents are changed" in self.text, "the preview")
        self.check_view("the update of all results")
        self.confirm("Update", "task")
        # What was typed stays, also if Escape is pressed twice.
        self.see("This is not the name of the store. Nothing is changed.")
        for _ in range(2):
            self.keys(Keys.ESCAPE)
            self.wait(self.question, "the question").dismiss()
        self.assertEqual(self.named("field", "Value 1").get_attribute("value"), "now")
        self.write("Value 1", '"n')
        self.see('"done": the value is not JSON: the string has no end')
        self.assertEqual(self.all(".previews li"), [])
        self.confirm("Update")
        self.wait(lambda: "the string has no end" in self.find("dialog .problem").text, "the refusal")
        self.check_view("an update that is not JSON")
        self.write("Value 1", "now")
        self.press("Leave out change 4")
        self.confirm("Update")
        self.see("651 documents changed.", "No documents match")
        text = self.tool("get", "stores/tasks", "z").replace(" ", "")
        for part in ('"done":"now"', '"price":1.10', '"inner":{"a":2,"b":2.0}'):
            self.assertIn(part, text)
        self.assertEqual(self.tool("find", "stores/tasks", '{"done": "now"}', "--count").strip(), "651")
        self.open("tasks", "documents", selector='{"done": true}')
        self.see("of 650")
        # Not what was written since then.
        self.write("Filter", "{}")
        self.menu("All results")
        self.press("Delete…")
        self.see("Delete 650 documents of tasks?", 'All documents that match {"done": true} are deleted')
        self.check_view("the deletion of all results")
        self.assertIn("danger", self.find("dialog[open] button:not([type])").get_attribute("class"))
        self.confirm("Delete", "tasks")
        self.see("650 documents deleted.", "No documents match")
        self.assertEqual(self.tool("find", "stores/tasks", "{}", "--count").strip(), "651")

    def test_values_are_set_as_on_the_command_line(self):
        self.open("carts", "documents", selector=ALL)
        self.see("Results 1 to 3 of 3")

        def update(sees, *changes):
            self.begin_update("carts", 3, *changes)
            self.confirm("Update", store="carts")
            self.see(sees)

        update('2 documents changed; 1 document left unchanged: document "text", items.0.price: a string has no field "0"',
               ("Set", "items.0.price", "1"), ("Set", "n", "1"))
        documents = {id: json.loads(self.tool("get", "stores/carts", id)) for id in ("array", "text", "z")}
        self.assertEqual(documents["array"]["items"], [{"price": 1, "name": "x"}, 7])
        self.assertEqual(documents["z"]["items"], {"0": {"price": 1}})
        self.assertTrue(documents["text"]["_rev"].startswith("1-"))
        self.begin_update("carts", 3, ("Set", "items.7", "1"))
        self.see('array stays as it is: items.7: the array has no element "7"', "1 of the first 3 documents are changed")
        self.confirm("Update", store="carts")
        self.see('1 document changed; 2 documents left unchanged: document "array", items.7: the array has no element "7"')
        for reason, *change in (("write the field itself", "Set", "$set", "2"), ("the document's own", "Set", "_rev", "1"),
                                ("a name is missing", "Set", "a..b", "1"), ("the value is missing", "Set", "n"), ("the amount is a number", "Increment", "n", "x"),
                                ("a text of several words stands in quotes", "Set", "n", "two words")):
            update(reason, change)
            self.give_up()
        self.assertEqual(self.tool("find", "stores/carts", '{"n": 1}', "--count").strip(), "2")

    def test_fields_are_renamed_removed_and_incremented_as_on_the_command_line(self):
        bodies = {"a": {"stat": 1.5, "city": "Rome", "n": 9007199254740993}, "b": {"other": True, "n": 1.5}, "c": {"stat": {"x": [1]}, "state": 0, "tags": ["s"], "n": "one"}}
        for store in ("renamed", "expected"):
            self.send("PUT", f"/{store}", None)
            for name, body in bodies.items():
                self.send("PUT", f"/{store}/{name}", body)
        self.open("renamed", "documents", selector=ALL)
        self.see("Results 1 to 3 of 3")

        def update(sees, *changes, **options):
            self.begin_update("renamed", 3, *changes)
            self.confirm("Update", store="renamed")
            self.see(sees)
            for name in options.get("fits", "abc"):
                arguments = [word for kind, field, *second in changes for word in (
                    f"--{ {'Remove': 'unset'}.get(kind, kind.lower()) }", field if not second else f"{field}={second[0]}")]
                self.tool("update", "stores/expected", json.dumps({"_id": name}), *arguments, "--yes")
            texts = [re.sub(r'"_rev":"[^"]*"', "", self.tool("export", f"stores/{store}")) for store in ("renamed", "expected")]
            self.assertEqual(*texts)

        update("2 documents changed.", ("Rename", "stat", "state"), ("Rename", "city", "address.city"))
        update("2 documents changed; 1 document left unchanged: document \"c\", n: the field is a string, not a number", ("Increment", "n", "0.5"), fits="ab")
        update("2 documents changed", ("Increment", "n"), fits="ab")
        update("changed.", ("Remove", "address.city"), ("Remove", "nothing"))
        update("2 documents changed; 1 document left unchanged: document \"c\", tags.0: an element of an array", ("Rename", "tags.0", "first"), ("Set", "m", "1"), fits="ab")
        for reason, *change in (("the new name is the field itself, in it or around it", "Rename", "state", "state.x"), ("the document's own", "Rename", "state", "_id")):
            self.begin_update("renamed", 3, change)
            self.confirm("Update", store="renamed")
            self.see(reason)
            self.give_up()
