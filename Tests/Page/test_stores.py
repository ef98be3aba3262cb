"""Stores that are made, deleted, imported into and backed up on the page."""

import base64
import gzip
import io
import json
import os
import shutil
import tarfile

from page import PHONE, WIDE, By, Keys, PageTestCase

# Drops files on an element; their content is base64.
DROP = """
const [target, files] = arguments
const data = new DataTransfer()
for (const [name, content] of files) data.items.add(new File([Uint8Array.from(atob(content), c => c.charCodeAt(0))], name))
for (const type of ['dragover', 'drop']) target.dispatchEvent(new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true}))
"""


class StoresOnWideScreen(PageTestCase):
    @classmethod
    def make_stores(cls):
        cls.fill("contacts", [{"_id": f"p{number}", "age": number} for number in range(1_200)])

    def stores(self):
        return sorted(os.listdir(self.directory))

    def drop(self, *files, on="main"):
        self.run_script(DROP, self.find(on), [
            [name, base64.b64encode(content if isinstance(content, bytes) else content.encode()).decode()] for name, content in files])

    def choose(self, name, content):
        path = os.path.join(os.path.dirname(self.directory), name)
        with open(path, "w") as file:
            file.write(content)
        self.find("input[type=file]").send_keys(path)

    def open_menu(self, store):
        summary = self.wait(lambda: next(
            (element for element in self.all("summary") if element.accessible_name == f"Actions for {store}"), None), store)
        self.run_script("arguments[0].scrollIntoView({block: 'center'})", summary)
        summary.click()

    def submit(self):
        self.find("dialog[open] form button:not([type])").click()

    def test_a_store_is_made(self):
        self.open()
        self.press("New store")
        self.check_view("making a store")
        for wrong in ("Two Words", "_users", "../x"):
            self.write("Name", wrong)
            self.submit()
            self.wait(lambda: self.find("dialog .problem").text, "the error of the server")
            self.write("Name", "")
        self.write("Name", "contacts\n")
        self.see("The database could not be created, the file already exists.")
        self.write("Name", "made\n")
        self.see("0 documents", "Add a document")
        self.assertIn("made", self.stores())

    def test_a_store_is_deleted_when_its_name_is_typed(self):
        self.fill("old", [{"_id": "a"}, {"_id": "b"}])
        self.open()
        self.open_menu("old")
        self.check_view("the menu of a store")
        self.press("Delete…")
        self.see("It has 2 documents.")
        self.check_view("deleting a store")
        self.write("Type the name of the store to confirm: old", "contacts\n")
        self.see("This is not the name of the store. Nothing is deleted.")
        self.assertIn("old", self.stores())
        self.write("Type the name of the store to confirm: old", "old\n")
        self.see("The store is deleted.")
        self.assertNotIn("old", self.stores())
        self.assertNotIn("old", self.find("table").text)

    def test_a_table_is_imported_into_a_new_store(self):
        self.open()
        self.see("contacts")
        self.choose("New People (2024).csv", "_id;age\nann;7\nbob;8\n")
        self.see("Import New People (2024).csv")
        self.check_view("importing")
        self.assertEqual(self.named("field", "Store, which is made if it does not exist").get_attribute("value"), "new_people_2024")
        self.submit()
        self.see("2 documents imported.", "a table; values are separated by semicolons")
        self.assertNotIn("--delimiter", self.text)
        self.check_view("what was imported")
        self.named("link", "Open new_people_2024").click()
        self.see("2 documents", "ann")

    def test_an_error_has_its_line_and_leaves_no_store(self):
        self.open()
        self.see("contacts")
        self.drop(("broken.jsonl", '{"_id": "a"}\n{"_id": }\n'))
        self.write("Store, which is made if it does not exist", "broken")
        failed = lambda: "broken.jsonl:2:9: " in self.find("dialog[open] > form > .problem").text
        self.submit()
        self.wait(failed, "the error")
        self.assertEqual(self.find("dialog[open]").text.count("broken.jsonl:2:9: "), 1)
        self.check_view("an import with an error")
        self.assertNotIn("broken", self.stores())
        # A store that was there stays.
        self.write("Store, which is made if it does not exist", "contacts")
        self.submit()
        self.wait(failed, "the error")
        self.press("Cancel")
        self.assertIn("contacts", self.stores())

    def test_documents_that_exist(self):
        self.fill("target", [{"_id": "a", "n": 1}])
        self.open()
        self.open_menu("target")
        # Chromium's dialog for files can't be driven.
        self.run_script("HTMLInputElement.prototype.click = () => {}")
        self.press("Import a file…")
        self.choose("two.jsonl", '{"_id": "a", "n": 2}\n{"_id": "b"}\n')
        self.see("Import two.jsonl into target")
        self.submit()
        self.see('two.jsonl:1: document "a" already exists; skip or replace such documents')
        self.named("choice", "skip").click()
        self.submit()
        self.see("1 document imported, 1 skipped.")
        self.press("Close")
        self.choose("two.jsonl", '{"_id": "a", "n": 2}\n{"_id": "b"}\n')
        self.named("choice", "replace").click()
        self.submit()
        self.see("0 documents imported, 2 replaced.")
        self.assertEqual(self.send("GET", "/target/a")["n"], 2)

    def test_a_file_is_dropped_on_the_documents(self):
        self.fill("dropped", [{"_id": "a"}])
        self.open("dropped")
        self.see("1 document")
        self.drop(("more.json.gz", gzip.compress(b'[{"_id": "b"}, {"_id": "c"}]')), on=".scroller")
        self.see("Import more.json.gz into dropped")
        self.submit()
        self.see("2 documents imported.")
        self.press("Close")
        self.see("3 documents")
        self.drop(("a.json", "{}"), ("b.json", "{}"))
        self.see("Drop one file at a time.")
        # The other views of a store take it, too.
        for view, text in () if self.size == PHONE else (("schema", "No document has a field."), ("groups", "that match"), ("indexes", "There are no indexes."),
                           ("conflicts", "Conflicts"), ("changes", "Changes")):
            self.open("dropped", view)
            self.see(text)
            self.drop((f"{view}.json", "{}"))
            self.see(f"Import {view}.json into dropped")
        # Where no store is shown, nothing listens.
        self.open(None, "replications")
        self.see("Replications")
        self.drop(("a.json", "{}"))
        self.assertEqual(self.all("dialog[open]:not(#login)"), [])

    def test_a_file_is_seen_before_it_is_imported(self):
        self.fill("previewed", [{"_id": "ann", "age": 7}])
        self.open("previewed")
        self.see("1 document")
        people = ("people.csv", "name;id;age\nAnn;ann;7\nBob;bob;8\n")
        self.drop(people)
        self.see("A table, separated by semicolons. The first 2 documents:", "Bob", "1 of the first 2 documents exist in the store; the import ends")
        self.assertEqual(self.named("field", "Ids").get_attribute("value"), "id")
        for size, colors in ((PHONE, "dark"), (WIDE, "light")):
            self.set_view(size, colors)
            self.check_view("a preview")
        self.named("choice", "skip").click()
        self.see("they stay as they are.")
        self.submit()
        self.see("1 document imported, 1 skipped.")
        self.press("Close")
        self.drop(("cut.jsonl", '{"_id": "a"}\n{"_id": '))
        self.see("The first 1 document:", "cut.jsonl:2:")
        self.press("Cancel")
        # Without ids, the same file would be imported twice.
        towns = ("towns.csv", "town,people\nOslo,700000\nBern,\n")
        self.drop(towns)
        self.see("The first 2 documents:")
        self.assertEqual(self.named("field", "Ids").get_attribute("value"), "")
        self.submit()
        self.see("2 documents imported.")
        self.press("Close")
        self.drop(towns)
        self.see("Documents equal to the first rows are in the store already.")
        self.named("field", "Ids").send_keys("town")
        self.wait(lambda: "equal to the first rows" not in self.text, "the notice is gone")
        self.named("field", "Separator").send_keys("semicolons")
        self.see("town,people")
        self.press("Cancel")
        self.drop(("broken.jsonl", '{"_id": "a"}\n{"_id": }\n'))
        self.see("broken.jsonl:2:9: ")
        self.press("Cancel")

    def test_a_backup(self):
        self.open()
        self.open_menu("contacts")
        link = self.named("link", "Back up")
        content = self.browser.execute_async_script(
            """const [address, done] = arguments
            fetch(address).then(reply => reply.bytes ? reply.bytes() : reply.arrayBuffer()).then(bytes =>
              done(btoa(Array.from(new Uint8Array(bytes), byte => String.fromCharCode(byte)).join(''))))""",
            link.get_attribute("href"))
        with tarfile.open(fileobj=io.BytesIO(base64.b64decode(content))) as archive:
            self.assertEqual(archive.getnames(), ["contacts-backup/00000001.jsonl"])
            self.assertIn(b'"_id":"p7"', archive.extractfile(archive.getmembers()[0]).read())

    def test_hostile_names(self):
        self.open()
        self.see("contacts")
        name = "<img src=x onerror=alert(1)>\u202e\u200b../\u0007.csv"
        self.drop((name, "a,b\n1,2,3\n"))
        self.see("Import <img src=x onerror=alert(1)>\\u202e\\u200b")
        self.assertEqual(self.named("field", "Store, which is made if it does not exist").get_attribute("value"), "img_src_x_onerror_alert_1")
        self.submit()
        self.see("\\u202e\\u200b", ":2: the record has 3 cells but the header has 2")
        self.check_view("a hostile name")
        self.write("Store, which is made if it does not exist", "../../etc")
        self.submit()
        self.see("Only lowercase characters")
        self.press("Cancel")
        self.send("PUT", "/a" + "_long" * 39)
        self.see("a" + "_long" * 5)
        self.check_view("a long name")
        self.send("DELETE", "/a" + "_long" * 39)
        self.drop((".csv", "_id\na\n"))
        self.assertEqual(self.named("field", "Store, which is made if it does not exist").get_attribute("value"), "imported")

    def test_an_import_is_stopped(self):
        self.open()
        self.see("contacts")
        self.drop(("large.jsonl", "".join('{"n": %d}\n' % number for number in range(200_000))))
        self.submit()
        self.see("documents imported")
        self.check_view("an import that runs")
        self.keys(Keys.ESCAPE)
        self.press("Cancel")
        self.see("The import was stopped.")
        self.send("DELETE", "/large")


class StoresOnPhone(StoresOnWideScreen):
    size, colors = PHONE, "dark"
    # They show nothing else there.
    test_a_backup = test_an_import_is_stopped = test_documents_that_exist = test_a_file_is_seen_before_it_is_imported = None


class ListOfStores(PageTestCase):
    @classmethod
    def make_stores(cls):
        for store, number in (("contacts", 3_000), ("orders", 120), ("tasks", 7)):
            cls.fill(store, [{"_id": str(at), "number": at} for at in range(number)])
        cls.tool("index", "create", "stores/contacts", "number")

    def test_it_can_be_read(self):
        self.open()
        self.see("contacts", "3,000", "tasks")
        self.set_view((WIDE[0], 350), "light")
        self.picture("stores")
        for self.size, self.colors in ((WIDE, "dark"), (PHONE, "light")):
            self.set_view(self.size, self.colors)
            self.check_view("the stores")
            self.open_menu("orders")
            self.check_view("a menu")
            self.open_menu("orders")

    open_menu = StoresOnWideScreen.open_menu


class EmptyDirectory(PageTestCase):
    def test_it_says_how_to_begin(self):
        for self.size, self.colors in ((WIDE, "light"), (PHONE, "dark")):
            self.set_view(self.size, self.colors)
            self.open()
            self.see("There are no stores here yet.", f"cdtquery import {self.directory}/NAME FILE")
            self.check_view("an empty directory")


class ReadOnlyStores(PageTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program.close()
        cls.look("--read-only")

    @classmethod
    def make_stores(cls):
        cls.fill("contacts", [{"_id": "ann"}])

    def test_nothing_that_changes_is_offered(self):
        self.open()
        self.see("contacts")
        self.find("summary").click()
        self.check_view("read-only stores")
        shown = {element.accessible_name for element in self.all("main button, main summary, main a") if element.is_displayed()}
        self.assertEqual(shown, {"contacts", "0 indexes of contacts", "Actions for contacts", "Back up"})
        for store in (None, "contacts"):
            self.open(store)
            self.see("contacts", "ann" if store else "Documents")
            self.run_script(DROP, self.find("main"), [["a.json", ""]])
            self.see("This server is read-only.")


class UsersOfStores(PageTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.serve_with_users({"zoe": []})

    def test_somebody_who_is_no_admin_sees_no_buttons(self):
        self.open()
        self.see("Log in")
        self.write("Name", "zoe")
        self.write("Password", "correct horse")
        self.find("#login button").click()
        self.see("There are no stores here that you may read.")
        shown = {element.accessible_name for element in self.all("main button") if element.is_displayed()}
        self.assertEqual(shown, set())
        self.browser.get_log("browser")
