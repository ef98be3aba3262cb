"""The table of documents, which Documents and the results of a query have in common, and JSON as people read it."""

import json

from page import ALL, PHONE, WIDE, ActionChains, By, Keys, PageTestCase

CITIES = ["Genève", "London", "Oslo"]
WHEN = "2026-08-09T02:59:00.000Z"
REVISION = "2-0123456789abcdef0123456789abcdef"


def orders(count):
    return [{"_id": f"order-{number:04}", "state": "shipped", "total": number * 7.25 % 1000, "when": WHEN,
             "customer": {"name": f"Customer {number}", "city": CITIES[number % 3]}, "note": f"Word {number} " * 30}
            for number in range(count)]


class Tables(PageTestCase):
    @classmethod
    def make_stores(cls):
        cls.fill("orders", orders(60))
        cls.fill("files", [{"_id": "report", "inner": {"text": "a text that is too long for one line", "list": [{"deep": True}]}}])

    def open_results(self, **parameters):
        self.open("orders", "documents", **{"selector": ALL, **parameters})
        self.see("of 60")

    def columns(self):
        return [header.get_attribute("textContent").rstrip(" ↑↓") for header in self.all("thead th")]

    def column(self, name):
        at = self.columns().index(name) + 1
        return [cell.text for cell in self.all(f"tbody td:nth-child({at})")]

    def both(self):
        """Opens the table of Documents, and then that of results."""
        self.open("orders")
        self.see("order-0001", "shipped")
        yield "Documents"
        self.open_results()
        yield "Results"

    def test_rows_have_one_line_and_columns_are_paths(self):
        for what in self.both():
            self.assertEqual(self.columns()[:6], ["_id", "state", "total", "when", "customer.name", "customer.city"], what)
            heights = self.run_script("return [...new Set([...document.querySelectorAll('tbody tr')].map(row => row.offsetHeight))]")
            self.assertEqual(heights, [32], what)
            self.assertEqual(self.column("when")[0], "2026-08-09 02:59", what)
            self.assertEqual(self.find("tbody td.date").get_attribute("title"), WHEN)
            note = next(cell for cell in self.all("tbody tr:nth-child(2) td") if cell.text.startswith("Word"))
            self.assertEqual(self.run_script("return getComputedStyle(arguments[0]).textOverflow", note), "ellipsis")
            self.assertIn("Word 1 Word 1", note.get_attribute("title"))
            # Numbers stand at the right, below their name.
            for selector in ("tbody td.number", "thead th.number"):
                self.assertEqual(self.run_script("return getComputedStyle(arguments[0]).textAlign", self.find(selector)), "end")
            self.check_view(what)

    def test_nested_fields_are_chosen_as_columns(self):
        for what in self.both():
            self.assertEqual(self.column("customer.city")[:3], CITIES)
            self.menu("Columns")
            self.click("choice", "customer.city")
            self.wait(lambda: "customer.city" not in self.columns(), "one column less")
            # What was chosen stays while the page is open.
            self.click("link", "Changes")
            self.see("Written")
            self.browser.back()
            self.wait(lambda: "customer.name" in self.columns() and "customer.city" not in self.columns(), f"the columns of {what}")

    def test_a_header_sorts(self):
        self.open("orders")
        self.see("order-0001", "shipped")
        self.assertEqual(self.find("thead th").get_attribute("aria-sort"), "ascending")
        self.press("total")
        # The query for it.
        self.see("Results 1 to 50 of 60")
        self.assertIn("sort=total", self.browser.current_url)

        def totals():
            return [float(text) for text in self.column("total")]

        def state():
            header = next(header for header in self.all("thead th") if header.text.startswith("total"))
            return header.get_attribute("aria-sort")

        self.wait(lambda: state() == "ascending" and totals() == sorted(totals()), "the order of the totals")
        self.named("button", "total").send_keys(Keys.ENTER)
        self.wait(lambda: state() == "descending" and totals() == sorted(totals(), reverse=True), "the reverse order")
        # The header keeps the focus.
        self.assertIn("total", self.run_script("return document.activeElement.textContent"))
        self.named("button", "total").send_keys(Keys.ENTER)
        self.wait(lambda: state() == "none" and self.column("_id")[0] == "order-0000", "the order of the ids")
        self.assertNotIn("sort=", self.browser.current_url)

    def test_widths_are_dragged_and_set_by_keyboard(self):
        for what in self.both():
            def widths():
                return self.run_script("return [...document.querySelectorAll('thead th')].map(th => th.offsetWidth)")

            before = widths()
            grip = self.find("thead th:nth-child(2) .grip")
            ActionChains(self.browser).drag_and_drop_by_offset(grip, 60, 0).perform()
            self.wait(lambda: abs(widths()[1] - before[1] - 60) <= 2, f"a wider column in {what}: {before}")
            self.assertEqual(widths()[2:], before[2:])
            self.named("button", "state").send_keys(Keys.SHIFT + Keys.ARROW_LEFT)
            self.wait(lambda: abs(widths()[1] - before[1] - 44) <= 2, "a narrower column")
            # Dragging does not sort.
            self.assertNotIn("sort=", self.browser.current_url)

    def test_the_header_stays(self):
        self.open_results()
        frame = self.find("#results .grid")
        self.run_script("arguments[0].scrollTop = 400", frame)
        gap = self.run_script("return arguments[0].querySelector('th').getBoundingClientRect().y - arguments[0].getBoundingClientRect().y", frame)
        self.assertLessEqual(abs(gap), 2)

    def test_a_phone_shows_cards(self):
        self.addCleanup(self.set_view, WIDE, "light")
        for colors in ("light", "dark"):
            self.set_view(PHONE, colors)
            for what in self.both():
                self.assertFalse(self.find("thead").is_displayed())
                card = self.find("tbody tr:nth-child(2)")
                self.assertEqual(card.text.split("\n")[:4], ["order-0001", "shipped", "7.25", "2026-08-09 02:59"], what)
                label = self.run_script("return getComputedStyle(arguments[0].children[1], '::before').content", card)
                self.assertEqual(label, '"state"')
                self.assertLessEqual(card.size["height"], 220)
                self.check_view(f"cards of {what}")
        self.open("orders")
        self.see("order-0001")
        self.find(".scroller").send_keys(Keys.END)
        self.see("order-0059")
        bottom = self.run_script("""const all = [...document.querySelectorAll('tbody tr')].find(row => row.textContent.includes('order-0059'))
          return document.querySelector('.scroller').getBoundingClientRect().bottom - all.getBoundingClientRect().bottom""")
        self.assertGreaterEqual(bottom, 0)

    def test_no_word_is_broken(self):
        self.addCleanup(self.set_view, WIDE, "light")
        self.send("POST", "/files/_bulk_docs", {"new_edits": False, "docs": [{"_id": "report", "_rev": REVISION, "n": 1}]})
        for size in (WIDE, PHONE):
            self.set_view(size, "light")
            for store, view, parameters in [
                ("orders", "documents", {}), ("orders", "documents", {"selector": ALL}), ("orders", "groups", {"by": "customer.city"}),
                ("files", "document", {"id": "report"}), ("files", "changes", {}), ("files", "conflicts", {}), (None, "", {}),
            ]:
                self.open(store, view, **parameters)
                self.wait(lambda: len(self.all("main *")) > 3, f"the view {view}")
                if parameters:
                    self.wait(lambda: self.all("tbody tr"), "rows")
                self.check_layout(f"{view} at {size}")

    def test_revisions_are_short_and_whole_on_hover(self):
        self.send("POST", "/files/_bulk_docs", {"new_edits": False, "docs": [{"_id": "hashed", "_rev": REVISION, "n": 1}]})
        for view, parameters in [("document", {"id": "hashed"}), ("changes", {}), ("documents", {"selector": '{"n": 1}', "fields": "_rev, n"})]:
            self.open("files", view, **parameters)
            short = self.wait(lambda: next((e for e in self.all("main bdi[title]") if e.get_attribute("title") == REVISION), None), f"a revision in {view}")
            self.assertEqual(self.run_script("return arguments[0].firstChild.data", short), REVISION[:10])
            # What is copied by hand is the whole.
            self.assertEqual(short.get_attribute("textContent"), REVISION)
            seen = self.run_script("return arguments[0].lastChild.getBoundingClientRect().width", short)
            self.assertEqual(seen, 0)

    def test_json_is_folded_colored_and_copied(self):
        stub = {"content_type": "text/plain", "data": "YQ=="}
        self.send("PUT", "/files/folded", {"inner": {"text": "a text that is too long for one line", "n": 1}, "_attachments": {"a.txt": stub}})
        self.open("files", "document", id="folded")
        self.see('"inner": {', "a.txt")
        content = self.find("#document-json")
        # The attachments are in their own list.
        self.assertNotIn("_attachments", content.text)
        self.assertNotIn("digest", content.text)
        colors = self.run_script("return ['.key', '.string', '.numeral'].map(kind => getComputedStyle(arguments[0].querySelector(kind)).color)", content)
        self.assertEqual(len(set(colors)), 3)
        self.find("#document-json summary").send_keys(Keys.ENTER)
        self.wait(lambda: "too long" not in content.text, "the folded object")
        self.assertIn('"inner": {', content.text)
        self.browser.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        self.menu("Copy")
        self.press("JSON")
        self.see("Copied.")
        copied = self.browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
        self.assertEqual(json.loads(copied)["inner"]["n"], 1)
        self.assertEqual(len(json.loads(copied)["_rev"]), 34)
        # They are not edited as text, and stay.
        self.press("Edit")
        field = self.named("field", "The document as JSON")
        self.assertNotIn("_attachments", field.get_attribute("value"))
        field.send_keys(Keys.CONTROL + Keys.ENTER)
        self.see("Saved.", "a.txt")
        self.assertEqual(list(self.send("GET", "/files/folded")["_attachments"]), ["a.txt"])
