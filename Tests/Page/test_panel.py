"""The document that is open beside the table, a cell that is edited in its place, and the keys."""

from page import ALL, PHONE, WIDE, ActionChains, Keys, PageTestCase


class Panel(PageTestCase):
    @classmethod
    def make_stores(cls):
        cls.fill("orders", [{"_id": f"order-{number:03}", "state": ["open", "paid"][number % 2], "total": number * 1.5, "note": f"line {number}",
                             "customer": {"city": "Oslo"}} for number in range(200)])
        cls.fill("wide", [{"_id": f"d{number}", **{f"field{at:02}": at for at in range(30)}, **({f"rare{number}": 1})} for number in range(9)])
        cls.fill("blank", [{"_id": "a"}])
        cls.tool("delete", "stores/blank", "a")

    def both(self):
        """All documents, and those that a filter finds."""
        for parameters, sees in [({}, "200 documents"), ({"selector": ALL}, "Results 1 to 50 of 200")]:
            self.open("orders", "documents", **parameters)
            self.see(sees, "order-003")
            yield

    def row(self, id):
        return next(row for row in self.all("tbody tr") if row.text.startswith(id))

    def shown(self):
        headings = self.all(".panel h2")
        return headings[0].text if headings else None

    def wait_for_panel(self, id):
        self.wait(lambda: self.shown() == id and "Written" in self.text, f"the panel of {id}")

    def focused(self):
        return self.run_script("return document.activeElement.textContent")

    def test_a_row_opens_a_panel(self):
        for _ in self.both():
            self.row("order-003").find_elements("css selector", "td")[1].click()
            self.wait_for_panel("order-003")
            self.assertEqual(self.row("order-003").get_attribute("aria-current"), "true")
            self.assertIn("open=order-003", self.browser.current_url)
            self.press("Next row")
            self.wait_for_panel("order-004")
            self.press("Previous row")
            self.wait_for_panel("order-003")
            self.check_view("an open document")
            self.press("Close the document")
            self.wait(lambda: self.shown() is None, "no panel")
            self.assertEqual(self.focused(), "order-003")
            self.assertNotIn("open=", self.browser.current_url)

    def test_keys_go_through_the_rows(self):
        for _ in self.both():
            self.find("body").send_keys("/")
            self.assertEqual(self.run_script("return document.activeElement.localName"), "textarea")
            link = self.find("tbody a[tabindex='0']")
            self.run_script("arguments[0].focus()", link)
            self.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP)
            self.assertEqual(self.focused(), "order-001")
            self.keys(Keys.ENTER)
            self.wait_for_panel("order-001")
            self.keys(Keys.ARROW_DOWN)
            self.wait_for_panel("order-002")
            self.assertEqual(self.focused(), "order-002")
            # As far as there are rows, also those that are not yet in the page.
            for _ in range(40):
                self.keys(Keys.ARROW_DOWN)
            self.wait_for_panel("order-042")
            self.assertEqual(self.focused(), "order-042")
            self.keys(Keys.ESCAPE)
            self.wait(lambda: self.shown() is None, "no panel")
            self.assertEqual(self.focused(), "order-042")

    def edit(self, id, path, text):
        names = [th.get_attribute("data-path") for th in self.all("thead th")]

        def begin():
            ActionChains(self.browser).double_click(self.row(id).find_elements("css selector", "td")[names.index(path)]).perform()
            return self.browser.find_element("css selector", ".editing input")

        # The rows may be made again just then.
        field = self.wait(begin, f"the field of {path}")
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text)
        return field

    def test_a_cell_is_edited_in_its_place(self):
        for number, _ in enumerate(self.both()):
            self.edit("order-003", "state", f"late {number}").send_keys(Keys.ENTER)
            self.see("Saved.")
            self.assertEqual(self.send("GET", "/orders/order-003")["state"], f"late {number}")
            self.wait(lambda: f"late {number}" in self.row("order-003").text, "the new value")
            # A text stays one, and a number is JSON.
            self.edit("order-004", "state", "7").send_keys(Keys.ENTER)
            self.wait(lambda: self.send("GET", "/orders/order-004")["state"] == "7", "a text")
            field = self.edit("order-005", "total", "many")
            field.send_keys(Keys.ENTER)
            self.see("write the value as JSON")
            self.check_view("a cell with an error")
            field.send_keys(Keys.CONTROL, "a")
            field.send_keys("12.50", Keys.ENTER)
            self.wait(lambda: "12.50" in self.tool("get", "stores/orders", "order-005"), "the number as it was written")
            self.edit("order-006", "customer.city", "Bern").send_keys(Keys.ESCAPE)
            self.assertEqual(self.send("GET", "/orders/order-006")["customer"]["city"], "Oslo")
            self.assertEqual(self.shown(), None)
            # Nobody's value is overwritten that was not seen.
            field = self.edit("order-007", "note", "mine")
            now = self.send("GET", "/orders/order-007")
            self.send("PUT", "/orders/order-007", {**now, "note": f"theirs {number}"})
            field.send_keys(Keys.ENTER)
            self.see("The value was changed meanwhile")
            field.send_keys(Keys.ESCAPE)
            self.assertEqual(self.send("GET", "/orders/order-007")["note"], f"theirs {number}")

    def test_fields_that_most_documents_have_are_columns(self):
        for parameters in ({}, {"selector": ALL}):
            self.open("wide", "documents", **parameters)
            self.see("field29", "9 hidden")
            names = [th.get_attribute("data-path") for th in self.all("thead th")]
            self.assertEqual(len(names), 31)

    def test_an_empty_store_says_what_to_do(self):
        self.open("blank")
        self.see("This store has no documents yet", "Drop a file here")
        self.check_view("an empty store")
        self.send("PUT", "/blank/first", {"n": 1})
        self.see("1 document", "first")

    def test_a_phone_opens_a_page(self):
        self.addCleanup(self.set_view, WIDE, "light")
        self.set_view(PHONE, "dark")
        self.open("orders")
        self.see("order-003")
        self.row("order-003").find_elements("css selector", "td")[1].click()
        self.wait(lambda: self.find("h1").text == "order-003", "the page of the document")
        self.press("Stores and places")
        next(link for link in self.all("#rail a") if link.text.startswith("wide")).click()
        self.see("9 documents")
        self.assertEqual(self.find("#place").text, "wide ▸ Documents")
