"""Documents that are added, edited and deleted, and text that is not saved."""

import json

from page import PHONE, Keys
from people import PeopleTestCase


class Editing(PeopleTestCase):
    def test_document_is_added_edited_and_deleted(self):
        self.open("tasks")
        self.click("link", "Add a document")
        self.write("The document as JSON", '{"_id": "milk", "text": "Buy milk", "price": 1.10')
        self.press("Save")
        self.see('Line 1, column 50: "," or "}" is missing')
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
        self.see("Line 1, column 7: a value is missing")
        self.assertEqual(self.find("#status").text, "")

    def test_the_id_of_a_document_is_not_changed(self):
        self.fill("tasks", [{"_id": "kept", "n": 1}, {"_id": "other", "n": 2}])
        self.open("tasks", "document", id="kept")
        self.press("Edit")
        # What need not be edited is not there, and saved with the text.
        self.assertEqual(json.loads(self.named("field", "The document as JSON").get_property("value")), {"n": 1})
        self.write("The document as JSON", '{"_id": "other", "n": 3}')
        self.press("Save")
        self.see("The id of a document can't be changed; add a document instead.")
        self.write("The document as JSON", '{"n": 4}')
        self.press("Save")
        self.see("Saved.", '"_id": "kept"', '"n": 4')
        self.assertEqual(json.loads(self.tool("get", "stores/tasks", "other"))["n"], 2)
        self.assertEqual(self.send("GET", "/tasks")["doc_count"], len(self.tool("export", "stores/tasks").splitlines()))

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
        self.named("field", "Filter")

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


class EditingOnPhone(Editing):
    size, colors = PHONE, "dark"
