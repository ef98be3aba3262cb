"""Conflicts, of an edit or stored, which are merged field by field, and revisions that are compared."""

import base64
import json

from page import PHONE
from people import PeopleTestCase


class Merging(PeopleTestCase):
    def test_conflicting_edit_is_told_and_merged(self):
        self.fill("tasks", [{"_id": "shared", "text": "one", "place": "here", "who": {"name": "ann", "age": 3}}])
        self.open("tasks", "document", id="shared")
        self.press("Edit")
        self.write("The document as JSON", self.value_with("shared", text="mine", who={"name": "ann", "age": 4}))
        # Somebody else is faster, in another process.
        self.tool("update", "stores/tasks", '{"_id": "shared"}', "--set", 'place="there"', "--set", 'text="theirs"', "--yes")
        self.press("Save")
        self.see("The document was changed meanwhile", "place", "who.age", "text")
        self.check_view("the fields of a conflict")
        self.picture("merge")
        # What only one side has changed is chosen already.
        chosen = {field.accessible_name for field in self.all("input[type=radio]:checked") if field.is_displayed()}
        theirs = next(name for name in chosen if name.startswith("place of Theirs"))
        self.assertTrue(theirs)
        self.assertIn("who.age of Yours", chosen)
        self.see("2 fields differ from Theirs")
        self.click("choice", "text of Yours")
        self.assertEqual([line.text.strip() for line in self.all("[aria-label='The merged document'] .marked")], ['"text": "mine",', '"who": {"name": "ann", "age": 4}'])
        # Cancel leads back to the text.
        self.press("Cancel")
        self.assertIn('"mine"', self.named("field", "The document as JSON").get_property("value"))
        self.press("Save")
        self.click("choice", "text of Yours")
        self.press("Save the merged document")
        self.see("3-")
        saved = json.loads(self.tool("get", "stores/tasks", "shared"))
        self.assertEqual({name: saved[name] for name in ("text", "place", "who")},
                         {"text": "mine", "place": "there", "who": {"name": "ann", "age": 4}})

    def test_stored_conflict_is_merged(self):
        name = "merged"
        self.send("POST", "/torn/_bulk_docs", {"new_edits": False, "docs": [
            {"_id": name, "_rev": "1-aaa", "name": "both", "age": 2, "city": "Rome"}]})
        self.open("torn", "conflicts")
        self.see("with a conflict. Open one to merge its revisions.")
        self.check_view("the conflicts")
        self.click("link", name)
        self.see("This document has a conflict: 2 revisions are current.")
        self.press("Merge them")
        self.see("Choose for each field what to keep.")
        self.check_view("the merge of a conflict")
        self.click("choice", "age of 1-aaa")
        self.press("Save the merged document")
        self.see("The conflict is resolved.", "deleted leaf")
        merged = self.send("GET", f"/torn/{name}?conflicts=true")
        self.assertEqual(merged["age"], 2)
        self.assertNotIn("_conflicts", merged)

    def test_a_stored_conflict_keeps_what_only_one_side_has_changed(self):
        name = "parted"
        file = {"content_type": "text/plain", "data": base64.b64encode(b"a note").decode()}
        base = self.send("PUT", f"/torn/{name}", {"n": 1, "m": 1, "kept": True, "both": 1})["rev"]
        digest = base.split("-")[1]
        revisions = lambda ids: {"start": len(ids), "ids": ids}
        self.send("POST", "/torn/_bulk_docs", {"new_edits": False, "docs": [
            {"_id": name, "_revisions": revisions(["zzb", "zza", digest]), "n": 2, "m": 1, "kept": True, "both": 2},
            {"_id": name, "_revisions": revisions(["aaa", digest]), "n": 1, "m": 2, "kept": True, "both": 3, "_attachments": {"x.txt": file}}]})
        self.open("torn", "document", id=name)
        self.press("Merge them")
        self.see("What only one of them has changed since their common ancestor is chosen already.", "attachment x.txt", "Winner, 3-zzb")
        self.find("td[data-label=Before]")
        self.assertEqual(self.find("tr.contested th").text, "both")
        self.check_view("the merge of a conflict with an attachment")
        self.press("Save the merged document")
        self.see("The conflict is resolved.")
        merged = self.send("GET", f"/torn/{name}?conflicts=true")
        self.assertEqual((merged["n"], merged["m"], merged["kept"], merged["both"]), (2, 2, True, 2))
        self.assertNotIn("_conflicts", merged)
        self.assertEqual(list(merged["_attachments"]), ["x.txt"])
        self.assertEqual(merged["_attachments"]["x.txt"]["length"], 6)

    def test_arrays_are_merged_as_sets_and_by_a_key_as_on_the_command_line(self):
        name = "arrays"
        base = {"tags": ["a", "b", "c"], "items": [{"id": 1, "n": 1}, {"id": 2, "n": 1}, {"id": 3, "n": 1}], "plain": [1]}
        winner = {"tags": ["a", "c", "x"], "items": [{"id": 2, "n": 1}, {"id": 1, "n": 2, "new": True}, {"id": 4}], "plain": [1]}
        other = {"tags": ["b", "c", "y", "x"], "items": [{"id": 1, "n": 1, "m": 3}, {"id": 9}, {"id": 2, "n": 5}, {"id": 3, "n": 1}], "plain": [1, 2]}
        self.open()
        self.send("PUT", "/cli", None)
        for store in ("torn", "cli"):
            digest = self.send("PUT", f"/{store}/{name}", base)["rev"].split("-")[1]
            self.send("POST", f"/{store}/_bulk_docs", {"new_edits": False, "docs": [
                {"_id": name, "_revisions": {"start": 2, "ids": [leaf, digest]}, **body} for leaf, body in (("bbb", winner), ("aaa", other))]})
        self.open("torn", "document", id=name)
        self.press("Merge them")
        self.see("1 field differs from Winner, 2-bbb.")
        self.assertEqual([choice.accessible_name for choice in self.all(".arrays input")],
                         ["tags of all, as a set", "items of all, as a set", "items of all, by id"])
        self.click("choice", "tags of all, as a set")
        self.click("choice", "items of all, by id")
        self.see("3 fields differ from Winner, 2-bbb.")
        self.check_view("the merge of arrays")
        self.press("Cancel")
        self.press("Merge them")
        self.click("choice", "tags of all, as a set")
        self.click("choice", "items of all, by id")
        self.press("Save the merged document")
        self.see("The conflict is resolved.")
        merged = self.send("GET", f"/torn/{name}?conflicts=true")
        expected = json.loads(self.tool("resolve", "stores/cli", name, "--merge", "fields", "--as-set", "tags", "--by-key", "items=id"))
        self.assertEqual({**merged, "_rev": ""}, {**expected, "_rev": ""})

    def test_a_merge_that_comes_too_late_deletes_nothing(self):
        name = "late"
        self.send("POST", "/torn/_bulk_docs", {"new_edits": False, "docs": [
            {"_id": name, "_rev": "1-aaa", "age": 2}, {"_id": name, "_rev": "1-bbb", "age": 3}]})
        self.open("torn", "document", id=name)
        self.press("Merge them")
        self.see("Choose for each field what to keep.")
        self.send("PUT", f"/torn/{name}", {"_rev": "1-bbb", "age": 4})
        self.press("Save the merged document")
        self.see("The document was changed meanwhile, and nothing is merged.")
        found = self.send("GET", f"/torn/{name}?conflicts=true")
        self.assertEqual((found["age"], found["_conflicts"]), (4, ["1-aaa"]))
        # What comes between the merged document and the deletions.
        self.open("torn", "document", id=name)
        self.press("Merge them")
        self.see("Choose for each field what to keep.")
        self.send("POST", "/torn/_bulk_docs", {"docs": [{"_id": name, "_rev": "1-aaa", "_deleted": True}]})
        self.press("Save the merged document")
        self.see("another revision is not deleted: somebody else has changed it meanwhile.")

    def test_fields_are_merged(self):
        nested = '{"a": {"x": 1, "y": 2}}'
        cases = [
            # The version that both come from, the versions, the choices if they are not the first ones; what is saved, or the error.
            ('{"a": {"x": 1}}', [nested, '{"a": {}}'], None, '{"a": {"y": 2}}'),
            # Both have changed a, so that one of them is chosen for all that is in it.
            ('{"a": {"x": 1}}', [nested, '{"a": 5}'], None, nested),
            ('{"a": {"x": 1}}', ['{"a": 5}', nested], None, '{"a": 5}'),
            ('{"a": {"x": 1}}', ["{}", nested], None, "{}"),
            ('{"a": {"x": 1}}', ['{"a": {"x": 1}}', "{}"], 1, "{}"),
            ("null", ['{"a": {"b": {"c": 1}}, "d": 1}', '{"d": 1}'], 1, '{"d": 1}'),
            ("null", ['{"a": {"b": {"c": 1}}}', '{"a": {"b": {}}}'], 1, '{"a": {"b": {}}}'),
            ("null", [nested, '{"a": 5}'], 1, '{"a": 5}'),
            ("null", ['{"a": 5}', nested], 1, nested),
            ('{"_attachments": {"a": {"digest": "1", "revpos": 1}}}',
             ['{"b": 1, "_attachments": {"a": {"digest": "1", "revpos": 1}}}', '{"b": 2, "_attachments": {"a": {"digest": "1", "revpos": 2}}}'],
             1, '{"b": 2}'),
            ('{"n": 1.0, "m": 1}', ['{"n": 1.0, "m": 2}', '{"n": 1.00, "m": 1}'], None, '{"n": 1.00, "m": 2}'),
        ]
        self.open()
        for base, versions, choice, expected in cases:
            result = self.browser.execute_async_script(
                """const [base, versions, choice, done] = arguments
                Promise.all([import('/_utils/merge.js'), import('/_utils/json.js')]).then(([{chosenFirst, merged}, {line, parse}]) => {
                  const values = versions.map(text => parse(text))
                  const first = chosenFirst(values, parse(base))
                  return line(merged(values, choice === null ? first : first.map(() => choice)))
                }).catch(error => error.message).then(done)""",
                base, versions, choice)
            self.assertEqual(result, expected, versions)

    def test_revisions_are_drawn_and_compared(self):
        name = "compared"
        self.send("POST", "/torn/_bulk_docs", {"new_edits": False, "docs": [
            {"_id": name, "_rev": "3-ccc", "_revisions": {"start": 3, "ids": ["ccc", "bbb", "aaa"]}, "age": 5, "city": "Rome"},
            {"_id": name, "_rev": "2-ddd", "_revisions": {"start": 2, "ids": ["ddd", "aaa"]}, "age": 6, "city": "Rome"},
        ]})
        self.open("torn", "document", id=name)
        self.see("3-ccc", "2-bbb", "1-aaa", "2-ddd", "winner", "conflict")
        self.assertGreaterEqual(len(self.all("svg.tree circle")), 4)
        self.assertEqual(len(self.all("svg.tree circle.winner")), 1)
        self.check_view("revisions")
        self.picture("revisions")
        self.click("choice", "A: 3-ccc")
        self.click("choice", "B: 2-ddd")
        self.press("Compare A with B")
        comparison = self.find("[aria-label='Comparison'] tbody")
        self.assertEqual(comparison.text.split(), ["age", "5", "6"])
        self.click("choice", "B: 2-bbb")
        self.press("Compare A with B")
        self.see("The content of revision 2-bbb was compacted.")
        self.click("link", "2-ddd")
        self.see("This is revision 2-ddd, not the current one.")


class MergingOnPhone(Merging):
    size, colors = PHONE, "dark"
