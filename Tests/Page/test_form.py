"""The form of the page: what is beside what, in both widths, and on paper."""

from page import ALL, PHONE, WIDE, Keys, PageTestCase


class Form(PageTestCase):
    @classmethod
    def make_stores(cls):
        cls.fill("orders", [{"_id": f"order-{number}", "n": number} for number in range(30)])

    def setUp(self):
        super().setUp()
        self.addCleanup(self.set_view, WIDE, "light")

    def box(self, selector):
        return self.run_script("const r = arguments[0].getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]", self.find(selector))

    def test_the_head_takes_one_line_in_which_the_open_view_is_seen(self):
        for size in (WIDE, PHONE):
            self.set_view(size, "light")
            for view in ("documents", "changes"):
                self.open("orders", view)
                left, top, right, bottom = self.box("#views [aria-current]")
                self.assertEqual(self.find("header").size["height"], 48)
                self.assertTrue(0 <= left < right <= size[0] and 48 <= top < bottom <= 90, f"{view} at {size}")

    def test_the_revisions_are_beside_where_there_is_room(self):
        for size in (WIDE, PHONE):
            self.set_view(size, "light")
            self.open("orders", "document", id="order-3")
            self.see("Revisions")
            self.check_beside([("#document-json", "section svg")], size)
            self.check_view("a document")

    def check_beside(self, pairs, size):
        for one, other in pairs:
            first, second = self.box(one), self.box(other)
            if size == WIDE:
                self.assertLessEqual(first[2], second[0], f"{other} is at the right")
            else:
                self.assertLessEqual(first[3], second[1], f"{other} is below")

    def test_tables_of_documents_are_not_scrolled_sideways_on_a_phone(self):
        note = {"content_type": "text/plain", "data": "QnV5IG1pbGs="}
        words = "a text of several words " * 5
        self.send("POST", "/orders/_bulk_docs", {"new_edits": False, "docs": [
            {"_id": "torn", "_rev": "1-aaa", "text": words, "n": 1, "_attachments": {"a file with a name of words.txt": note}},
            {"_id": "torn", "_rev": "1-bbb", "text": words * 2, "n": 2, "_attachments": {"a file with a name of words.txt": note, "b.txt": note}}]})
        self.addCleanup(self.send, "DELETE", "/orders/torn?rev=1-aaa")
        self.addCleanup(self.send, "DELETE", "/orders/torn?rev=1-bbb")
        self.set_view(PHONE, "light")
        self.open("orders", "document", id="torn")
        self.see("Written")
        self.check_width(".files")
        self.press("Merge them")
        self.see("Choose for each field")
        self.check_width(".merge")
        rows = self.all(".merge tbody tr")
        labels = [self.run_script("return [...arguments[0].querySelectorAll('td')].map(cell => getComputedStyle(cell, '::before').content)", row) for row in rows]
        self.assertEqual(labels, [['"Winner, 1-bbb"', '"1-aaa"']] * 3)
        for row in rows:
            self.assertTrue(row.find_element("css selector", "input:checked").is_displayed())
        self.check_view("a merge on a phone")
        self.open("orders", "changes")
        self.find("#changes .date time")
        self.check_width(".wide")
        self.check_view("changes on a phone")

    def check_width(self, selector):
        excess = self.run_script("return arguments[0].scrollWidth - arguments[0].clientWidth", self.find(selector))
        self.assertLessEqual(excess, 0, f"{selector} is scrolled sideways")

    def test_the_selector_is_as_tall_as_its_text(self):
        self.open("orders", "documents")
        field = self.named("field", "Filter")
        before = field.size["height"]
        field.send_keys(Keys.CONTROL, Keys.END)
        field.send_keys(Keys.SHIFT + Keys.ENTER * 8)
        self.assertGreater(field.size["height"], before + 100)
        self.assertEqual(*self.run_script("return [arguments[0].clientHeight, arguments[0].scrollHeight]", field))

    def test_on_paper_there_is_the_content_alone(self):
        self.open("orders", "document", id="order-3")
        self.see("Revisions")
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.setEmulatedMedia", {"media": ""})
        self.assertFalse(any(element.is_displayed() for element in self.all("button, nav")))
        self.assertIn('"n": 3', self.find("#document-json").text)
