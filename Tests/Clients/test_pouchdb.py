"""PouchDB in Chromium: a page of another origin syncs its database with the server's, in both directions."""

import base64
import os
import random
import re
import threading
import time
import unittest
import urllib.parse

import requests

from browser import BrowserTestCase
from harness import ADMIN, MEMBER, Server, in_background

GUIDE = os.path.join(os.path.dirname(__file__), "../../docs/server.md")
SECONDS = float(os.environ.get("POUCHDB_SECONDS") or 60)


class Database:
    """A database of the server, as a program uses it."""

    def __init__(self, url):
        self.url = url
        self.session = requests.Session()
        self.session.auth = (ADMIN.name, ADMIN.password)
        self.session.headers["Accept"] = "application/json"

    def ask(self, method, path, **options):
        reply = self.session.request(method, f"{self.url}/{path}", **options)
        reply.raise_for_status()
        return reply.json()

    def winner(self, id):
        reply = self.session.get(f"{self.url}/{urllib.parse.quote(id, safe='')}", params={"conflicts": "true", "revs": "true"})
        return reply.json() if reply.ok else None

    def content(self):
        """Every document, leaf by leaf, in the form of the page's."""
        documents = {}
        for row in self.ask("GET", "_changes?style=all_docs")["results"]:
            path = urllib.parse.quote(row["id"], safe="")
            winner = self.session.get(f"{self.url}/{path}")
            leaves = {}
            for leaf in self.ask("GET", f"{path}?open_revs=all&revs=true&attachments=true"):
                document = leaf["ok"]
                members = {name: value for name, value in document.items() if not name.startswith("_")}
                attachments = {
                    name: [attachment["content_type"], attachment["data"]]
                    for name, attachment in document.get("_attachments", {}).items()}
                leaves[document["_rev"]] = [
                    document.get("_deleted", False), members, document["_revisions"]["ids"], attachments]
            documents[row["id"]] = {"winner": winner.json().get("_rev"), "leaves": leaves}
        return documents


class Writer:
    """Changes a database: each kind of change in turn, to documents that the page changes, too."""

    def __init__(self, database, pause):
        self.database = database
        self.pause = pause
        self.writes = 0
        self.ends = threading.Event()
        self.wait = in_background(self.run)

    def run(self):
        n = 0
        while not self.ends.wait(self.pause):
            try:
                self.change(n)
                self.writes += 1
            except requests.HTTPError as error:
                # The replication was faster.
                if error.response.status_code != 409:
                    raise AssertionError(error.response.text) from error
            n += 1

    def change(self, n):
        id = f"shared {n % 20}"
        winner = self.database.winner(id)
        kind = n % 7
        path = urllib.parse.quote(id, safe="")
        content = bytes(range(256)) * (n % 20)
        if kind in (0, 1):
            kept = {name: value for name, value in (winner or {}).items() if name not in ("_conflicts", "_revisions")}
            self.database.ask("PUT", path, json={**kept, "_id": id, "server": n})
        elif kind == 2:
            data = base64.b64encode(content).decode()
            self.database.ask("PUT", f"server%20{n}", json={"n": n, "_attachments": {
                "a.bin": {"content_type": "application/octet-stream", "data": data},
                "Füße.txt": {"content_type": "text/plain", "data": base64.b64encode(f"text {n}".encode()).decode()}}})
        elif winner is None:
            return
        elif kind == 3:
            self.database.ask("DELETE", f"{path}?rev={winner['_rev']}")
        elif kind == 4:
            # PouchDB 7 reads an attachment of a conflict from the winner, if that has one of the same name.
            self.database.ask(
                "PUT", f"{path}/server{n}.png?rev={winner['_rev']}", data=content, headers={"Content-Type": "image/png"})
        elif kind == 5:
            start, ids = winner["_revisions"]["start"], winner["_revisions"]["ids"]
            history = {"start": start, "ids": [random.randbytes(16).hex(), *ids[1:]]}
            self.database.ask("POST", "_bulk_docs", json={"new_edits": False, "docs": [
                {"_id": id, "_rev": f"{start}-{history['ids'][0]}", "_revisions": history, "server": n, "conflict": True}]})
        else:
            for rev in winner.get("_conflicts", [])[1:]:
                self.database.ask("DELETE", f"{path}?rev={rev}")

    def stop(self):
        self.ends.set()
        self.wait()


class PouchDBTests(BrowserTestCase):
    def test_a_page_syncs_in_both_directions(self):
        origin = self.serve_page()
        server = Server("--cors", origin)
        self.addCleanup(server.close)
        database = Database(f"{server.url}/tasks")
        self.browser = self.open_browser()

        self.browser.get(self.serve_page())
        self.assertEqual(self.run_in_page(f"attack({database.url!r})"), ["TypeError"] * 3)
        self.assertEqual(database.session.get(database.url).status_code, 404)

        self.browser.get(origin)
        self.run_in_page(f"open({database.url!r}, {ADMIN.name!r}, {ADMIN.password!r})")
        self.assertEqual(database.content(), {})

        # What is on both sides before the sync begins.
        writers = [Writer(database, pause=0)]
        self.run_in_page("startWriting(0)")
        self.wait_until(lambda: writers[0].writes > 50 and self.run_in_page("state.writes") > 50)
        self.run_in_page("writer.stop()")
        writers[0].stop()

        self.run_in_page("startSync()")
        self.run_in_page("startWriting(50)")
        # The server is away for a moment in the middle.
        for _ in range(2):
            writers.append(Writer(database, pause=0.05))
            time.sleep(SECONDS / 2)
            writers[-1].stop()
            if len(writers) == 2:
                server.restart()
        self.run_in_page("writer.stop()")

        self.wait_until(lambda: self.run_in_page("content()") == database.content(), fails=False)
        content = database.content()
        self.assertEqual(self.run_in_page("content()"), content)
        self.run_in_page("stopSync()")
        state = self.run_in_page("state")
        self.assertEqual(state["errors"], [])
        self.report(content, state["writes"], sum(writer.writes for writer in writers))

    def test_the_guide_s_page_syncs(self):
        origin = self.serve_page()
        server = Server("--cors", origin, has_users=False)
        self.addCleanup(server.close)
        requests.put(f"{server.url}/tasks").raise_for_status()
        requests.put(f"{server.url}/tasks/milk", json={"text": "Buy milk"}).raise_for_status()
        with open(GUIDE, encoding="utf-8") as guide:
            code = re.search(r"(?: {4}.*\n)*.*new PouchDB.*\n(?: {4}.*\n)*", guide.read()).group()
        code = code.replace("http://127.0.0.1:5984", server.url)
        self.assertIn(server.url, code)

        self.browser = self.open_browser()
        self.browser.get(origin)
        # `const` at the top level of `eval` would end with it, and the value of `sync` is a promise that is never kept.
        self.run_in_page(code.replace("const tasks", "window.tasks", 1) + "; null")
        self.run_in_page("tasks.put({_id: 'bread', text: 'Buy bread'})")
        self.wait_until(lambda: requests.get(f"{server.url}/tasks/bread").ok)
        self.wait_until(lambda: self.run_in_page("tasks.get('milk').then(task => task.text, () => '')") == "Buy milk")

    def test_a_user_s_page_has_what_the_user_sees(self):
        origin = self.serve_page()
        server = Server("--cors", origin)
        self.addCleanup(server.close)
        database = Database(f"{server.url}/shared")
        requests.put(database.url, auth=database.session.auth).raise_for_status()
        database.ask("PUT", "_security", json={"members": {"names": [MEMBER.name]}})
        mine = {"owner": {"$data": "userCtx.name"}}
        rules = {"language": "query", "read": [{"roles": ["*"], "selector": mine}]}
        database.ask("PUT", "_design/access", json=rules)
        chance = random.Random(7)
        revisions, secrets = {}, set()

        def change():
            """Writes a document of the user, or one of somebody else with a secret."""
            id = f"d{chance.randrange(40)}"
            if chance.random() < 0.1 and id in revisions:
                database.ask("DELETE", f"{id}?rev={revisions.pop(id)}")
                return
            body = {"owner": MEMBER.name, "n": chance.random()}
            if chance.random() < 0.5:
                body = {"owner": "mike", "secret": f"secret {len(secrets)}"}
                secrets.add(body["secret"])
            if id in revisions:
                body["_rev"] = revisions[id]
            revisions[id] = database.ask("PUT", id, json=body)["rev"]

        def visible():
            """What the admin reads, without what the user does not see."""
            rows = database.ask("GET", "_all_docs?include_docs=true")["rows"]
            return {row["id"]: row["doc"]["_rev"] for row in rows if row["doc"].get("owner") == MEMBER.name}

        for _ in range(100):
            change()
        self.browser = self.open_browser()
        self.browser.get(origin)
        self.run_in_page(f"open({database.url!r}, {MEMBER.name!r}, {MEMBER.password!r})")
        self.run_in_page("startSync()")
        for _ in range(200):
            change()
        owned = "visibleHere('owner')"
        self.wait_until(lambda: self.run_in_page(owned) == visible(), fails=False)
        self.assertEqual(self.run_in_page(owned), visible())
        stored = str(self.run_in_page("content()"))
        self.assertEqual([secret for secret in secrets if f"'{secret}'" in stored], [])
        # What the page writes of another user is refused, and the rest arrives.
        self.run_in_page("local.bulkDocs([{_id: 'own', owner: 'zoe'}])")
        self.wait_until(lambda: "own" in visible())
        self.run_in_page("stopSync()")
        self.assertEqual(self.run_in_page("state.errors"), [])

    def report(self, content, of_page, of_server):
        """Prints what was synced, of which there must be something of each kind."""
        leaves = [leaf for document in content.values() for leaf in document["leaves"].values()]
        figures = {
            "writes in the page": of_page, "writes on the server": of_server, "documents": len(content),
            "conflicts": sum(len(document["leaves"]) > 1 for document in content.values()), "leaves": len(leaves),
            "deleted leaves": sum(leaf[0] for leaf in leaves), "attachments": sum(len(leaf[3]) for leaf in leaves),
        }
        print(", ".join(f"{count} {name}" for name, count in figures.items()))
        for name, count in figures.items():
            self.assertGreater(count, 0, name)


if __name__ == "__main__":
    unittest.main()
