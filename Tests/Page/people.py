"""The stores that many tests of the page look at: people with an age and a city, and tasks."""

import json

from selenium.common.exceptions import NoAlertPresentException

from page import PageTestCase


def people(count):
    cities = ["Berlin", "Oslo", "Paris", "Rome"]
    return [
        {"_id": f"person-{number:05}", "name": f"Person {number}", "age": number * 7 % 100, "city": cities[number % 4],
         "pet": {"species": "cat" if number % 3 else "dog"}, "tags": ["a", "b"][:number % 3]}
        for number in range(count)
    ]


class PeopleTestCase(PageTestCase):
    @classmethod
    def make_stores(cls):
        cls.fill("contacts", people(3_000) + [{"_id": "zoe", "name": "Zoe", "age": 36, "city": "Bergen"}])
        cls.fill("planned", people(1_000))
        for store in ("contacts", "planned"):
            cls.tool("index", "create", f"stores/{store}", "city", "--name", "by_city")
        cls.tool("index", "create", "stores/contacts", "name", "--name", "by_name")
        for store in ("tasks", "watched"):
            cls.fill(store, [{"_id": f"task-{number}", "text": f"Task {number}", "done": number % 2 == 0} for number in range(30)])
        # Documents that are changed as a replication does it.
        cls.fill("torn", [{"_id": name, "name": "both", "age": 1, "city": "Oslo"} for name in ("merged", "compared")])

    def row(self, store):
        return next((row.text for row in self.all("tbody tr") if row.text.split()[0] == store), "")

    def value_with(self, name, **changes):
        document = json.loads(self.tool("get", "stores/tasks", name))
        return json.dumps({**document, **changes})

    def question(self):
        try:
            return self.browser.switch_to.alert
        except NoAlertPresentException:
            return None
