"""The list of stores and of replications, which follow what happens, also when the server was away."""

import os
import shutil

from page import PHONE
from people import PeopleTestCase


class Overview(PeopleTestCase):
    def test_stores(self):
        self.hurry()
        self.open()
        self.see("contacts", "watched", "3,001", "30")
        self.check_view("the stores")
        # Another process writes.
        self.tool("put", "stores/watched", "task-new", "-", text='{"text": "more"}')
        self.wait(lambda: "31" in self.row("watched"), "the new document")
        self.send("POST", "/watched/_bulk_docs", {"new_edits": False, "docs": [{"_id": "task-1", "_rev": "1-abc"}]})
        self.wait(lambda: "1 conflict" in self.row("watched"), "the conflict")
        self.send("POST", "/watched/_index", {"index": {"fields": ["done"]}})
        self.wait(lambda: self.named("link", "1 index of watched"), "the index")
        self.click("link", "contacts")
        self.see("3,001 documents")

    def test_a_damaged_store_does_not_hide_the_others(self):
        broken = os.path.join(self.directory, "broken")
        os.mkdir(broken)
        self.addCleanup(shutil.rmtree, broken)
        with open(os.path.join(broken, "db.sync"), "w") as file:
            file.write("no database " * 1_000)
        self.open()
        self.wait(lambda: "contacts" in self.text and "broken: " in self.text, "both stores")
        self.check_view("the stores, with a damaged one")

    def test_a_live_view_goes_on_when_the_server_answers_again(self):
        self.hurry()
        self.open()
        self.see("watched")
        self.fail_requests("true")
        self.see("The server does not answer; is it still running? Trying again…")
        self.run_script("window.failing = false")
        self.see("The server answers again.")
        self.fill("again", [{"n": 1}])
        self.wait(lambda: self.row("again"), "the new store")
        self.send("DELETE", "/again")

    def test_what_can_not_be_read_is_tried_again(self):
        self.open("tasks")
        self.find("tbody tr")
        self.fail_requests("address.includes('_fields')")
        self.click("link", "Schema")
        self.see("The server does not answer")
        self.assertNotIn("Reading the documents", self.text)
        self.run_script("window.failing = false")
        self.press("Try again")
        self.see(" values")

    def test_replications_with_their_lag(self):
        self.open()
        replication = {"source": "tasks", "target": "copy", "create_target": True, "continuous": True}
        self.send("POST", "/_replicate", replication)
        if self.size == PHONE:
            self.press("Stores and places")
        self.click("link", "Replications")
        self.see("tasks", "copy", "continuous")
        self.wait(lambda: " s" in self.find("tbody tr").text, "the lag")
        self.check_view("replications")
        self.press("Stop the replication of tasks to copy")
        self.see("The server runs no replication.", "The replication is stopped.")
        self.send("DELETE", "/copy")

    def test_a_replication_is_started(self):
        self.open(None, "replications")
        self.write("From", "tasks")
        self.write("To", "made")
        self.press("Start")
        self.see("Done: 30 documents written.")
        self.assertEqual(self.send("GET", "/made")["doc_count"], 30)
        self.send("DELETE", "/made")
        self.write("To", "ftp://example.com/made")
        self.press("Start")
        self.wait(lambda: self.find("#status.error").text, "the error")
        self.check_view("a replication that can't be started")

    def test_the_stores_at_the_side(self):
        self.hurry()
        self.fill("aside", [{"_id": "a", "n": 1}])
        self.open("aside")
        if self.size == PHONE:
            self.press("Stores and places")
        beside = lambda name: next((text for text in [link.text for link in self.all("#rail a")] if text.startswith(name)), "")
        self.wait(lambda: "1" in beside("aside"), "the number of documents")
        self.send("POST", "/aside/_bulk_docs", {"new_edits": False, "docs": [{"_id": "a", "_rev": "1-abc"}, {"_id": "b", "_rev": "1-abc"}]})
        self.wait(lambda: beside("aside").split()[1:3] == ["1", "2"], "the conflict and the documents")
        self.wait(lambda: self.find("[data-view=conflicts] .badge").text == "1", "the conflict beside the view")
        self.check_view("the stores at the side")
        self.send("DELETE", "/aside")


class OverviewOnPhone(Overview):
    size, colors = PHONE, "dark"
