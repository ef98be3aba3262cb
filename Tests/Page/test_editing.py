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
        self.see('"price": 1.10', "Revisions")
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
            self.click("link", "Indexes")
            question = self.wait(self.question, "the question")
            self.assertEqual(question.text, "Leave without saving your text?")
            question.accept() if is_left else question.dismiss()
            if not is_left:
                self.assertEqual(self.named("field", "The document as JSON").get_attribute("value"), '{"n": 17')
                self.assertEqual(self.browser.current_url, address)
        self.named("field", "Fields")

    def test_text_that_is_not_saved_is_not_lost_by_cancel(self):
        self.fill("tasks", [{"_id": "typed", "n": 1}])
        for parameters, seen in [({"id": "typed"}, '"n": 1'), ({"new": "1"}, "All results"), ({"new": "1", "like": "typed"}, '"_id": "typed"')]:
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
            self.assertEqual(self.all(".editing"), [])

    def test_the_editor_numbers_lines_keeps_indentation_and_marks_brackets(self):
        self.fill("tasks", [{"_id": "indented", "n": 1, "tags": ["a"], "inner": {"list": [{"x": 1, "y": {"z": 2}}]}}])
        self.open("tasks", "document", id="indented")
        self.press("Edit")
        field = self.named("field", "The document as JSON")
        text = lambda: field.get_property("value")
        select = lambda part: self.run_script("const at = arguments[0].value.indexOf(arguments[1]); arguments[0].setSelectionRange(at, at + arguments[1].length)", field, part)
        self.assertEqual(self.find(".gutter").get_property("innerText").split(), [str(number + 1) for number in range(text().count("\n") + 1)])
        self.assertEqual([(part.get_attribute("class"), part.get_property("textContent")) for part in self.all(".behind div div span:not(.pair)")[:4]],
                         [("key", '"n"'), ("numeral", "1"), ("key", '"tags"'), ("string", '"a"')])
        field.send_keys(Keys.CONTROL, Keys.HOME)
        self.assertEqual([pair.get_property("textContent") for pair in self.all(".behind .pair")], ["{", "}"])
        # Enter keeps the indentation, and a bracket makes it deeper.
        field.send_keys(Keys.ARROW_DOWN, Keys.END, Keys.ENTER, '"more": {', Keys.ENTER, '"deep": true', Keys.ENTER, "},")
        self.assertIn('\n  "n": 1,\n  "more": {\n    "deep": true\n    },\n', text())
        # Tab indents what is selected, and leaves the field otherwise.
        select('"deep": true\n    }')
        field.send_keys(Keys.SHIFT, Keys.TAB)
        self.assertIn('\n  "deep": true\n  },\n', text())
        select('"deep"')
        field.send_keys(Keys.TAB)
        self.assertIn('\n    "deep": true\n  },\n', text())
        field.send_keys(Keys.CONTROL, "z")
        self.assertIn('\n  "deep": true\n  },\n', text())
        self.run_script("arguments[0].setSelectionRange(0, 0)", field)
        field.send_keys(Keys.TAB)
        self.assertEqual(self.run_script("return document.activeElement.textContent"), "Save")
        # A click on a number folds the block that begins in its line, and unfolds it.
        self.find(".gutter div div:nth-child(3)").click()
        self.assertIn('\n  "more": {⋯1⋯},\n', text())
        self.check_view("a text that is folded")
        self.find(".gutter .folded").click()
        self.assertIn('\n  "more": {\n  "deep": true\n  },\n', text())
        # Escape asks before it drops the text.
        field.send_keys(Keys.ESCAPE)
        self.wait(self.question, "the question").dismiss()
        self.assertIn('"deep"', text())
        field.send_keys(Keys.ESCAPE)
        self.wait(self.question, "the question").accept()
        self.wait(lambda: self.run_script("return document.activeElement.textContent") == "Edit", "the document again")
        self.press("Edit")
        self.named("field", "The document as JSON").send_keys(Keys.ESCAPE)
        # What is saved is whole, and an error is shown in the whole text.
        self.press("Edit")
        field = self.named("field", "The document as JSON")
        field.send_keys(Keys.CONTROL, Keys.HOME)
        field.send_keys(Keys.ARROW_DOWN, Keys.END, ' "k": 2,', Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.CONTROL + Keys.SHIFT + "[")
        self.assertIn('"inner": {⋯1⋯}', text())
        field.send_keys(Keys.CONTROL, Keys.END)
        field.send_keys("x", Keys.CONTROL + Keys.ENTER)
        self.see("the text goes on after the value")
        self.assertIn('"z": 2', text())
        self.find(".gutter .open:nth-child(4)").click()
        field.send_keys(Keys.CONTROL, Keys.END)
        field.send_keys(Keys.BACKSPACE, Keys.CONTROL + Keys.ENTER)
        self.see("Saved.")
        saved = self.send("GET", "/tasks/indented")
        self.assertEqual((saved["k"], saved["inner"]), (2, {"list": [{"x": 1, "y": {"z": 2}}]}))

    def test_a_fault_is_corrected_in_its_line_alone(self):
        self.fill("tasks", [{"_id": "wrong", "n": 1}])
        self.open("tasks", "document", id="wrong")
        self.press("Edit")
        field = self.named("field", "The document as JSON")
        lines = ["{", '  "a": 1', '  "total": 0551.58,', "  'b': word,", '  "c": "open,', '  "d": [1,2],', "}"]
        self.run_script("arguments[0].value = arguments[1]", field, "\n".join(lines))
        for row, said, changed in [
            (1, 'Line 3, column 3: "," or "}" is missing; did you mean "a": 1,? Use it', '  "a": 1,'),
            (2, 'Line 3, column 13: "," or "}" is missing; did you mean "total": 551.58,? Use it', '  "total": 551.58,'),
            (3, 'Line 4, column 3: a name in quotes is missing; did you mean "b": "word",? Use it', '  "b": "word",'),
            (4, 'did you mean "c": "open",? Use it', '  "c": "open",'),
            (5, 'Line 7, column 1: a name in quotes is missing; did you mean "d": [1,2]? Use it', '  "d": [1,2]'),
        ]:
            self.press("Save")
            self.wait(lambda: said in self.find(".problem").text, said)
            if row == 2:
                self.check_view("a correction")
            self.press("Use it")
            lines[row] = changed
            self.assertEqual(field.get_property("value").split("\n"), lines)
        # A number that is none is not made a text.
        self.run_script("arguments[0].value = arguments[1]", field, '{\n  "total": 1.2.3\n}')
        self.press("Save")
        self.see('Line 2, column 15: "," or "}" is missing')
        self.assertNotIn("did you mean", self.text)
        self.run_script("arguments[0].value = '{}'", field)
        self.press("Save")
        self.see("Saved.")

    def test_a_long_text_is_colored_where_it_is_seen(self):
        self.open("tasks", "document", new="1")
        field = self.named("field", "The document as JSON")
        took = self.run_script(r"""const [field] = arguments
          field.value = `{\n${Array.from({length: 40000}, (_, at) => `  "field ${at}": "value",`).join('\n')}\n  "last": 1\n}`
          const start = performance.now()
          field.dispatchEvent(new Event('input'))
          field.scrollTop = 400000
          return [field.value.length, performance.now() - start]""", field)
        self.assertGreater(took[0], 900_000)
        self.wait(lambda: '"field 19' in self.find(".behind").get_property("textContent"), "the lines that are seen")
        self.assertLess(len(self.all(".behind div div")), 300)
        aligned = self.run_script(r"""const [area] = arguments, height = parseFloat(getComputedStyle(area).lineHeight)
          const line = document.querySelector('.behind div div')
          return line.getBoundingClientRect().top - area.getBoundingClientRect().top + area.scrollTop - (parseInt(/\d+/.exec(line.textContent)[0]) + 1) * height""", field)
        # The first line is below the border and the padding.
        self.assertAlmostEqual(aligned, 10.6, delta=2)


class EditingOnPhone(Editing):
    size, colors = PHONE, "dark"
