"""What is done with one document, and what is seen of who has changed it and how."""

import json
import os
import unittest

from page import PHONE, PageTestCase


class Documents(PageTestCase):
    @classmethod
    def make_stores(cls):
        cls.fill("people", [{"_id": f"p{number}", "name": f"Person {number}", "age": number, "pet": {"kind": "cat"}} for number in range(20)])
        cls.file = os.path.join(os.path.dirname(cls.directory), "notes <b> & ü.txt")
        with open(cls.file, "w") as file:
            file.write("first text")

    def body(self, document, store="people"):
        return self.send("GET", f"/{store}/{document}")

    def choose_file(self, path):
        self.find("input[type=file]").send_keys(path)

    def test_attachments_are_added_replaced_and_removed(self):
        name = os.path.basename(self.file)
        self.open("people", "document", id="p1")
        self.named("button", "Add a file…")
        self.choose_file(self.file)
        self.see("is added.", name)
        self.assertEqual(self.body("p1")["_attachments"][name]["length"], 10)
        self.check_view("a document with an attachment")
        with open(self.file, "w") as file:
            file.write("another text")
        self.choose_file(self.file)
        self.see("Replace the attachment?")
        self.press("Replace")
        self.see("is replaced.")
        self.assertEqual(self.body("p1")["_attachments"][name]["length"], 12)
        self.press(f"Remove {name}")
        self.see("Remove the attachment?")
        self.press("Cancel")
        self.press(f"Remove {name}")
        self.press("Remove")
        self.see("is removed.")
        self.assertNotIn("_attachments", self.body("p1"))

    def test_somebody_else_changes_the_document_of_an_attachment(self):
        self.open("people", "document", id="p2")
        self.named("button", "Add a file…")
        self.send("PUT", "/people/p2", {**self.body("p2"), "age": 50})
        self.choose_file(self.file)
        self.see("The document was changed meanwhile.")
        self.assertEqual(self.body("p2")["age"], 50)

    def test_attachments_are_changed_while_the_document_is_edited(self):
        self.hurry()
        name, other = os.path.basename(self.file), os.path.join(os.path.dirname(self.file), "other.txt")
        with open(other, "w") as file:
            file.write("other")
        self.open("people", "document", id="p9")
        self.press("Edit")
        field = self.write("The document as JSON", json.dumps({**self.body("p9"), "age": 90}))
        for path in (self.file, other):
            self.choose_file(path)
            self.see(f"{os.path.basename(path)} is added.")
        self.press("Remove other.txt")
        self.press("Remove")
        self.see("other.txt is removed.")
        self.assertEqual([button.accessible_name for button in self.all("button") if "Remove" in button.accessible_name], [f"Remove {name}"])
        # The page looks for changes of others three times.
        self.run_script("window.looks = 0; const real = fetch; window.fetch = (...of) => { looks += of[0].endsWith('_all_docs'); return real(...of) }")
        self.wait(lambda: self.run_script("return looks > 3"), "the next looks")
        self.assertNotIn("changed meanwhile", self.text)
        self.assertIn('"age": 90', field.get_property("value"))
        self.press("Save")
        self.see("Saved.", "5-", name)
        body = self.body("p9")
        self.assertEqual((body["age"], list(body["_attachments"]), body["_rev"][:2]), (90, [name], "5-"))
        # The text has the attachment that is removed.
        self.press("Edit")
        self.write("The document as JSON", json.dumps({**body, "age": 91}))
        self.press(f"Remove {name}")
        self.press("Remove")
        self.see("is removed.")
        self.press("Save")
        self.see("Saved.", "7-")
        self.assertEqual({**self.body("p9"), "_rev": ""}, {"_id": "p9", "_rev": "", "name": "Person 9", "age": 91, "pet": {"kind": "cat"}})

    def test_an_id_that_an_address_can_not_have(self):
        self.send("POST", "/people/_bulk_docs", {"docs": [{"_id": ".."}]})
        self.open("people", "document", id="..")
        self.named("button", "Add a file…")
        self.choose_file(self.file)
        self.see("use cdtquery attachment")
        self.assertNotIn(os.path.basename(self.file), self.send("GET", "/_all_dbs"))

    def test_a_document_is_a_template(self):
        self.open("people", "document", id="p3")
        self.menu("⋯")
        self.click("link", "Use as template")
        editor = self.find("textarea")
        document = json.loads(self.wait(lambda: editor.get_property("value"), "the template"))
        self.assertEqual({**document, "_id": ""}, {"_id": "", "name": "Person 3", "age": 3, "pet": {"kind": "cat"}})
        self.assertNotEqual(document["_id"], "p3")
        self.press("Save")
        self.wait(lambda: document["_id"] in self.find("h1").text, "the new document")
        self.assertEqual(self.body(document["_id"])["name"], "Person 3")

    def test_an_id_is_proposed_also_without_tls(self):
        added = self.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "crypto.randomUUID = undefined"})
        self.addCleanup(self.browser.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", added)
        self.open("people", "document", new="1")
        editor = self.find("textarea")
        self.assertRegex(json.loads(editor.get_property("value"))["_id"], r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$")
        self.press("Save")
        self.see("Revisions")

    def test_earlier_revisions_have_times_and_the_menus_copy(self):
        for number in range(40):
            self.send("PUT", "/people/p7", {**self.body("p7"), "age": number})
        self.open("people", "document", id="p7")
        self.wait(lambda: len(self.all("section:has(.tree) time")) == 30, "the times of the newest")
        self.press("Show 11 older revisions")
        self.wait(lambda: len(self.all("section:has(.tree) time")) == 41, "the times of all")
        self.browser.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        copied = lambda: self.browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
        for name, part in (("JSON", '"age": 39'), ("Id", "p7"), ("curl command", "/people/p7'")):
            self.menu("Copy")
            self.press(name)
            self.wait(lambda: part in copied(), part)

    def test_documents_that_are_near_are_one_link_away(self):
        point = lambda *numbers: {"type": "Point", "coordinates": numbers}
        self.fill("near", [{"_id": name, "place": point(8, at), "inner": {"taste": [1, at]}} for at, name in enumerate(("here", "next", "far"))] + [{"_id": "none"}])
        self.tool("index", "create", "stores/near", "place", "--place")
        self.tool("index", "create", "stores/near", "inner.taste", "--vector", "2")
        self.open("near", "document", id="here")
        for name in ("Close by", "More like this"):
            self.see("Revisions")
            self.wait(lambda: len(self.all(".menu a")) == 3, "the links")
            self.menu("⋯")
            self.click("link", name)
            self.see("next", "far")
            self.assertNotIn("here\n", self.find("main").text)
            self.browser.back()
        self.open("near", "document", id="none")
        self.see("Revisions")
        self.assertEqual(len(self.all(".menu a")), 1)

    def test_a_document_is_shown_and_changed_in_a_panel(self):
        self.open("people", "indexes")
        self.see("There are no indexes.")
        self.run_script("""window.panel = document.createElement('div')
          panel.style.width = 'min(390px, 100%)'
          document.getElementById('main').append(panel)
          window.said = []
          const options = {main: panel, store: 'people', parameters: new URLSearchParams({id: 'p8'}), signal: new AbortController().signal, inPanel: true}
          import('/_utils/document.js').then(({showDocument}) => {
            const show = () => showDocument({...options, reload: show, closed: text => { said.push(text); panel.remove() }})
            show()
          })""")
        self.see("Revisions", '"age": 8')
        self.check_view("a document in a panel")
        self.press("Edit")
        self.check_view("the editor in a panel")
        self.write("The document as JSON", '{"age": 88}')
        self.press("Save")
        self.see('"age": 88', "Saved.")
        self.assertEqual(self.body("p8")["_rev"][:2], "2-")
        self.press("Delete")
        self.find("dialog[open] button:not([type])").click()
        self.wait(lambda: self.run_script("return said.join()") == "Deleted.", "what is said")
        self.assertIn("/indexes", self.browser.current_url)

    def test_changes_say_what_has_changed(self):
        self.send("PUT", "/people/p4", {**self.body("p4"), "age": 40, "name": "<b>Four</b>", "hat": True})
        self.send("DELETE", f"/people/p5?rev={self.body('p5')['_rev']}")
        self.open("people", "changes")
        def row(document):
            rows = lambda: [row for row in self.all("#changes tbody tr") if row.find_element("tag name", "a").text == document]
            return self.wait(rows, document)[0]

        self.wait(lambda: "age 4 → 40" in row("p4").text, "the fields")
        self.assertIn('name "Person 4" → "<b>Four</b>"', row("p4").text)
        self.assertIn("hat absent → true", row("p4").text)
        self.assertIn("deleted", row("p5").text)
        self.assertRegex(row("p4").text, r"just now|min ago")
        self.assertRegex(row("p4").find_element("tag name", "time").get_attribute("title"), r"\d\d:\d\d:\d\d")
        self.check_view("the changes")
        # As they come, also where many fields change and many come at once.
        self.send("PUT", "/people/p4", {**self.body("p4"), **{f"f{number}": number for number in range(9)}})
        self.wait(lambda: "f0 absent → 0" in row("p4").text and "and 5 other fields" in row("p4").text, "the new fields")
        self.send("POST", "/people/_bulk_docs", {"docs": [{"_id": f"many-{number:03d}"} for number in range(300)]})
        self.wait(lambda: "new" in self.all("#changes tbody tr")[0].text, "the last of many")
        self.assertLessEqual(len(self.all("#changes tbody tr")), 200)

    def test_the_content_before_may_be_gone(self):
        self.send("PUT", "/short", None)
        revision = self.send("PUT", "/short/a", {"n": 1})["rev"]
        self.send("PUT", "/short/a", {"_rev": revision, "n": 2})
        self.send("POST", "/short/_compact", {})
        self.open("short", "changes")
        self.see("what was before is not there")

    def test_a_document_with_a_conflict_is_deleted(self):
        self.send("POST", "/people/_bulk_docs", {"new_edits": False, "docs": [{"_id": "two", "_rev": f"1-{digit * 32}", "name": digit} for digit in "ab"]})
        self.open("people", "document", id="two")
        self.press("Delete")
        self.see("The document has a conflict of 2 revisions: if you delete this one, another one becomes the document.")
        self.check_view("the question about a conflict")
        self.find("dialog[open] button:not([type])").click()
        self.see("The document is now 1-aaaaaaaa", '"name": "a"')
        self.press("Delete")
        self.see("Delete the document?")
        self.find("dialog[open] button:not([type])").click()
        self.see("Deleted.", "All results")

    def test_conflicts_say_who_is_who(self):
        leaves = [{"_id": "p6", "_rev": f"{number}-{digit * 32}", "name": digit} for number, digit in ((2, "a"), (3, "b"), (3, "c"))]
        self.send("POST", "/people/_bulk_docs", {"new_edits": False, "docs": leaves})
        self.open("people", "conflicts")
        self.see("1 document with a conflict", "3-bbbbbbbb", "3, winner")
        row = self.find("tbody tr").text
        self.assertLess(row.index("3-cccccccc"), row.index("3-bbbbbbbb"))
        self.assertRegex(row, r"just now|min ago")
        self.check_view("the conflicts")
        self.named("link", "p6").click()
        self.press("Merge them")
        self.see("Winner, 3-cccccccc")
        self.assertRegex(self.find(".merging > p").text, r"Winner, 3-cccccccc\w* written (just now|\d+ min ago)")
        self.send("DELETE", f"/people/p6?rev=3-{'c' * 32}")
        self.send("DELETE", f"/people/p6?rev=3-{'b' * 32}")
        self.send("DELETE", f"/people/p6?rev=2-{'a' * 32}")


class DocumentsOnPhone(Documents):
    size, colors = PHONE, "dark"


class WhoWrites(PageTestCase):
    @classmethod
    def make_stores(cls):
        cls.fill("team", [{"_id": "a", "n": 1}])

    def test_users_are_named_to_those_who_may_know(self):
        self.serve_with_users({"anna": ["_admin"], "bob": []})
        for name in ("anna", "bob"):
            self.browser.get(self.base)
            self.see("Log in")
            self.write("Name", name)
            self.write("Password", "correct horse")
            self.find("#login button").click()
            self.wait(lambda: f"Log out {name}" in self.text, name)
            if name == "anna":
                self.send("PUT", "/team/_security", {"members": {"names": ["bob"]}})
            self.send("PUT", f"/team/by-{name}", {"n": 2})
            self.open("team", "changes")
            self.wait(lambda: "new" in self.find("#changes tbody tr").text, "the change")
            self.assertEqual("by anna" in self.find("main").text, name == "anna")
            self.press(f"Log out {name}")


if __name__ == "__main__":
    unittest.main()
