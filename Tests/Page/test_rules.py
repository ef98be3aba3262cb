"""The rules of a store on the page of `cdtquery serve`: for its admins, who also see it as other users do, and for those users."""

import base64
import json
import os

from page import ALL, PHONE, WIDE, PageTestCase

WRITING = {"$if": {"newDoc._deleted": {"$exists": False}}, "$then": {
    "newDoc": {"title": {"$type": "string"}, "done": {"$type": "boolean"}},
    "newDoc.owner": {"$data": "userCtx.name", "$reason": "you may only save tasks of your own"}}}
READING = [{"roles": ["*"], "selector": {"owner": {"$data": "userCtx.name"}}}, {"roles": ["lead"], "selector": {"done": True}}]
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30" fill="red"/></svg>'


class Rules(PageTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.serve_with_users({"mike": ["_admin"], "anna": [], "owner": []})

    @classmethod
    def make_stores(cls):
        file = {"drawing.svg": {"content_type": "image/svg+xml", "data": base64.b64encode(DRAWING.encode()).decode()}}
        cls.fill("tasks", [{"_id": "milk", "title": "Buy milk", "done": False, "owner": "anna"},
                           {"_id": "cake", "title": "Bake", "done": True, "owner": "bob"},
                           {"_id": "seven", "title": 7, "owner": "anna", "_attachments": file},
                           {"_id": "tea", "title": "Cook tea", "done": False, "owner": "Żaneta"}])
        cls.fill("plain", [{"_id": "ann", "age": 36}])
        rules = os.path.join(os.path.dirname(cls.directory), "rules.json")
        with open(rules, "w") as file:
            json.dump({"validate_doc_update": WRITING, "read": READING}, file)
        cls.tool("rules", "set", "stores/tasks", f"@{rules}", "--name", "access")

    def log_in(self, name):
        """A session, and members who may read the stores."""
        self.browser.delete_all_cookies()
        self.open()
        for user in dict.fromkeys(["mike", name]):
            self.send("POST", "/_session", {"name": user, "password": "correct horse"})
            if user == "mike":
                for store in ("tasks", "plain"):
                    self.send("PUT", f"/{store}/_security", {"admins": {"names": ["owner"]}, "members": {"names": ["anna"]}})

    def become(self, name, roles=""):
        self.press("As user…")
        self.see("See the store as another user")
        self.write("Name (empty for an anonymous user)", name)
        self.write("Roles, separated by commas (empty for the user's own)", roles)
        self.press("Continue")

    def end(self, name):
        self.press(f"End as {name}")
        self.named("button", "As user…")

    def tearDown(self):
        self.run_script("sessionStorage.clear()")
        super().tearDown()

    def check_in_all_colors(self, what):
        for size in (WIDE, PHONE):
            for colors in ("light", "dark"):
                self.set_view(size, colors)
                self.check_view(f"{what} in {colors}, {size[0]} wide")
        self.set_view(self.size, self.colors)

    def test_admins_see_the_rules_of_a_document_and_the_failures(self):
        for admin in ("mike", "owner"):
            self.log_in(admin)
            self.open("tasks", "document", id="seven")
            self.see("Rules You could not save this document as it is.")
            self.assertNotIn("expected a string", self.text)
            self.find("#rules summary").click()
            self.see("newDoc.title: expected a string\nnewDoc.done: expected a boolean; it is missing\nyou may only save tasks of your own\n",
                     "_design/access: reading and writing")
        self.check_in_all_colors("the rules of a document")
        self.click("link", "_design/access")
        self.see('"validate_doc_update": {')
        # Rules decide for a user.
        self.open("tasks", "document", id="milk")
        self.see("You could not save this document as it is.")
        self.become("anna", "_admin")
        self.see("as anna (_admin)", "Rules\n")
        self.assertNotIn("could not save", self.text)
        self.find("#rules summary").click()
        self.see("_design/access: reading and writing")

    def test_rules_that_cant_be_read_are_named(self):
        self.log_in("mike")
        broken = {"_id": "_design/broken", "_rev": "1-a", "language": "query", "validate_doc_update": {"newDoc": {"a": {"$get": 1}}}}
        self.send("POST", "/plain/_bulk_docs", {"new_edits": False, "docs": [broken]})
        self.open("plain", "document", id="ann")
        self.see("Rules They can't be read.")
        self.find("#rules summary").click()
        self.see("_design/broken.validate_doc_update.newDoc.a.$get")
        self.send("DELETE", "/plain/_design/broken?rev=1-a")

    def test_a_store_without_rules_has_nothing_of_them(self):
        self.log_in("mike")
        self.open("tasks", "document", id="milk")
        self.named("button", "As user…")
        self.click("link", "Stores")
        self.click("link", "plain")
        self.click("link", "ann")
        self.see("The tree, newest first")
        self.assertEqual(self.all("#rules") + self.all("#reader *"), [])

    def test_who_is_no_admin_sees_what_the_rules_allow(self):
        self.log_in("anna")
        self.open("tasks")
        # As many as anna sees, not as many as the store has.
        self.see("2 documents", "Buy milk")
        self.click("link", "seven")
        self.see("The tree, newest first")
        self.assertEqual(self.all("#rules") + self.all("#reader *"), [])
        self.open("tasks", "document", id="cake")
        self.see("There is no such document.")
        self.open("tasks", "indexes")
        self.see("Statistics tell of documents that you may not see", "There are no indexes.")
        self.assertFalse(self.all("#status.error"))

    def test_who_reads_without_a_name_is_not_asked_for_one(self):
        self.log_in("mike")
        self.send("PUT", "/plain/_security", {})
        self.browser.delete_all_cookies()
        self.open("plain", "document", id="ann")
        self.see('"age": 36', "The tree, newest first")
        self.assertFalse(self.find("#login").is_displayed())
        self.assertEqual(self.all("#rules") + self.all("#reader *"), [])

    def test_a_store_is_read_as_another_user(self):
        self.log_in("mike")
        self.open("tasks")
        self.see("5 documents", "cake")
        self.become("anna")
        self.see("as anna", "The store is read and written as anna.", "2 documents", "Buy milk")
        self.assertNotIn("cake", self.text)
        self.check_in_all_colors("a store as another user")
        self.open("tasks", "document", id="cake")
        # It is kept for the tab, and each view shows it.
        self.see("as anna", "anna does not see this document, or it does not exist.")
        self.check_view("a document that is not seen")
        self.open("tasks", "documents", selector=ALL)
        self.see("as anna", "Results 1 to 2 of 2")
        self.open("plain")
        self.see("1 document")
        self.assertNotIn("as anna", self.text)
        self.open()
        self.see("tasks as anna")
        self.open("tasks", "document", id="cake")
        self.end("anna")
        self.see('"title": "Bake"')

    def test_attachments_are_those_that_the_other_user_may_have(self):
        self.log_in("mike")
        self.open("tasks", "document", id="seven")
        self.become("anna")
        self.see("as anna", "drawing.svg")
        self.press("Show drawing.svg")
        self.wait(lambda: self.run_script("return document.querySelector('#attachment img')?.naturalWidth") == 40, "the picture")
        # Meanwhile the document is given away.
        seven = self.send("GET", "/tasks/seven")
        self.send("PUT", "/tasks/_design/access", {**self.send("GET", "/tasks/_design/access"), "read": []})
        self.press("Show drawing.svg")
        self.see("The server answered 404.")
        self.run_script("arguments[0].click()", self.named("link", "Download drawing.svg"))
        self.wait(lambda: self.find("#status").get_attribute("class") == "error", "the refusal")
        self.send("PUT", "/tasks/_design/access", {**self.send("GET", "/tasks/_design/access"), "read": READING})
        self.assertEqual(self.send("GET", "/tasks/seven"), seven)

    def test_users_with_any_name_and_with_roles(self):
        self.log_in("mike")
        members = self.send("GET", "/tasks/_security")
        self.send("PUT", "/tasks/_security", {**members, "members": {"names": ["anna", "Żaneta"], "roles": ["lead"]}})
        self.open("tasks")
        self.become("Żaneta")
        self.see("as Żaneta", "Cook tea", "1 document")
        self.end("Żaneta")
        self.become("", "lead, none")
        self.see("as anonymous (lead, none)", "Bake", "1 document")
        self.become_again("anna", "lead")
        self.see("3 documents")

    def become_again(self, name, roles):
        self.end("anonymous (lead, none)")
        self.become(name, roles)
        self.see(f"as {name} ({roles})")

    def test_a_refused_write_lists_the_failures(self):
        self.log_in("mike")
        self.open("tasks", "document", new="1")
        self.become("anna")
        self.see("as anna", "Add a document")
        self.write("The document as JSON", '{\n"title": 7,\n"owner": "bob"\n}')
        self.press("Save")
        self.see("Line 2: newDoc.title: expected a string\nnewDoc.done: expected a boolean; it is missing\nyou may only save tasks of your own")
        self.assertEqual(self.find(".behind mark").get_attribute("textContent"), '"title"')
        self.check_in_all_colors("the failures of a write")
        # An id can be guessed; what it has is not shown.
        self.write("The document as JSON", '{"_id": "cake", "title": "Eat", "done": true, "owner": "anna"}')
        self.press("Save")
        self.see("you may not change this document")
        self.write("The document as JSON", '{"_id": "eggs", "title": "Buy eggs", "done": true, "owner": "anna"}')
        self.press("Save")
        self.see('"title": "Buy eggs"')
        self.send("DELETE", f"/tasks/eggs?rev={self.send('GET', '/tasks/eggs')['_rev']}")

    def test_leaving_the_editor_for_another_user_is_asked_and_logging_out_ends_it(self):
        self.log_in("mike")
        self.open("tasks")
        self.become("anna")
        self.see("as anna", "2 documents")
        self.click("link", "Add a document")
        self.write("The document as JSON", '{"a": 1')
        self.press("End as anna")
        self.browser.switch_to.alert.dismiss()
        self.see("as anna")
        self.press("End as anna")
        self.browser.switch_to.alert.accept()
        self.click("link", "Documents")
        self.become("anna")
        self.see("as anna", "2 documents")
        self.press("Log out mike")
        self.see("Log in")
        self.assertNotIn("as anna", self.text)
        self.write("Name", "mike")
        self.write("Password", "correct horse")
        self.find("#login button").click()
        self.named("button", "As user…")
