"""Groups of documents, as a chart and with their plan."""

import json

from page import PHONE
from people import PeopleTestCase


class Groups(PeopleTestCase):
    @classmethod
    def make_stores(cls):
        super().make_stores()
        cls.fill("sales", [{
            "at": f"2026-{number % 6 + (1 if number % 6 < 3 else 2):02d}-{number % 28 + 1:02d}T{number % 24:02d}:{number % 60:02d}:00Z",
            "who": f"{'ABC'[number % 3]}{number}", "total": number % 5 if number % 10 else "n/a", "big": 9007199254740993,
        } for number in range(1_200)] + [{"who": 7}])

    def rows(self):
        return [tuple(row.text.split()) for row in self.all("#chart tbody tr")]

    def test_groups_as_a_bar_chart(self):
        self.open("contacts", "groups")
        # A view without a field says what can be done.
        self.see("or begin with one of these:", "count by the elements of tags")
        self.check_view("groups to begin with")
        self.named("link", "sum of age by pet.species").click()
        self.see("sum of age", "cat")
        self.open("contacts", "groups")
        self.write("Group by", "pet.species")
        self.press("Show")
        self.see("cat", "2,000", "dog", "1,000", "absent", "3 groups.")
        bars = [bar.size["width"] for bar in self.all(".bar")]
        self.assertAlmostEqual(bars[0] / bars[1], 2, delta=0.1)
        self.check_view("groups")
        self.picture("groups")
        self.named("field", "Show the").send_keys("average")
        self.write("of the field", "age")
        self.press("Show")
        self.see("average of age")
        # As in other views, a selector need not be JSON.
        self.write("Selector", "age > 90")
        self.press("Show")
        self.wait(lambda: "absent" not in self.text, "the groups of the matching documents")
        self.write("Selector", '{"age": {"$gtt": 1}}')
        self.press("Show")
        self.see('unknown operator "$gtt"')

    def test_times_are_grouped_by_a_unit(self):
        self.open("sales", "groups", by="at")
        self.see("7 groups.")
        self.assertEqual(self.named("field", "Unit").get_attribute("value"), "month")
        months = ["2026-01", "2026-02", "2026-03", "2026-05", "2026-06", "2026-07"]
        self.assertEqual(self.rows(), [*((month, "200") for month in months), ("absent", "1")])
        # April has none, and a place.
        self.assertEqual(len(self.all(".plot g, .plot a")), 7)
        self.assertEqual([step.text for step in self.all(".steps span")], ["200", "100", "0"])
        self.check_view("groups over time")
        content = self.saved("Download as CSV")
        self.assertEqual(content.split("\r\n")[:2], ["at,documents", "2026-01,200"])
        self.assertEqual(json.loads(self.saved("Download as JSON"))[-1], {"documents": 1})
        # An average is that of all documents, and big integers are added exactly.
        for show, field, first in (("average", "total", "2.5"), ("sum", "big", "1,801,439,850,948,198,600"), ("greatest", "who", "C998")):
            self.open("sales", "groups", by="at", show=show, field=field)
            # A group without a number has no average.
            self.see("6 groups." if show == "average" else "7 groups.")
            self.assertEqual(self.rows()[0 if show != "greatest" else 3][1:], (first,), show)
        self.open("sales", "groups", by="who", unit="first letter", show="average", field="total")
        self.see("3 groups.")
        self.assertEqual([row[0] for row in self.rows()], ["A", "B", "C"])
        self.named("link", "B").click()
        self.see("of 400")

    def saved(self, label):
        """The content of a file that a button saves."""
        self.run_script("""
          URL.createObjectURL = blob => { blob.text().then(text => { window.saved = text }); return 'about:blank#' }
          HTMLAnchorElement.prototype.click = () => {}""")
        self.find(".sentence summary").click()
        self.press(label)
        content = self.wait(lambda: self.run_script("return window.saved"), "the file")
        self.run_script("delete window.saved")
        return content

    def test_plan_of_groups(self):
        self.open("planned", "groups", by="city")
        self.see("Berlin")
        self.press("Explain")
        self.see("; 4 groups", 'index "by_city": all of it', "actual 1,000 rows, 1,000 documents", "decided nothing; 1,000 documents match",
                 "made from the index alone, in its order",
                 "1,000 index rows, 0 documents")
        self.assertEqual(self.run_script("return document.activeElement.textContent"), "Plan")
        self.check_view("a plan of groups")
        self.write("Group by", "age")
        self.press("Explain")
        self.see("; 100 groups", "every document", "made from the documents", "An index on age would help.",
                 "by_city: the selector has no condition on its fields")
        self.press("Make this index")
        self.see("Plan before and after the index", "made from the index alone")
        self.check_view("two plans of groups")
        self.send("POST", "/planned/_index/_delete", {"ddoc": "age", "name": "age"})
        self.write("Selector", '{"age": {"$gtt": 1}}')
        self.press("Explain")
        self.see('unknown operator "$gtt"')


class GroupsOnPhone(Groups):
    size, colors = PHONE, "dark"
