"""Documents, their attachments and the changes of a store, as they are read, also by keyboard alone."""

from page import PHONE, WIDE, Keys
from people import PeopleTestCase


class Browsing(PeopleTestCase):
    def test_documents(self):
        self.open("contacts")
        self.see("3,001 documents", "person-00000", "Berlin")
        self.check_view("the documents")
        self.picture("documents" if self.size == WIDE else "documents-phone")
        self.assertLessEqual(len(self.all("tr")), 500)
        self.click("choice", "JSON")
        self.see('"species": "dog"', "Results 1 to 50 of 3,001")
        self.check_view("the documents as JSON")
        self.click("choice", "Table")
        self.menu("Columns")
        self.click("choice", "city")
        # A card has three of the five.
        self.see("1 hidden" if self.size == WIDE else "2 hidden")
        self.menu("Columns")
        self.wait(lambda: "city" not in self.find("thead").text, "no column city")
        self.find(".scroller").send_keys(Keys.END)
        self.see("zoe")
        self.find(".scroller").send_keys(Keys.HOME)
        self.see("person-00000")
        self.find(".scroller").send_keys(Keys.ARROW_DOWN)
        self.wait(lambda: "person-00000" not in self.find("tbody").text, "one row further")

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


class BrowsingOnPhone(Browsing):
    size, colors = PHONE, "dark"


PDF = """%PDF-1.1
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj
trailer<</Root 1 0 R>>
"""
