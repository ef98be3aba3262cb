"""Documents that try to be more than documents: what is in them is shown as text, and nothing of it runs."""

import json

from page import ALL, Keys, PageTestCase

MARKUP = "<b class=hostile>b</b><img src=x onerror=hacked=1>"
SCRIPT = "</script><script>hacked=1</script>${hacked=1}"
# The letters after U+202E are shown from right to left, so that this would end in "txt.exe" for the eye.
TURNED = "\u202eexe.txt\u202c \u05e9\u05dc\u05d5\u05dd\u200b"
SHOWN_TURNED = "\\u202eexe.txt\\u202c \u05e9\u05dc\u05d5\u05dd\\u200b"
PROTOTYPE = "__proto__"
HOSTILE = {"markup": (MARKUP, MARKUP), "script": (SCRIPT, SCRIPT), "direction": (TURNED, SHOWN_TURNED)}


class HostileData(PageTestCase):
    @classmethod
    def make_stores(cls):
        for number, (given, _) in enumerate(HOSTILE.values()):
            cls.fill("ids", [{"_id": given, "n": 1}])
            cls.fill("names", [{"_id": f"d{number}", given: number, "inner": {given: [given]}}])
            cls.fill("values", [{"_id": f"d{number}", "text": given, "list": [given, {"a": given}]}])
        cls.fill("names", [{"_id": "prototype", "inner": {PROTOTYPE: {"polluted": 1}}, "constructor": "c", "toString": "s"}])
        cls.fill("ids", [{"_id": "..", "n": 1}, {"_id": "a/b?c#d%2e&e=f", "n": 2}, {"_id": "\u0001\n\ttab", "n": 3}])
        # Fields, long names, and long strings.
        cls.fill("many", [{"_id": "fields", **{f"field {number}": number for number in range(10_000)}}])
        cls.fill("many", [{"_id": "name", "n" * 200_000: 1}])
        cls.fill("long", [{"_id": "text", "text": "x" * 10_000_000, "after": "end"}, {"_id": "z", "text": "short"}])
        cls.fill("files", [{"_id": "files"}])

    def tearDown(self):
        super().tearDown()
        self.assertIsNone(self.run_script("return window.hacked ?? null"), "a script of a document has run")

    def check_inert(self):
        found = self.run_script("return [...document.querySelectorAll('main .hostile, main script, main img[src=x], main b')].map(e => e.outerHTML)")
        self.assertEqual(found, [])
        self.assertIsNone(self.run_script("return window.hacked ?? null"))
        self.assertIsNone(self.run_script("return Object.prototype.polluted ?? null"))

    def each_view(self, store, *texts, **query):
        """Opens what lists the documents of a store, and looks for texts there."""
        for view, parameters in [("documents", {}), ("documents", {"as": "JSON"}), ("documents", {"selector": ALL, **query}), ("changes", {})]:
            self.open(store, view, **parameters)
            if view != "changes":
                self.see(*texts)
            self.check_inert()

    def test_ids(self):
        for _, shown in HOSTILE.values():
            self.open("ids")
            self.click("link", shown)
            self.wait(lambda: shown in self.find("h1").text, shown)
            self.see("Revisions", "winner")
            self.check_inert()
        self.each_view("ids", *[shown for _, shown in HOSTILE.values()])

    def test_ids_that_no_path_can_have_are_opened_and_edited(self):
        for given, shown in [("..", ".."), ("a/b?c#d%2e&e=f", "a/b?c#d%2e&e=f"), ("\u0001\n\ttab", "\\u0001 tab")]:
            self.open("ids", "document", id=given)
            self.wait(lambda: self.find("h1").text == shown, shown)
            self.press("Edit")
            field = self.named("field", "The document as JSON")
            field.send_keys(Keys.CONTROL, Keys.END)
            field.send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT, ', "edited": true')
            self.press("Save")
            self.see('"edited": true', "2-")
            self.check_inert()

    def test_names(self):
        # The accessibility tree and the text have the names as they are.
        self.each_view("names", MARKUP, SCRIPT, SHOWN_TURNED)
        for number, (given, shown) in enumerate(HOSTILE.values()):
            self.open("names", "document", id=f"d{number}")
            self.see("Revisions")
            self.check_inert()
            self.open("names", "groups", by=given.replace("\\", "\\\\").replace(".", "\\."))
            self.check_inert()
        self.open("names", "document", id="prototype")
        self.see('"__proto__": {', '"polluted": 1')
        self.check_inert()

    def test_values(self):
        self.each_view("values", MARKUP, SCRIPT, SHOWN_TURNED)
        self.open("values", "groups", by="text")
        self.see(MARKUP, SCRIPT, SHOWN_TURNED)
        self.check_inert()
        self.send("POST", "/values/_index", {"index": {"fields": ["text"]}, "name": MARKUP})
        self.open("values", "indexes")
        self.see(MARKUP)
        self.find("summary").click()
        self.check_inert()
        self.open("values", "documents", selector=json.dumps({"text": MARKUP}))
        self.see("Results 1 to 1 of 1")
        self.explain()
        self.see("Plan", MARKUP)
        self.check_inert()

    def test_markup_in_an_error(self):
        self.open("values", "documents", selector=json.dumps({"text": {"$" + MARKUP: 1}}))
        self.see("unknown operator")
        self.check_inert()
        self.open(MARKUP)
        self.see("Database does not exist.")
        self.check_inert()

    def test_attachment_names_and_types(self):
        status = self.browser.execute_async_script(
            """const [names, types, done] = arguments
            const data = btoa('<script>hacked=1</script>')
            const files = Object.fromEntries(names.map((name, at) => [name, {content_type: types[at], data}]))
            fetch('/files/_bulk_docs', {method: 'POST', headers: {'Content-Type': 'application/json'},
              body: JSON.stringify({docs: [{_id: 'hostile', _attachments: files}]})}).then(async r => done(await r.text()))""",
            [MARKUP, "script", TURNED, "picture", "html"],
            ["text/html", "image/svg+xml; " + SCRIPT, "application/pdf\u202e", "image/png", "application/xhtml+xml"])
        self.assertIn('"ok":true', status)
        self.open("files", "document", id="hostile")
        self.see("Attachments", MARKUP, "script", SHOWN_TURNED)
        self.check_inert()
        for name in ("script", "picture", "html"):
            self.press(f"Show {name}")
            self.find("#attachment h3")
            self.check_inert()
        # A file that is opened by its address runs nothing either.
        self.browser.get(self.base.replace("/_utils/", "/files/hostile/html"))
        self.assertIsNone(self.run_script("return window.hacked ?? null"))
        self.browser.get_log("browser")

    def test_ten_thousand_fields(self):
        self.each_view("many", "fields")
        self.open("many", "document", id="fields")
        self.see('"field 0": 0')
        next(button for button in self.all("button") if button.text.startswith("Show all ")).click()
        self.assertIn('"field 9999": 9999', self.find("#document-json").get_attribute("textContent"))
        self.open("many")
        self.menu("Columns")
        self.see("The other fields are in the documents as JSON.")
        self.assertLessEqual(len(self.all("details.menu input")), 200)
        self.assertLessEqual(len(self.all("#main *")), 1_700)

    def test_strings_of_ten_megabytes(self):
        self.open("long")
        self.see("too long for a row", "z", "short")
        self.click("link", "text")
        self.see("(10,000,000 characters)", '"after": "end"')
        self.assertLess(self.run_script("return document.body.textContent.length"), 50_000)
        self.press("Edit")
        self.see("The document is too long to be edited here")
        self.open("long", "documents", selector=ALL)
        self.see("Results 1 to 2 of 2")
        self.click("choice", "JSON")
        self.see("too long to be shown")
        self.open("long", "documents", selector='{"text": "short"}', fields="text")
        self.see("short")
