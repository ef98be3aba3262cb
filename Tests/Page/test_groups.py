"""Groups of documents, as a chart and with their plan."""

from page import PHONE
from people import PeopleTestCase


class Groups(PeopleTestCase):
    def test_groups_as_a_bar_chart(self):
        self.open("contacts", "groups")
        self.write("Group by", "pet.species")
        self.press("Group")
        self.see("cat", "2,000", "dog", "1,000", "absent")
        bars = [bar.size["width"] for bar in self.all(".bar")]
        self.assertAlmostEqual(bars[0] / bars[1], 2, delta=0.1)
        self.check_view("groups")
        self.picture("groups")
        self.named("field", "Show the").send_keys("average")
        self.write("of the field", "age")
        self.press("Group")
        self.see("The average of age by pet.species")
        self.write("Selector", '{"age": {"$gtt": 1}}')
        self.press("Group")
        self.see('unknown operator "$gtt"')

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
