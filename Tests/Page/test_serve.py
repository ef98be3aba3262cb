"""The page of `cdtquery serve`, behind its users."""

import base64
import json
import urllib.parse
import urllib.request

from page import PHONE, WIDE, Keys, PageTestCase, Program
from test_views import CONFLICT, VIEWS, people


class Users(PageTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.serve_with_users({"mike": ["_admin"], "zoe": ["team"]})

    @classmethod
    def make_stores(cls):
        cls.fill("contacts", [{"_id": "ann", "age": 36}])

    def setUp(self):
        super().setUp()
        self.browser.delete_all_cookies()

    def log_in(self, name, password):
        self.see("Log in")
        self.write("Name", name)
        self.write("Password", password)
        self.find("#login button").click()

    def test_an_admin_logs_in_and_writes(self):
        self.open()
        self.see("Log in")
        self.check_view("logging in")
        self.log_in("mike", "wrong")
        self.see("Name or password is incorrect.")
        self.log_in("mike", "correct horse")
        self.see("contacts")
        self.assertFalse(self.find("#login").is_displayed())
        self.open("contacts", "document", id="ann")
        self.press("Edit")
        self.write("The document as JSON", '{"_id": "ann", "age": 37, "_rev": "%s"}' % self.send("GET", "/contacts/ann")["_rev"])
        self.press("Save")
        self.see('"age": 37', "2-")
        # It can be copied to somebody else's terminal.
        self.open("contacts", "documents", selector='{"age": {"$gt": 3}}')
        self.see("Results 1 to 1 of 1")
        self.copy_as("a command")
        self.see(f"cdtquery find {self.program.address}/contacts")

    def test_logging_out_and_not_logging_in(self):
        self.hurry()
        self.open()
        self.log_in("mike", "correct horse")
        self.see("contacts")
        self.press("Log out mike")
        self.wait(lambda: self.find("#login").is_displayed(), "the dialog")
        self.keys(Keys.ESCAPE)
        self.wait(lambda: not self.find("#login").is_displayed(), "no dialog")
        # The page does not go on asking.
        requests = "return performance.getEntriesByType('resource').filter(entry => !entry.name.includes('readable')).length"
        number = self.run_script(requests)
        self.browser.execute_async_script("setTimeout(arguments[0], 10000)")
        self.assertEqual(self.run_script(requests), number)
        self.assertFalse(self.find("#login").is_displayed())

    def test_somebody_who_is_no_admin_sees_what_they_may(self):
        self.open()
        self.log_in("zoe", "correct horse")
        self.see("There are no stores here that you may read.")
        self.open("contacts")
        self.see("You are not allowed to access this db.")
        self.assertNotIn("ann", self.find("main").text)

    def tearDown(self):
        # Chromium logs replies with 401, which the page asks about.
        self.browser.get_log("browser")


class Roles(PageTestCase):
    """Each view for those who may do everything, something, and nothing: none offers what the server then refuses."""

    writing = {"Add a document", "Edit", "Delete", "Merge them", "Save", "Update…", "Delete…"}
    administering = {"Make the index", "Make this index", "Rebuild by_city", "Delete by_city"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.serve_with_users({"mike": ["_admin"], "owner": [], "anna": [], "lead": ["team"], "zoe": []})
        # A store of one team, one for everybody, and one that anna may read in part.
        members = {"admins": {"names": ["owner"]}, "members": {"names": ["anna"], "roles": ["team"]}}
        for store, security in [("people", members), ("public", {}), ("ruled", members)]:
            cls.administer("PUT", f"{store}/_security", security)
            cls.administer("POST", f"{store}/_bulk_docs", {"new_edits": False, "docs": CONFLICT})

    @classmethod
    def make_stores(cls):
        files = {"note.txt": {"content_type": "text/plain", "data": "QnV5IG1pbGs="}}
        read = {"_id": "_design/access", "language": "query", "read": [{"roles": ["*"], "selector": {"_id": {"$gt": "person-00"}}}]}
        for store in ("people", "public", "ruled"):
            cls.fill(store, people(60) + [{"_id": "files", "_attachments": files}] + [read] * (store == "ruled"))
            cls.tool("index", "create", f"stores/{store}", "city", "--name", "by_city")

    @classmethod
    def administer(cls, method, path, body):
        headers = {"Authorization": "Basic " + base64.b64encode(b"mike:correct horse").decode(), "Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(f"{cls.program.address}/{path}", json.dumps(body).encode(), headers, method=method)):
            pass

    def become(self, name):
        self.browser.delete_all_cookies()
        if name:
            self.open()
            self.send("POST", "/_session", {"name": name, "password": "correct horse"})

    def offered(self):
        """The names of the buttons, also of those in menus that are closed."""
        return set(self.run_script("""return [...document.querySelectorAll('main button, main a.button')]
          .filter(e => e.checkVisibility() || e.closest('.menu > div') && getComputedStyle(e).display !== 'none').map(e => e.ariaLabel ?? e.textContent)"""))

    def check_views(self, name, store, expected, instead=None):
        """Opens the views of a store, and compares what they offer; `instead` is what is seen in place of each."""
        self.become(name)
        offered = set()
        for title, where, view, parameters, *texts in VIEWS:
            if where == "people" and (len(texts) == 1 or "Explain" in texts):
                with self.subTest(view=title, user=name, store=store):
                    # A plan for those who read a part has no numbers.
                    seen = [instead] if instead else texts[:2] + ["The matcher"] * (len(texts) > 1) if store == "ruled" else texts
                    self.show(store, view, parameters, *seen)
                    # How each view looks is the same for all; test_views sees to it.
                    if name == "anna":
                        self.check_view(title)
                    offered |= self.offered()
        self.assertEqual(offered & (self.writing | self.administering), expected)

    def test_a_server_admin(self):
        self.check_views("mike", "people", self.writing | self.administering)

    def test_an_admin_of_a_store(self):
        self.set_view(PHONE, "dark")
        self.check_views("owner", "people", self.writing | self.administering)
        self.check_places()

    def test_a_member(self):
        self.check_views("anna", "people", self.writing)
        self.check_places()

    def test_a_member_who_reads_a_part(self):
        self.set_view(PHONE, "light")
        self.check_views("lead", "ruled", self.writing)
        self.open("ruled")
        self.see("60 documents", "person-01")
        self.assertNotIn("person-00", self.text)
        # Numbers that tell of other documents are left out.
        self.open("ruled", "documents", selector='{"age": 7}')
        self.see("Results 1 to 1 of 1")
        self.explain()
        self.see("What was read tells of documents that you may not see.", 'decided {"age":{"$eq":7}}')
        self.assertNotIn("NaN", self.text)

    def test_somebody_of_another_store(self):
        self.check_views("zoe", "people", set(), instead="You are not allowed to access this db.")

    def test_nobody_in_a_store_for_everybody(self):
        self.set_view(PHONE, "dark")
        self.check_views(None, "public", self.writing)

    def test_nobody_in_a_store_of_others(self):
        self.check_views(None, "people", set(), instead="Log in")
        self.keys(Keys.ESCAPE)
        self.see("You are not authorized to access this db.")
        self.check_view("what nobody may read")

    def check_places(self):
        """Everybody sees the stores that they may read, and only server admins the replications."""
        for place, text in [("", "people"), ("replications", "You are not a server admin.")]:
            self.open(None, place)
            self.see(text)
            self.assertEqual([button.text for button in self.all("main button") if button.is_displayed()], [])
            self.check_view(f"the place {place}")


class ReadOnly(PageTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program.close()
        cls.look("--read-only")

    @classmethod
    def make_stores(cls):
        cls.fill("contacts", [{"_id": "ann", "age": 36}])

    def test_changes_are_refused(self):
        self.open("contacts", "document", id="ann", new="1")
        self.write("The document as JSON", '{"_id": "bob"}')
        self.press("Save")
        self.see("This server is read-only.")
        self.assertNotIn("bob", self.tool("export", "stores/contacts"))

    def test_no_changes_are_offered(self):
        for view, parameters, seen in [
            ("documents", {}, "1 document"), ("document", {"id": "ann"}, '"age": 36'), ("indexes", {}, "There are no indexes."),
            ("documents", {"selector": '{"age": 36}'}, "Results 1 to 1"),
        ]:
            self.open("contacts", view, **parameters)
            self.see(seen)
            if "selector" in parameters:
                self.explain()
                self.see("every document")
            self.check_view(view)
            offered = {element.accessible_name for element in self.all("main button, main a") if element.is_displayed()}
            self.assertFalse(offered & {"Add a document", "Edit", "Delete", "Merge them", "Make the index", "Make this index"}, view)

    def test_a_page_whose_program_was_started_again_says_so(self):
        cookies = self.browser.get_cookies()
        self.open()
        self.see("contacts")
        self.browser.delete_all_cookies()
        self.see("This address is for the browser that opened it first; run cdtquery look again for another one.")
        for cookie in cookies:
            self.browser.add_cookie(cookie)
        self.browser.get_log("browser")

    def test_the_address_is_a_link_of_another_site(self):
        program = Program("look", self.directory, "--no-open")
        self.addCleanup(program.close)
        self.browser.get("data:text/html," + urllib.parse.quote(f'<a href="{program.address}">the stores</a>'))
        self.click("link", "the stores")
        self.see("contacts")

    def test_a_second_browser_is_refused(self):
        cookies = self.browser.get_cookies()
        self.addCleanup(lambda: [self.browser.add_cookie(cookie) for cookie in cookies])
        self.browser.delete_all_cookies()
        self.browser.get(self.program.address)
        self.see("run cdtquery look again")
        self.browser.get_log("browser")
