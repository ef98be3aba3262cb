"""Self-hosted LiveSync: its set-up script, and what its devices do to a vault in a database of the server.

The plugin itself runs only in Obsidian. Two PouchDBs in a page play it, with its documents and its sizes of batches.
"""

import time
import unittest

import requests

from browser import BrowserTestCase
from harness import ADMIN, MEMBER, Server

ORIGINS = "app://obsidian.md,capacitor://localhost,http://localhost"


def settings(origins):
    """What the set-up script sets, in its order."""
    return [
        ("chttpd/require_valid_user", "true"), ("chttpd_auth/require_valid_user", "true"),
        ("httpd/WWW-Authenticate", 'Basic realm="couchdb"'), ("httpd/enable_cors", "true"), ("chttpd/enable_cors", "true"),
        ("chttpd/max_http_request_size", "4294967296"), ("couchdb/max_document_size", "50000000"),
        ("cors/credentials", "true"), ("cors/origins", origins)]


class LiveSyncTests(BrowserTestCase):
    page = "livesync.html"

    def ask(self, method, path, **options):
        reply = requests.request(method, f"{self.server.url}/{path}", auth=(ADMIN.name, ADMIN.password), **options)
        self.assertTrue(reply.ok, f"{path}: {reply.text}")
        return reply.json()

    def set_up(self, origins):
        """The requests of the script."""
        setup = {
            "action": "enable_single_node", "username": ADMIN.name, "password": ADMIN.password, "bind_address": "0.0.0.0",
            "port": 5984, "singlenode": True}
        self.assertEqual(self.ask("POST", "_cluster_setup", json=setup), {"ok": True})
        for name, value in settings(origins):
            self.ask("PUT", f"_node/_local/_config/{name}", json=value)

    def step(self, name, *expressions):
        """Runs expressions in the page, and notes how long they took."""
        begin = time.monotonic()
        values = [self.run_in_page(expression) for expression in expressions]
        self.times.append(f"{name} {time.monotonic() - begin:.1f} s")
        return values[-1]

    def test_a_vault_is_synced_locked_and_rebuilt(self):
        self.times = []
        origin = self.serve_page()
        self.server = Server()
        self.addCleanup(self.server.close)
        for _ in range(2):
            self.set_up(f"{ORIGINS},{origin}")
        self.server.restart()
        self.assertEqual(requests.get(f"{self.server.url}/").status_code, 401)
        for app in ORIGINS.split(","):
            preflight = requests.options(f"{self.server.url}/vault", headers={
                "Origin": app, "Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "authorization"})
            self.assertEqual(preflight.headers.get("Access-Control-Allow-Origin"), app)

        url = f"{self.server.url}/vault"
        self.browser = self.open_browser()
        self.browser.get(origin)
        for name, user in (("desk", ADMIN), ("phone", MEMBER)):
            self.run_in_page(f"open({name!r}, {url!r}, {user.name!r}, {user.password!r})")

        # The first device fills the database. The other one may not use it until it is a member, nor while it is locked.
        self.step("new vault", "devices.desk.initialize()", "devices.desk.connect()", "devices.desk.write(0, 200)")
        sent = self.step("first push", "devices.desk.replicate('to')")
        self.assertEqual(sent, 5_200)
        refused = "devices.phone.connect().catch(error => error.status)"
        self.assertEqual(self.run_in_page(refused), 403)
        self.ask("PUT", "vault/_security", json={"members": {"names": [MEMBER.name]}})
        self.assertEqual(self.run_in_page("devices.phone.connect()"), "locked")
        self.run_in_page("devices.desk.setLocked(false)")
        self.assertEqual(self.run_in_page("devices.phone.connect()"), "connected")

        # The other one takes the notes without their chunks, and fetches those by their ids.
        notes = self.step("pull of notes", "devices.phone.replicate('from', {selector: {type: {$ne: 'leaf'}}})")
        self.assertEqual(notes, 200)
        self.assertEqual(self.step("chunks by id", "devices.phone.fetchChunks()"), 5_000)
        self.assert_same_notes(200)

        # Both change notes, also the same ones, and sync live.
        begin = time.monotonic()
        self.run_in_page("devices.desk.write(0, 5, 2)")
        self.run_in_page("devices.phone.write(3, 5, 3)")
        for name in ("desk", "phone"):
            self.run_in_page(f"devices.{name}.startSync()")
        self.run_in_page("devices.phone.write(200, 2)")
        added = "devices.desk.local.get('notes/note 201.md').then(() => true, () => false)"
        self.wait_until(lambda: self.run_in_page(added) and self.run_in_page("isSame()"))
        self.assertEqual(self.run_in_page("conflicts"), 2)
        self.times.append(f"live {time.monotonic() - begin:.1f} s")
        self.assert_same_notes(202)
        for name in ("desk", "phone"):
            self.run_in_page(f"devices.{name}.stopSync()")
            self.assertEqual(self.run_in_page(f"devices.{name}.errors"), [])

        # The server has no text of a note.
        rows = self.ask("GET", "vault/_all_docs?include_docs=true&limit=5200")["rows"]
        chunks = [row["doc"] for row in rows if row["id"].startswith("h:")]
        self.assertGreaterEqual(len(chunks), 5_000)
        self.assertEqual([chunk for chunk in chunks if not chunk["data"].startswith("%=") or "edition" in chunk["data"]], [])

        # The database is deleted and made anew by one device; the other one is locked out until it takes it from the beginning.
        sent = self.step(
            "rebuild", "devices.desk.rebuildRemote()", "devices.desk.write(0, 200, 4)", "devices.desk.replicate('to')")
        self.assertEqual(sent, 5_200)
        self.ask("PUT", "vault/_security", json={"members": {"names": [MEMBER.name]}})
        self.assertEqual(self.run_in_page("devices.phone.connect()"), "locked")
        self.run_in_page("devices.desk.setLocked(false)")
        self.run_in_page("devices.phone.forgetLocal()")
        self.assertEqual(self.run_in_page("devices.phone.connect()"), "connected")
        self.assertEqual(self.step("fresh pull", "devices.phone.replicate('from')"), 5_200)
        self.assert_same_notes(200)
        self.assertEqual(self.ask("GET", "vault")["doc_count"], 5_200)
        print(", ".join(self.times))

    def digest(self, name):
        return self.run_in_page(f"devices.{name}.digest().catch(error => error.name)")

    def assert_same_notes(self, count):
        desk, phone = self.digest("desk"), self.digest("phone")
        self.assertEqual(desk, phone)
        self.assertEqual(desk[0], count)


if __name__ == "__main__":
    unittest.main()
