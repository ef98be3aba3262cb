"""What people come to the page for, from the list of stores on, each within a number of clicks. Typing is not counted, and neither is going to the field."""

import glob
import json
import os
import tempfile

from page import PHONE, ActionChains, Keys, PageTestCase, Program
from test_views import people


class Person:
    """Somebody who uses the page: counts the clicks, and the keys that choose something."""

    def __init__(self, test):
        self.test, self.count = test, 0

    def press(self, name):
        self.count += 1
        self.test.press(name)

    def follow(self, name):
        self.count += 1
        self.test.click("link", name)

    def choose(self, name):
        self.count += 1
        self.test.click("choice", name)

    def unfold(self, name):
        self.count += 1
        self.test.menu(name)

    def explain(self):
        self.count += 1
        self.test.explain()

    def key(self, *keys):
        self.count += 1
        self.test.browser.switch_to.active_element.send_keys(*keys)

    def type(self, name, text):
        self.test.write(name, text)


class Tasks(PageTestCase):
    @classmethod
    def make_stores(cls):
        cls.fill("orders", [{"_id": f"order-{number:04}", "state": ["open", "shipped"][number % 2], "total": number * 1.5} for number in range(1_500)])
        note = {"note.txt": {"content_type": "text/plain", "data": "QnV5IG1pbGs="}}
        cls.fill("people", [{"_id": "ann", "_attachments": note, "age": 36}] + people(20))
        cls.fill("torn", [{"_id": "mike", "age": 3, "city": "Oslo"}])

    def setUp(self):
        super().setUp()
        self.open()
        self.see("orders", "people")
        self.person = Person(self)

    def took(self, most):
        self.assertLessEqual(self.person.count, most, "clicks")

    def test_01_a_slow_query_is_made_fast(self):
        person = self.person
        person.follow("orders")
        person.type("Filter", '{"total": 1500}')
        person.press("Run")
        self.see("no index", "1,500 documents")
        person.explain()
        self.see("An index on total would help.")
        person.press("Make this index")
        self.see("Plan before and after the index", "total at one value")
        self.took(4)
        self.see("1 document read")
        self.assertNotIn("no index", self.text)
        self.send("POST", "/orders/_index/_delete", {"ddoc": "total", "name": "total"})

    def test_02_a_conflict_is_merged(self):
        self.send("POST", "/torn/_bulk_docs", {"new_edits": False, "docs": [{"_id": "mike", "_rev": "1-0", "age": 3, "city": "Rome"}]})
        person = self.person
        person.follow("1 conflict")
        person.follow("mike")
        person.press("Merge them")
        person.choose("city of 1-0")
        person.press("Save the merged document")
        self.see("The conflict is resolved.", '"city": "Rome"')
        self.check_view("a document that was merged")
        # With a click for each row.
        self.took(4 + 1)

    def test_03_a_document_is_added(self):
        person = self.person
        person.follow("people")
        person.follow("Add a document")
        person.type("The document as JSON", '{"_id": "new", "age": 7}')
        person.press("Save")
        self.see('"age": 7', "1-")
        self.took(3)
        self.send("DELETE", f"/people/new?rev={self.send('GET', '/people/new')['_rev']}")

    def test_04_a_field_is_changed(self):
        person = self.person
        person.follow("people")
        person.follow("ann")
        person.press("Edit")
        field = self.named("field", "The document as JSON")
        document = json.loads(field.get_attribute("value"))
        person.type("The document as JSON", json.dumps({**document, "age": document["age"] + 1}))
        # Or the button Save.
        person.key(Keys.CONTROL + Keys.ENTER)
        self.see(f'"age": {document["age"] + 1}', "Saved.")
        self.took(4)

    def test_05_the_fields_are_seen(self):
        person = self.person
        person.follow("orders")
        person.follow("Schema")
        self.see("1,500 documents, 2 fields", "2 values", "number")
        self.took(2)
        person.follow("shipped")
        self.see("Results 1 to 50 of 750")
        self.check_view("the documents with a value")
        self.took(3)

    def test_06_a_result_is_kept_as_csv(self):
        with tempfile.TemporaryDirectory() as directory:
            self.browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": directory})
            person = self.person
            person.follow("orders")
            person.type("Filter", '{"state": "open"}')
            person.press("Run")
            self.see("of 750")
            person.unfold("All results")
            person.press("Download as CSV")
            path = os.path.join(directory, "orders.csv")
            self.wait(lambda: os.path.exists(path) and not glob.glob(path + ".*"), "the file")
            with open(path) as file:
                self.assertEqual(len(file.readlines()), 751)
            self.took(4)

    def test_07_changes_are_watched(self):
        person = self.person
        person.follow("torn")
        person.follow("Changes")
        self.see("Written", "mike")
        self.took(2)
        self.fill("torn", [{"_id": f"watched-{person.count}", "kind": "watched"}])
        self.see("1 change since the page was opened.")
        person.follow("Documents")
        person.type("Filter", '{"kind": "watched"}')
        person.choose("Live")
        person.press("Run")
        self.see("Live: 1 result")
        # Of which the first leads to the store, and the second to its changes.
        self.took(2 + 3)
        self.tool("delete", "stores/torn", "watched-2")
        self.see("Live: 0 results")

    def test_08_an_attachment_is_looked_at(self):
        person = self.person
        person.follow("people")
        person.follow("ann")
        person.press("Show note.txt")
        self.see("Buy milk")
        self.took(3)
        # And one is added; the dialog of the browser for files can't be driven.
        self.named("button", "Add a file…")
        self.find("main input[type=file]").send_keys(__file__)
        self.see("is added.")
        self.press(f"Remove {os.path.basename(__file__)}")
        self.press("Remove")
        self.see("is removed.")

    def test_09_a_view_is_shared_by_its_address(self):
        program = Program("serve", self.directory, "--bind", "127.0.0.1:0")
        self.addCleanup(program.close)
        self.browser.get(f"{program.address}/_utils/#/db/orders/documents")
        self.person.type("Filter", '{"total": {"$lt": 15}}')
        self.person.key(Keys.CONTROL + Keys.ENTER)
        self.see("Results 1 to 10 of 10")
        address, self.person.count = self.browser.current_url, 0
        # Somebody else has nothing of this browser.
        cookies = self.browser.get_cookies()
        self.browser.delete_all_cookies()
        self.browser.get("about:blank")
        self.browser.get(address)
        self.see("Results 1 to 10 of 10")
        self.took(0)
        for cookie in cookies:
            self.browser.add_cookie(cookie)

    def test_10_a_field_is_made_unique(self):
        person = self.person
        person.follow("people")
        person.follow("Indexes")
        person.type("Fields", "name")
        person.choose("Unique")
        person.press("Make the index")
        self.see("name; unique", "The index is complete.")
        self.took(4)
        person.follow("Documents")
        person.follow("Add a document")
        person.type("The document as JSON", '{"_id": "twice", "name": "Person 3"}')
        person.press("Save")
        self.see("person-03")
        self.assertTrue(self.find(".problem").text)
        made = self.send("GET", "/people/_index")["indexes"][-1]
        self.send("POST", "/people/_index/_delete", {"ddoc": made["ddoc"], "name": made["name"]})

    def test_11_a_file_becomes_a_store(self):
        with tempfile.NamedTemporaryFile("w", suffix=".csv", prefix="towns") as file:
            file.write("name,people\nOslo,700000\nBern,130000\n")
            file.flush()
            self.named("button", "Import a file")
            self.find("main input[type=file]").send_keys(file.name)
            person = self.person
            person.type("Store, which is made if it does not exist", "towns")
            person.press("Import")
            self.see("2 documents imported.")
            person.follow("Open towns")
            self.see("130000")
        # With the one that opens the browser's dialog.
        self.took(3 - 1)
        self.send("DELETE", "/towns")


    def test_12_a_field_is_renamed_in_all_documents(self):
        self.fill("renamed", [{"_id": f"r{number}", "stat": "open"} for number in range(30)])
        self.open("renamed")
        self.see("30 documents")
        person = self.person
        person.unfold("All results")
        person.press("Update…")
        self.see("Update 30 documents of renamed?")
        self.named("field", "Change 1").send_keys("Rename")
        person.type("Field 1", "stat")
        person.type("New name 1", "state")
        self.see("stat")
        person.type("Type the name of the store to confirm: renamed", "renamed")
        person.key(Keys.ENTER)
        self.see("30 documents changed.")
        self.took(3)
        self.send("DELETE", "/renamed")

    def test_13_a_value_is_corrected_in_the_table(self):
        person = self.person
        person.follow("people")
        self.see("person-03")
        cell = self.find("tbody tr:nth-child(3) td:nth-child(2)")
        person.count += 1
        ActionChains(self.browser).double_click(cell).perform()
        field = self.find(".editing input")
        field.send_keys("77")
        person.key(Keys.ENTER)
        self.see("Saved.")
        self.took(3)

    def test_14_the_sum_of_a_field_by_another(self):
        person = self.person
        person.follow("orders")
        person.follow("Groups")
        person.follow("sum of total by state")
        self.see("shipped", "843,750")
        self.check_view("the groups of an example")
        self.took(3)

    def test_15_conditions_find_documents(self):
        person = self.person
        person.follow("orders")
        person.type("Filter", 'total > 890 and state = "open"')
        person.key(Keys.ENTER)
        self.see("Results 1 to 50 of 453")
        person.press("Next page")
        self.see("Results 51 to 100 of 453")
        self.check_view("the second page")
        self.took(3)


class TasksOnPhone(Tasks):
    size, colors = PHONE, "dark"
    # A phone has no double click.
    test_13_a_value_is_corrected_in_the_table = None
