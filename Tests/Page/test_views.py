"""Every view in both widths and both colors: as a whole, and what it has beside what, as it was accepted in structure.json."""

import json
import os

from page import HERE, PHONE, STRUCTURE, WIDE, PageTestCase

ACCEPTED = os.path.join(HERE, "structure.json")
CONFLICT = [{"_id": "torn", "_rev": "1-aaa", "city": "Oslo", "age": 3}, {"_id": "torn", "_rev": "1-bbb", "city": "Rome", "age": 3}]
# A line for each view: its name, the store, the view with its parameters, what is seen when it is there, and what is then pressed and seen.
VIEWS = [
    ("stores", None, "", {}, "people"),
    ("replications", None, "replications", {}, "no replication"),
    ("documents", "people", "documents", {}, "person-03"),
    ("documents as JSON", "people", "documents", {"as": "JSON"}, "person-03"),
    ("columns", "people", "documents", {}, "person-03", "Columns", "pet.weight"),
    ("documents of no store", "none", "documents", {}, "does not exist"),
    ("document", "people", "document", {"id": "person-01"}, "Written"),
    ("document with attachments", "people", "document", {"id": "files"}, "Written", "Show note.txt", "Buy milk"),
    ("document that is edited", "people", "document", {"id": "person-01"}, "Written", "Edit", "Save"),
    ("document that is deleted", "people", "document", {"id": "person-01"}, "Written", "Delete", "Delete the document?"),
    ("document with a conflict", "people", "document", {"id": "torn"}, "Written"),
    ("merge", "people", "document", {"id": "torn"}, "Written", "Merge them", "Choose for each field"),
    ("new document", "people", "document", {"new": "1"}, "Save"),
    ("schema", "people", "schema", {}, " fields"),
    ("template", "people", "document", {"new": "1", "like": "person-01"}, "Save"),
    ("options", "people", "documents", {}, "person-03", "Options", "Compare strings"),
    ("open document", "people", "documents", {"open": "person-01"}, "Written"),
    ("results", "people", "documents", {"selector": '{"age": {"$gt": 1}}'}, "Results 1 to 50 of"),
    ("what is done with all results", "people", "documents", {"selector": '{"age": {"$gt": 1}}'}, "Results 1 to 50 of", "All results", "Download as CSV"),
    ("history", "people", "documents", {"selector": json.dumps({"$or": [{"note": "a text that is long"}] * 9})}, "No documents match", "Queries", "$or"),
    ("plan", "people", "documents", {"selector": '{"age": 7}'}, "Results 1 to", "Explain", "every document"),
    ("error", "people", "documents", {"selector": '{"age": {"$gtt": 1}}'}, "unknown operator"),
    ("groups", "people", "groups", {"by": "city"}, "Genève"),
    ("indexes", "people", "indexes", {}, "by_city"),
    ("conflicts", "people", "conflicts", {}, "1 document with"),
    ("changes", "people", "changes", {}, "Written"),
]
# Those whose head is compared, too.
WITH_HEAD = ["stores", "documents"]


def people(count):
    cities = ["Genève", "London", "Oslo", "Saint Petersburg"]
    return [{"_id": f"person-{number:02}", "name": f"Person {number}", "age": number, "city": cities[number % 4], "born": "2026-08-09T02:59:00.000Z",
             "note": f"Word {number} " * 30, "pet": {"species": "cat", "weight": number * 1.27}} for number in range(count)]


class Views(PageTestCase):
    @classmethod
    def make_stores(cls):
        files = {"note.txt": {"content_type": "text/plain", "data": "QnV5IG1pbGs="}}
        cls.fill("people", people(60) + [{"_id": "files", "_attachments": files}])
        cls.tool("index", "create", "stores/people", "city", "--name", "by_city")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        

    def setUp(self):
        super().setUp()
        self.addCleanup(self.set_view, WIDE, "light")
        self.open()
        self.see("people")
        self.send("POST", "/people/_bulk_docs", {"new_edits": False, "docs": CONFLICT})

    def test_every_view(self):
        with open(ACCEPTED) as file:
            accepted = json.load(file)
        found = {}
        for name, *view in VIEWS:
            for width, size in [("wide", WIDE), ("phone", PHONE)]:
                self.set_view(size, "light")
                self.show(*view)
                for colors in ("light", "dark"):
                    self.set_view(size, colors)
                    with self.subTest(view=name, width=width, colors=colors):
                        # The names and the layout are the same in both.
                        self.check_view(name) if colors == "light" else self.check_contrast(name)
                        structure = self.run_script(STRUCTURE, name in WITH_HEAD)
                        self.assertEqual(structure, found.setdefault(name, {}).setdefault(width, structure),
                                         "the colors have one structure")
        found = {name: {"both": widths["wide"]} if widths["wide"] == widths["phone"] else widths for name, widths in found.items()}
        if os.environ.get("RECORD_STRUCTURE") == "1":
            with open(ACCEPTED, "w") as file:
                json.dump(found, file, indent=1, ensure_ascii=False)
                file.write("\n")
            accepted = found
        for name, widths in found.items():
            for width, lines in widths.items():
                with self.subTest(view=name, width=width):
                    self.assertEqual("\n".join(lines), "\n".join(accepted.get(name, {}).get(width, [])),
                                     f"the structure of {name!r} has changed; accept it with make test-page TESTS=test_views STRUCTURE=1")
        self.assertEqual(sorted(accepted), sorted(found))


class LongNames(PageTestCase):
    """Names and values that fit nowhere break no view."""

    store, name, field = "a-store-with-a-name-that-is-rather-long-for-the-head", "document-" + "0123456789" * 8, "fieldWithANameThatIsRatherLong" * 3

    @classmethod
    def make_stores(cls):
        files = {f"note-{'x' * 90}.txt": {"content_type": "text/plain", "data": "QnV5IG1pbGs="}}
        cls.fill(cls.store, [{"_id": f"{cls.name}{number}", cls.field: "w" * 100, "city": "v" * 200, "pet": {"species": "c" * 50}} for number in range(5)])
        cls.fill(cls.store, [{"_id": "files", "_attachments": files}])
        cls.tool("index", "create", f"stores/{cls.store}", cls.field, "--name", "by_" + "x" * 80)

    def test_every_view(self):
        self.addCleanup(self.set_view, WIDE, "light")
        self.open()
        self.see(self.store)
        self.send("POST", f"/{self.store}/_bulk_docs", {"new_edits": False, "docs": [
            {"_id": self.name + "9", "_rev": "1-" + letter * 32, "city": letter * 90} for letter in "ab"]})
        selector = lambda name, operator: {"selector": json.dumps({name: {operator: "1"}})}
        for view, parameters, *texts in [
            ("documents", {}, self.name), ("schema", {}, " fields"), ("documents", {"as": "JSON"}, self.name), ("documents", {}, self.name, "Columns", "pet.species"),
            ("document", {"id": self.name + "0"}, "Written", "Delete", "Delete the document?"),
            ("document", {"id": self.name + "9"}, "Written", "Merge them", "Choose for each field"),
            ("document", {"id": "files"}, "Written"), ("groups", {"by": "city"}, "vvv"), ("indexes", {}, "by_x"), ("conflicts", {}, "1 document"),
            ("changes", {}, "Written"), ("documents", selector(self.field, "$gt"), "Results 1", "Explain", "by_x"),
            ("documents", selector(self.field, "$gtt"), "unknown operator"), ("documents", selector(self.field + "s", "$gt"), "did you mean", "Queries", self.field[:20]),
        ]:
            for size in (WIDE, PHONE):
                self.set_view(size, "light")
                with self.subTest(view=view, parameters=parameters, size=size):
                    self.show(self.store, view, parameters, *texts)
                    self.check_view(view)
