"""The fields of a store with their types and values, and the queries that a click on them opens."""

import json
import unittest
import urllib.parse

from page import PHONE, WIDE, Keys, PageTestCase

STATES = ["open", "paid", "shipped", "returned"]


def order(number):
    value = {
        "_id": f"order-{number:04d}", "state": STATES[number % 4], "total": number % 250 if number % 50 else "n/a",
        "placed": f"2026-{number % 9 + 1:02d}-{number % 28 + 1:02d}T10:00:00.000Z", "customer": {"name": f"Anna {number}"},
        "items": [{"sku": f"s{number % 3}", "n": number % 100}], "tags": ["gift"] if number % 2 else [],
    }
    if number % 5 == 0:
        value["note"] = ["<b>x</b>", "long " * 30][number // 5 % 2]
    return value


class Schema(PageTestCase):
    @classmethod
    def make_stores(cls):
        cls.fill("orders", [order(number) for number in range(1_200)])
        cls.fill("odd", [{"_id": "a", "a.b": {"c[]": None, "__proto__": "\u202eabc"}, "$x": [[1], [2, "2"]], "": True, "at": [[1.5, 8.5], [1.5]]}])

    def field(self, name):
        """The line of a field, which is opened."""
        line = self.find(f'li[aria-label="{name}"]')
        toggle = line.find_element("css selector", "h2 button")
        if toggle.get_attribute("aria-expanded") == "false":
            self.run_script("arguments[0].scrollIntoView({block: 'center'})", toggle)
            toggle.click()
        return line

    def opened(self, field, label):
        """Presses what a field has under a name, and returns the selector of the query and the number of its results."""
        self.open("orders", "schema")
        section = self.field(field)
        link = self.wait(lambda: next((a for a in section.find_elements("tag name", "a") if a.accessible_name == label), None), label)
        self.run_script("arguments[0].scrollIntoView({block: 'center'})", link)
        link.click()
        summary = self.wait(lambda: " of " in self.find("#summary").text and self.find("#summary").text, "the number of results")
        parameters = urllib.parse.parse_qs(self.browser.current_url.rpartition("?")[2])
        return json.loads(parameters["selector"][0]), int(summary.partition(" of ")[2].split()[0].replace(",", ""))

    def labels(self, field):
        return [a.accessible_name for a in self.field(field).find_elements("tag name", "a")]

    def test_fields_are_seen_with_types_shares_and_values(self):
        self.open("orders", "schema")
        self.see("1,200 documents, 12 fields")
        if self.size == WIDE:
            self.assertLess(self.all("#schema li")[-1].rect["y"], 600, "the fields are seen without scrolling")
        # A key opens a line, and closes it again.
        self.run_script("document.querySelector('#schema button').focus()")
        for is_open in ("true", "false"):
            self.keys(Keys.ENTER)
            self.assertEqual(self.find("#schema button").get_attribute("aria-expanded"), is_open)
        self.assertIn("4 distinct values", self.field("state").text)
        # The states are counted, the totals are too many.
        self.assertNotIn("sample", self.field("state").text)
        self.assertIn("the shares are those of a sample of", self.field("total").text)
        # In the line, and with the numbers below it.
        self.assertEqual(self.field("state").text.count("25 %"), 8)
        self.assertEqual(self.field("state").text.count("300"), 4)
        for state in STATES:
            self.assertIn(state, self.labels("state"))
        self.assertEqual(self.labels("total")[:2], ["number 98 %", "string 2 %"])
        self.assertIn("In 240 of 1,200 documents; 960 without it, 80 %.", self.field("note").text)
        # Names that all differ are examples, times are months, and numbers are intervals.
        self.assertIn('"Anna 0"', self.labels("customer.name"))
        self.assertEqual([label.partition(":")[0] for label in self.labels("placed")], [f"2026-{month:02d}" for month in range(1, 10)])
        self.assertTrue(any(label.startswith("100 to ") for label in self.labels("total")))
        plot = self.field("items[].n").find_element("css selector", ".plot")
        self.assertEqual([step.text for step in plot.find_elements("css selector", ".steps span")], ["120", "60", "0"])
        ticks = [tick.text for tick in plot.find_elements("css selector", ".ticks span")]
        self.assertEqual((ticks[0], ticks[-1]), ("0", "100"))
        self.check_view("Schema")
        self.picture("schema")

    def test_a_click_opens_the_query(self):
        self.assertEqual(self.opened("state", "paid"), ({"state": "paid"}, 300))
        self.assertEqual(self.opened("total", "string 2 %"), ({"total": {"$type": "string"}}, 24))
        self.assertEqual(self.opened("note", "960 without it, 80 %"), ({"note": {"$exists": False}}, 960))
        self.assertEqual(self.opened("items[].sku", "s1"), ({"items.sku": "s1"}, 400))
        self.assertEqual(self.opened("tags[]", "gift"), ({"tags": "gift"}, 600))
        selector, number = self.opened("placed", next(label for label in self.first_labels("placed") if label.startswith("2026-09")))
        self.assertEqual(selector, {"placed": {"$beginsWith": "2026-09"}})
        self.assertEqual(number, sum(order(n)["placed"].startswith("2026-09") for n in range(1_200)))
        label = next(label for label in self.first_labels("items[].n") if label.startswith("20 to 30"))
        self.assertEqual(self.opened("items[].n", label), ({"items": {"$elemMatch": {"n": {"$gte": 20, "$lt": 30}}}}, 120))

    def first_labels(self, field):
        self.open("orders", "schema")
        return self.labels(field)

    def test_an_index_is_proposed_and_made(self):
        for index in self.send("GET", "/orders/_index")["indexes"][1:]:
            self.send("POST", "/orders/_index/_delete", {"ddoc": index["ddoc"], "name": index["name"]})
        self.open("orders", "schema")
        self.field("placed")
        self.press("Make an index on placed")
        self.see("The index is made.")
        self.open("orders", "schema")
        self.field("placed")
        self.assertFalse(any(b.accessible_name == "Make an index on placed" for b in self.all("button")))
        self.open("orders", "indexes")
        self.see("placed")

    def test_a_bar_of_groups_opens_its_query(self):
        self.open("orders", "groups", by="state,items.sku", unwind="items")
        self.named("link", "paid").click()
        self.see("Results 1 to")
        parameters = urllib.parse.parse_qs(self.browser.current_url.rpartition("?")[2])
        self.assertEqual(json.loads(parameters["selector"][0])["state"], "paid")

    def test_elements_of_an_array_are_grouped(self):
        self.open("orders", "groups", by="items.sku")
        self.see('"items" is an array, and each document is in one group.')
        self.press("Group its elements")
        self.see("elements")
        self.wait(lambda: "is an array" not in self.text, "the hint is gone")

    def test_any_names_and_values_are_shown(self):
        self.open("odd", "schema")
        self.see("1 document")
        self.check_view("Schema of odd names")
        # A value in an array of arrays is found, and a field without a name opens nothing.
        self.assertEqual(self.field("").find_elements("tag name", "a"), [])
        self.assertEqual(self.field("").find_element("tag name", "h2").text, '""')
        self.field("at[][]").find_element("link text", "1.5").click()
        self.see("Results 1 to 1 of 1")
        self.send("PUT", "/empty")
        self.open("empty", "schema")
        self.see("No document has a field.")


class SchemaOnPhone(Schema):
    size, colors = PHONE, "dark"


if __name__ == "__main__":
    unittest.main()
