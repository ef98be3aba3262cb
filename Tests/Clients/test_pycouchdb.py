"""The client pycouchdb."""

import io
import unittest

import pycouchdb
from pycouchdb.exceptions import AuthenticationFailed, BadRequest, Conflict, FeedReaderExited, GenericError, NotFound
from pycouchdb.feedreader import BaseFeedReader

from harness import ADMIN, MEMBER, ServerTestCase


class PycouchdbTests(ServerTestCase):
    def connect(self, user=ADMIN, **options):
        server = pycouchdb.Server(self.server.url_for(user), **options)
        self.addCleanup(server.resource.session.close)
        return server

    def setUp(self):
        super().setUp()
        self.client = self.connect()
        self.database = self.client.create(self.name)

    def fill(self):
        self.database.save_bulk([
            {"_id": id, "rank": rank} for rank, id in enumerate(["apple", "beet", "cherry", "date"])])

    def assert_unsupported(self, action):
        with self.assertRaises(GenericError) as caught:
            action()
        self.assertEqual(caught.exception.args[0]["error"], "not_implemented")
        self.assertIn("; use ", caught.exception.args[0]["reason"])

    # The server

    def test_databases_are_created_listed_described_and_deleted(self):
        client = self.client
        self.assertEqual(client.info()["couchdb"], "Welcome")
        self.assertEqual(client.version(), client.info()["version"])
        self.assertIn(self.name, client)
        self.assertIn(self.name, list(client))
        self.assertEqual(len(client), len(list(client)))
        self.assertEqual(client.database(self.name).config()["db_name"], self.name)
        with self.assertRaises(Conflict):
            client.create(self.name)
        client.delete(self.name)
        self.assertNotIn(self.name, client)
        with self.assertRaises(NotFound):
            client.database(self.name)
        with self.assertRaises(NotFound):
            client.delete(self.name)

    def test_a_user_logs_in_with_a_session_or_a_password_in_each_request(self):
        for method in ("session", "basic"):
            with self.subTest(method):
                client = self.connect(authmethod=method)
                self.assertIn(self.name, list(client))
                self.assertEqual("AuthSession" in client.resource.session.cookies, method == "session")
        wrong = self.server.url.replace("://", f"://{ADMIN.name}:wrong@")
        with self.assertRaises(AuthenticationFailed):
            pycouchdb.Server(wrong, authmethod="session")
        with self.assertRaises(GenericError) as caught:
            list(pycouchdb.Server(wrong))
        self.assertEqual(caught.exception.args[0]["error"], "unauthorized")

    def test_only_members_may_use_a_database(self):
        member = self.connect(MEMBER)
        with self.assertRaises(GenericError):
            member.database(self.name)
        self.database.resource.put("_security", data='{"members": {"roles": ["team"]}}')
        database = member.database(self.name)
        self.assertEqual(database.get(database.save({"n": 1})["_id"])["n"], 1)
        with self.assertRaises(GenericError) as caught:
            database.save({"_id": "_design/tasks"})
        self.assertEqual(caught.exception.args[0]["error"], "forbidden")

    def test_what_the_server_does_not_have_is_501(self):
        self.assert_unsupported(lambda: self.client.changes_feed(lambda message: None))
        self.database.save({"_id": "_design/tasks", "views": {"open": {"map": "function (doc) { emit(doc._id) }"}}})
        self.assert_unsupported(lambda: list(self.database.query("tasks/open")))
        self.assert_unsupported(lambda: self.database.one("tasks/open", keys=["milk"]))
        self.assert_unsupported(lambda: next(self.database.view_pages("tasks/open", 10)))

    # Documents

    def test_a_document_is_created_read_changed_and_deleted(self):
        database = self.database
        saved = database.save({"_id": "milk", "text": "Buy milk"})
        self.assertEqual(database.get("milk"), saved)
        self.assertIn("milk", database)
        self.assertEqual(len(database), 1)
        changed = database.save({**saved, "done": True})
        self.assertTrue(changed["_rev"].startswith("2-"))
        with self.assertRaises(Conflict):
            database.save(saved)
        self.assertEqual(database.get("milk", rev=saved["_rev"]), saved)
        self.assertEqual(database.get("milk", revs="true")["_revisions"]["start"], 2)
        self.assertEqual(list(database.revisions("milk")), [changed, saved])
        self.assertEqual(list(database.revisions("milk", status="missing")), [])
        with self.assertRaises(Conflict):
            database.delete(saved)
        database.delete("milk")
        self.assertNotIn("milk", database)
        with self.assertRaises(NotFound):
            database.get("milk")
        with self.assertRaises(NotFound):
            list(database.revisions("none"))
        again = database.save({"text": "Buy bread"}, batch=True)
        self.assertEqual(database.get(again["_id"])["text"], "Buy bread")
        with self.assertRaises(BadRequest):
            database.get(again["_id"], rev="abc")

    def test_conflicts_are_shown(self):
        saved = self.database.save({"_id": "milk"})
        parent = saved["_rev"].split("-")[1]
        for id in ("aaaa", "bbbb"):
            self.database.resource("milk").put(
                params={"new_edits": "false"}, data=f'{{"_revisions": {{"start": 2, "ids": ["{id}", "{parent}"]}}}}')
        self.assertEqual(self.database.get("milk", conflicts="true")["_conflicts"], ["2-aaaa"])
        leaves = self.database.resource("milk").get(params={"open_revs": "all"})[1]
        self.assertEqual(sorted(leaf["ok"]["_rev"] for leaf in leaves), ["2-aaaa", "2-bbbb"])

    def test_many_documents_are_saved_and_deleted_at_once(self):
        database = self.database
        saved = database.save_bulk([{"_id": "a"}, {"_id": "b"}, {"n": 3}])
        self.assertTrue(all(document["_rev"].startswith("1-") for document in saved))
        with self.assertRaises(Conflict):
            database.save_bulk([{"_id": "a"}])
        self.assertTrue(all(row["ok"] for row in database.delete_bulk(saved[:2])))
        self.assertEqual(len(database), 1)
        with self.assertRaises(Conflict):
            database.delete_bulk(saved[:2])

    def test_documents_are_listed(self):
        self.fill()
        for options, ids in [
            ({}, ["apple", "beet", "cherry", "date"]), ({"keys": ["date", "apple"]}, ["date", "apple"]),
            ({"startkey": "b", "endkey": "cherry"}, ["beet", "cherry"]), ({"key": "beet"}, ["beet"]),
            ({"limit": 1, "skip": 1}, ["beet"]), ({"descending": "true", "limit": 1}, ["date"]),
        ]:
            with self.subTest(options):
                self.assertEqual([row["id"] for row in self.database.all(**options)], ids)
        self.assertEqual(self.database.all(flat="doc", as_list=True)[1]["rank"], 1)
        self.assertEqual(self.database.all(wrapper=lambda row: row["id"], as_list=True, include_docs="false")[0], "apple")
        # _all_docs has the form of a view.
        paged = self.database.query("_all_docs", pagesize=3, as_list=True)
        self.assertEqual([row["id"] for row in paged], ["apple", "beet", "cherry", "date"])
        self.assertEqual(self.database.one("_all_docs", flat="id"), "apple")
        pages = list(self.database.view_pages("_all_docs", 3))
        self.assertEqual([[row["id"] for row in page] for page in pages], [["apple", "beet", "cherry"], ["date"]])

    # Queries

    def test_documents_are_found_by_selectors(self):
        self.fill()
        database = self.database
        found = list(database.find({"rank": {"$gt": 0}}, fields=["_id"], sort=[{"rank": "desc"}], limit=2))
        self.assertEqual(found, [{"_id": "date"}, {"_id": "cherry"}])
        pages = list(database.mango_pages({"rank": {"$gte": 1}}, 2, {"fields": ["rank"]}))
        self.assertEqual(pages, [[{"rank": 1}, {"rank": 2}], [{"rank": 3}]])
        with self.assertRaises(GenericError) as caught:
            list(database.find({"rank": {"$unknown": 1}}))
        self.assertEqual(caught.exception.args[0]["error"], "invalid_operator")

    # Changes

    def test_changes_are_listed(self):
        self.fill()
        last, rows = self.database.changes_list()
        self.assertEqual([row["id"] for row in rows], ["apple", "beet", "cherry", "date"])
        self.database.delete("beet")
        _, rows = self.database.changes_list(since=last, include_docs="true")
        self.assertEqual([(row["id"], row["doc"]["_deleted"]) for row in rows], [("beet", True)])
        self.assertEqual(self.database.changes_list(limit=1, descending="true")[1][0]["id"], "beet")

    def test_a_feed_gives_changes_when_they_happen(self):
        database, writer = self.database, self.connect().database(self.name)
        self.fill()

        class Reader(BaseFeedReader):
            def __init__(self):
                self.messages, self.heartbeats, self.closed = [], 0, False

            def on_message(self, message):
                self.messages.append(message["id"])
                if len(self.messages) == 4:
                    writer.save({"_id": "later"})

            def on_heartbeat(self):
                self.heartbeats += 1
                if len(self.messages) == 5 and self.heartbeats > 1:
                    raise FeedReaderExited()

            def on_close(self):
                self.closed = True

        reader = Reader()
        database.changes_feed(reader, heartbeat=50)
        self.assertEqual(reader.messages, ["apple", "beet", "cherry", "date", "later"])
        self.assertTrue(reader.closed)
        messages = []
        database.changes_feed(lambda message, db: messages.append((message, db)), timeout=10)
        self.assertEqual(len(messages), 6)
        self.assertIs(messages[0][1], database)
        self.assertIn("last_seq", messages[5][0])

    # Attachments

    def test_attachments_are_stored_read_and_deleted(self):
        database = self.database
        content = bytes(range(256)) * 1000
        document = database.save({"_id": "cat"})
        document = database.put_attachment(document, io.BytesIO(content), "cat.jpg")
        self.assertEqual(document["_attachments"]["cat.jpg"]["content_type"], "image/jpeg")
        document = database.put_attachment(document, "Füße".encode(), "a.txt", "text/plain;charset=utf-8")
        self.assertEqual(database.get_attachment(document, "cat.jpg"), content)
        self.assertEqual(database.get_attachment(document, "a.txt").decode(), "Füße")
        stream = database.get_attachment(document, "cat.jpg", stream=True)
        self.assertEqual(b"".join(stream.iter_content(10_000)), content)
        without = database.delete_attachment(document, "cat.jpg")
        self.assertEqual(list(database.get("cat")["_attachments"]), ["a.txt"])
        with self.assertRaises(NotFound):
            database.get_attachment(without, "cat.jpg")
        with self.assertRaises(Conflict):
            database.put_attachment(document, b"", "old")

    # Maintenance

    def test_a_database_is_maintained(self):
        self.assertTrue(self.database.commit()["ok"])
        self.assertTrue(self.database.cleanup()["ok"])
        self.assertTrue(self.database.compact()["ok"])
        self.assertTrue(self.database.compact_view("tasks")["ok"])


if __name__ == "__main__":
    unittest.main()
