"""The page of `cdtquery serve`, behind its users."""

import time
import urllib.parse

from page import Keys, PageTestCase, Program


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
        self.open("contacts", "query", selector='{"age": {"$gt": 3}}')
        self.see("Results 1 to 1 of 1")
        self.press("Copy as a command")
        self.see(f"cdtquery find {self.program.address}/contacts")

    def test_logging_out_and_not_logging_in(self):
        self.open()
        self.log_in("mike", "correct horse")
        self.see("contacts")
        self.press("Log out mike")
        self.see("Log in")
        self.keys(Keys.ESCAPE)
        self.wait(lambda: not self.find("#login").is_displayed(), "no dialog")
        # Longer than the page waits between its requests.
        time.sleep(3)
        self.assertFalse(self.find("#login").is_displayed())

    def test_somebody_who_is_no_admin_sees_what_they_may(self):
        self.open()
        self.log_in("zoe", "correct horse")
        self.see("You are not a server admin.", "Open a store by its name")
        self.write("Open a store by its name", "contacts\n")
        self.see("You are not allowed to access this db.")
        self.assertNotIn("ann", self.find("main").text)

    def tearDown(self):
        # Chromium logs replies with 401, which the page asks about.
        self.browser.get_log("browser")


class ReadOnly(PageTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program.close()
        cls.program = Program("look", cls.directory, "--no-open", "--read-only")
        cls.addClassCleanup(cls.program.close)
        cls.browser.get(cls.program.address)
        cls.base = cls.browser.current_url.partition("#")[0]

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
            ("query", {"selector": '{"age": 36}'}, "Results 1 to 1"),
        ]:
            self.open("contacts", view, **parameters)
            self.see(seen)
            if view == "query":
                self.press("Explain")
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
        self.named("link", "the stores").click()
        self.see("contacts")

    def test_a_second_browser_is_refused(self):
        cookies = self.browser.get_cookies()
        self.addCleanup(lambda: [self.browser.add_cookie(cookie) for cookie in cookies])
        self.browser.delete_all_cookies()
        self.browser.get(self.program.address)
        self.see("run cdtquery look again")
        self.browser.get_log("browser")
