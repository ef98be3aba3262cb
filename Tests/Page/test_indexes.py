"""Indexes, which are made, measured and deleted, also from the plan of a query."""

from page import PHONE
from people import PeopleTestCase


class Indexes(PeopleTestCase):
    def test_plan_as_a_tree_and_an_index_made_for_it(self):
        self.open("contacts", "documents", selector='{"$or": [{"city": "Bergen"}, {"name": "Person 7"}], "age": {"$lt": 50}}')
        self.see("Results 1 to")
        self.explain()
        self.see("any of", 'index "by_city": city at one value', 'index "by_name"', "estimated", "actual 1 row, 1 document", "The matcher decided")
        self.check_view("a plan of two sources")
        self.open("planned", "documents", selector='{"age": {"$lt": 3}}')
        self.see("no index")
        self.explain()
        self.see("every document", "actual 1,000 documents", "Indexes not used", "by_city", "An index on age would help.")
        self.check_view("a plan")
        self.picture("plan", "#plan")
        self.press("Make this index")
        self.see("Plan before and after the index", "Before", "After", "age in a range", "actual 30 rows, 30 documents")
        self.assertEqual(len(self.all(".beside .plan")), 2)
        self.check_view("two plans")
        self.picture("plans", "#plan")
        self.send("POST", "/planned/_index/_delete", {"ddoc": "age", "name": "age"})

    def test_indexes_are_listed_if_they_take_too_long_to_measure(self):
        self.open("contacts", "changes")
        self.find("#changes")
        self.run_script("""
          const real = window.fetch
          window.fetch = (address, options) => address.includes('statistics=true')
            ? Promise.resolve(new Response('{"error": "timeout", "reason": "Measuring took longer."}', {status: 503})) : real(address, options)""")
        self.click("link", "Indexes")
        self.see("Measuring took longer.", "Values of city")
        self.assertNotIn("entries", self.text)
        self.named("button", "Delete by_city")

    def test_indexes_are_made_built_again_and_deleted(self):
        self.open("contacts", "indexes")
        self.see("by_city", "3,001 entries")
        self.find("summary").click()
        self.see("About 4 distinct values.", '"Berlin"', "25 %")
        self.check_view("indexes")
        self.picture("indexes")
        self.write("Fields", "age:desc, name")
        self.write("Name", "ages")
        self.press("Make the index")
        self.see("age descending, name")
        self.write("Fields", "city")
        self.write("Name", "ages")
        self.press("Make the index")
        self.see('There is an index with the name "ages"; delete it first, or choose another name.')
        self.see("age descending, name")
        self.press("Rebuild ages")
        self.see("The index is complete.")
        self.press("Delete ages")
        self.see("Delete the index?")
        self.find("dialog[open] button:not([type])").click()
        self.wait(lambda: "age descending" not in self.text, "the index is gone")
        self.assertNotIn("ages", self.tool("index", "list", "stores/contacts"))

    def test_settings_of_an_index_are_shown(self):
        # JavaScript has no such number.
        index = {"fields": ["name"], "unique": True, "collation": "unicode", "partial_filter_selector": {"age": {"$ne": 9007199254740993}}}
        self.send("POST", "/planned/_index", {"index": index, "name": "names", "ddoc": "names"})
        self.open("planned", "indexes")
        self.see("; unique", "; collation unicode", "; only documents that match", "9007199254740993")
        self.send("POST", "/planned/_index/_delete", {"ddoc": "_design/names", "name": "names"})


class IndexesOnPhone(Indexes):
    size, colors = PHONE, "dark"
