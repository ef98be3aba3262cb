"""The client cloudant (python-cloudant), which ibmcloudant has replaced."""

import io
import unittest
import warnings

import requests

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from cloudant import couchdb
    from cloudant.client import Cloudant, CouchDB
from cloudant.design_document import DesignDocument
from cloudant.document import Document
from cloudant.error import CloudantClientException, CloudantDatabaseException
from cloudant.index import Index, SpecialIndex, TextIndex
from cloudant.query import Query
from cloudant.result import Result, ResultByKey
from cloudant.scheduler import Scheduler

from harness import ADMIN, MEMBER, ServerTestCase, in_background


class CloudantTests(ServerTestCase):
    def connect(self, user=ADMIN, kind=CouchDB, **options):
        client = kind(user.name, user.password, url=self.server.url, connect=True, **options)
        self.addCleanup(client.disconnect)
        return client

    def setUp(self):
        super().setUp()
        self.client = self.connect()
        self.database = self.client.create_database(self.name)

    def fill(self):
        self.database.bulk_docs([
            {"_id": id, "rank": rank} for rank, id in enumerate(["apple", "beet", "cherry", "date"])])

    def assert_status(self, status, action, *arguments, **options):
        with self.assertRaises(requests.HTTPError) as caught:
            action(*arguments, **options)
        response = caught.exception.response
        self.assertEqual(response.status_code, status)
        return {} if response.request.method == "HEAD" else response.json()

    # The server

    def test_databases_are_created_listed_described_and_deleted(self):
        client = self.client
        self.assertIn(self.name, client.all_dbs())
        self.assertIn(self.name, client.keys(remote=True))
        self.assertTrue(client[self.name].exists())
        self.assertEqual(self.database.metadata()["db_name"], self.name)
        self.assertEqual(self.database.doc_count(), 0)
        self.assertEqual(client.metadata()["couchdb"], "Welcome")
        self.assertIsInstance(client.features(), list)
        self.assertEqual(client.create_database(self.name).database_name, self.name)
        with self.assertRaises(CloudantClientException) as caught:
            client.create_database(self.name, throw_on_exists=True)
        self.assertEqual(caught.exception.status_code, 412)
        client.delete_database(self.name)
        self.assertFalse(self.database.exists())
        with self.assertRaises(KeyError):
            client[self.name]
        with self.assertRaises(CloudantClientException):
            client.delete_database(self.name)
        self.assertIsNone(client.get(self.name, remote=True))

    def test_a_user_logs_in_with_a_session_or_a_password_in_each_request(self):
        with couchdb(ADMIN.name, ADMIN.password, url=self.server.url) as client:
            self.assertEqual(client.session()["userCtx"], {"name": ADMIN.name, "roles": ["_admin"]})
            self.assertEqual(client.session()["info"]["authenticated"], "cookie")
            self.assertTrue(client.session_cookie())
            client.session_logout()
            self.assertIsNone(client.session()["userCtx"]["name"])
            self.assert_status(401, client.all_dbs)
            client.session_login()
            self.assertIn(self.name, client.all_dbs())
        client = self.connect(use_basic_auth=True)
        self.assertEqual(client.session()["info"]["authenticated"], "default")
        self.assertIn(self.name, client.all_dbs())
        self.assertEqual(self.connect(kind=Cloudant).session()["userCtx"]["name"], ADMIN.name)
        with self.assertRaises(requests.HTTPError):
            CouchDB(ADMIN.name, "wrong", url=self.server.url, connect=True)

    def test_an_ended_session_is_renewed(self):
        client = self.connect(auto_renew=True)
        client.r_session.cookies.clear()
        self.assertIn(self.name, client.all_dbs())

    def test_members_of_a_database_are_those_of_its_security_object(self):
        member = self.connect(MEMBER)
        self.assert_status(403, self.open, member)
        with self.database.get_security_document() as security:
            self.assertEqual(security["members"], {"roles": ["_admin"]})
            security["members"]["roles"] = ["team"]
        database = member[self.name]
        database.create_document({"_id": "milk"})
        self.assertEqual(database.creds["user_ctx"]["roles"], ["team"])
        self.assert_status(403, database.create_document, {"_id": "_design/tasks"})
        security = database.get_security_document()
        security["members"] = {}
        self.assert_status(403, security.save)
        self.assert_status(403, database.create_query_index, index_name="ranks", fields=["rank"])

    def open(self, client):
        return client._DATABASE_CLASS(client, self.name).metadata()

    def test_what_the_server_does_not_have_is_501(self):
        database = self.database
        database.create_document({
            "_id": "_design/tasks", "views": {"open": {"map": "function (doc) { emit(doc._id) }"}}})
        design = database.get_design_document("_design/tasks")
        for name, action in {
            "a view": lambda: database.get_view_result("_design/tasks", "open", raw_result=True),
            "a view's rows": lambda: database.get_view_result("_design/tasks", "open")[0],
            "a list function": lambda: database.get_list_function_result("_design/tasks", "list", "open"),
            "a show function": lambda: database.get_show_function_result("_design/tasks", "show", "milk"),
            "an update handler": lambda: database.update_handler_result("_design/tasks", "update", data={}),
            "information on a design document": design.info,
            "information on a search index": lambda: design.search_info("index"),
            "the size of a search index": lambda: design.search_disk_size("index"),
            "a partition": lambda: database.partition_metadata("sensors"),
            "the documents of a partition": lambda: database.partitioned_all_docs("sensors"),
            "a query in a partition":
                lambda: database.get_partitioned_query_result("sensors", {"a": 1}, raw_result=True),
            "changes of databases": lambda: next(self.client.db_updates()),
            "shards": lambda: self.connect(kind=Cloudant)[self.name].shards(),
            "search": lambda: self.connect(kind=Cloudant)[self.name].get_search_result(
                "_design/tasks", "index", query="a"),
        }.items():
            with self.subTest(name):
                self.assertIn("; use ", self.assert_status(501, action).get("reason", "; use "))
        with self.assertRaises(CloudantDatabaseException) as caught:
            self.client.create_database(f"{self.name}_parts", partitioned=True)
        self.assertEqual(caught.exception.status_code, 501)

    def test_replications_are_listed(self):
        self.assertEqual(Scheduler(self.client).list_docs()["docs"], [])
        self.assertEqual(Scheduler(self.client).list_jobs()["jobs"], [])

    # Documents

    def test_a_document_is_created_read_changed_and_deleted(self):
        database = self.database
        document = database.create_document({"_id": "milk / 2%", "text": "Buy milk"})
        self.assertTrue(document.exists())
        self.assertIn("milk / 2%", database)
        self.assertIn("milk / 2%", database.keys(remote=True))
        with self.assertRaises(CloudantDatabaseException) as caught:
            database.create_document({"_id": "milk / 2%"}, throw_on_exists=True)
        self.assertEqual(caught.exception.status_code, 409)
        document["done"] = True
        document.save()
        stale = Document(database, "milk / 2%")
        stale.fetch()
        self.assertEqual(stale, document)
        document.update_field(Document.list_field_append, "tags", "shop")
        self.assertEqual(document["tags"], ["shop"])
        self.assertTrue(document["_rev"].startswith("3-"))
        self.assert_status(409, stale.save)
        self.assert_status(409, stale.delete)
        with Document(database, "milk / 2%") as opened:
            opened["done"] = False
        document.fetch()
        self.assertEqual(document["done"], False)
        document.delete()
        self.assertFalse(document.exists())
        self.assert_status(404, document.fetch)
        with Document(database, "milk / 2%") as again:
            again["text"] = "Buy milk again"
        self.assertTrue(again["_rev"].startswith("6-"))
        made = database.new_document()
        self.assertEqual(self.connect()[self.name][made["_id"]], {"_id": made["_id"], "_rev": made["_rev"]})

    def test_many_documents_are_saved_at_once(self):
        rows = self.database.bulk_docs([{"_id": "a"}, {"_id": "b"}])
        self.assertTrue(all(row["ok"] for row in rows))
        rows = self.database.bulk_docs([{"_id": "a"}, {"_id": "b", "_rev": rows[1]["rev"], "_deleted": True}])
        self.assertEqual(rows[0]["error"], "conflict")
        self.assertTrue(rows[1]["ok"])

    def test_missing_revisions_are_named(self):
        first = self.database.create_document({"_id": "milk"})["_rev"]
        self.assertEqual(self.database.missing_revisions("milk", first, "2-aaaa"), ["2-aaaa"])
        self.assertEqual(self.database.missing_revisions("milk", first), [])
        self.assertEqual(
            self.database.revisions_diff("milk", first, "2-aaaa"),
            {"milk": {"missing": ["2-aaaa"], "possible_ancestors": [first]}})
        self.assertEqual(self.database.revisions_diff("milk", first), {})
        self.assertEqual(self.database.set_revision_limit(500), {"ok": True})
        self.assertEqual(self.database.get_revision_limit(), 500)

    def test_documents_are_listed(self):
        self.fill()
        database = self.database
        self.assertEqual(database.all_docs(limit=1)["total_rows"], 4)
        for options, ids in [
            ({"keys": ["date", "apple"]}, ["date", "apple"]), ({"key": "beet"}, ["beet"]),
            ({"startkey": "b", "endkey": "cherry"}, ["beet", "cherry"]),
            ({"startkey": "b", "endkey": "cherry", "inclusive_end": False}, ["beet"]),
            ({"descending": True, "limit": 2, "skip": 1}, ["cherry", "beet"]),
        ]:
            with self.subTest(options):
                self.assertEqual([row["id"] for row in database.all_docs(**options)["rows"]], ids)
        result = database.result
        self.assertEqual([row["id"] for row in result[1:3]], ["beet", "cherry"])
        self.assertEqual([row["id"] for row in result[ResultByKey("beet"):]], ["beet", "cherry", "date"])
        self.assertEqual([row["id"] for row in result["date"]], ["date"])
        self.assertEqual(result[0][0]["id"], "apple")
        paged = Result(database.all_docs, page_size=3, include_docs=True)
        self.assertEqual([row["doc"]["rank"] for row in paged], [0, 1, 2, 3])
        with database.custom_result(descending=True, page_size=1) as custom:
            self.assertEqual([row["id"] for row in custom], ["date", "cherry", "beet", "apple"])
        database._fetch_limit = 3
        self.assertEqual([document["_id"] for document in database], ["apple", "beet", "cherry", "date"])

    def test_design_documents_are_stored(self):
        database = self.database
        design = DesignDocument(database, "tasks")
        design.add_view("open", "function (doc) { emit(doc._id) }")
        design.save()
        self.assertEqual(database.list_design_documents(), ["_design/tasks"])
        self.assertEqual(database.design_documents()[0]["doc"]["_id"], "_design/tasks")
        design.add_view("done", "function (doc) { emit(doc._id) }", "_count")
        design.save()
        read = database.get_design_document("_design/tasks")
        self.assertEqual(read.list_views(), ["open", "done"])
        self.assertEqual(read.get_view("done")["reduce"], "_count")
        read.delete()
        self.assertEqual(database.list_design_documents(), [])

    def test_local_documents_are_stored(self):
        with Document(self.database, "_local/checkpoint") as document:
            document["seq"] = 3
        document = Document(self.database, "_local/checkpoint")
        document.fetch()
        self.assertEqual(document, {"_id": "_local/checkpoint", "_rev": "0-1", "seq": 3})
        document["seq"] = 4
        document.save()
        self.assertEqual(document["_rev"], "0-2")
        document.delete()
        self.assertFalse(document.exists())

    # Queries

    def test_documents_are_found_by_selectors(self):
        self.fill()
        query = Query(self.database, selector={"rank": {"$gt": 0}}, fields=["_id"], sort=[{"rank": "desc"}])
        self.assertEqual(query(limit=2)["docs"], [{"_id": "date"}, {"_id": "cherry"}])
        self.assertEqual(query.result[1:], [{"_id": "cherry"}, {"_id": "beet"}])
        self.assertEqual(query.result[0], [{"_id": "date"}])
        with query.custom_result(page_size=2) as result:
            self.assertEqual(list(result), [{"_id": "date"}, {"_id": "cherry"}, {"_id": "beet"}])
        found = self.database.get_query_result({"rank": {"$lt": 2}}, fields=["rank"], raw_result=True, skip=1, r=1)
        self.assertEqual(found["docs"], [{"rank": 1}])
        found = self.database.get_query_result({"rank": 3})
        self.assertEqual([document["_id"] for document in found], ["date"])
        self.assertEqual(
            self.assert_status(400, self.database.get_query_result, {"rank": {"$unknown": 1}}, raw_result=True)["error"],
            "invalid_operator")

    def test_indexes_are_created_listed_used_and_deleted(self):
        self.fill()
        database = self.database
        created = database.create_query_index("_design/ranks", "ranks", fields=["rank", {"_id": "asc"}])
        self.assertEqual((created.design_document_id, created.name), ("_design/ranks", "ranks"))
        named = database.create_query_index(fields=["rank"])
        self.assertTrue(named.design_document_id.startswith("_design/"))
        text = database.create_query_index(
            index_name="words", index_type="text", fields=[{"name": "text", "type": "string"}])
        kinds = {index.name: index for index in database.get_query_indexes()}
        self.assertEqual(set(kinds), {"_all_docs", "ranks", named.name, "words"})
        self.assertIsInstance(kinds["_all_docs"], SpecialIndex)
        self.assertIsInstance(kinds["ranks"], Index)
        self.assertIsInstance(kinds["words"], TextIndex)
        self.assertEqual(kinds["ranks"].definition, {"fields": [{"rank": "asc"}, {"_id": "asc"}]})
        self.assertEqual(database.get_query_indexes(raw_result=True)["total_rows"], 4)
        found = database.get_query_result({"rank": {"$gt": 2}}, use_index="ranks", raw_result=True)
        self.assertEqual([document["_id"] for document in found["docs"]], ["date"])
        self.assertNotIn("warning", found)
        kinds["ranks"].delete()
        database.delete_query_index(text.design_document_id, "text", "words")
        database.delete_query_index(named.design_document_id, "json", named.name)
        self.assertEqual([index.name for index in database.get_query_indexes()], ["_all_docs"])
        self.assert_status(404, kinds["ranks"].delete)

    # Changes

    def test_changes_are_listed(self):
        self.fill()
        self.database["beet"].delete()
        changes = self.database.changes()
        self.assertEqual([change["id"] for change in changes], ["apple", "cherry", "date", "beet"])
        self.assertTrue(changes.last_seq)
        self.database.create_document({"_id": "later"})
        self.assertEqual(
            [change["doc"]["_id"] for change in self.database.changes(since=changes.last_seq, include_docs=True)],
            ["later"])
        self.assertEqual(
            [change["id"] for change in self.database.changes(filter="_doc_ids", doc_ids=["date", "apple"])],
            ["apple", "date"])
        self.assertEqual(
            [change["id"] for change in self.database.changes(descending=True, limit=2, style="all_docs", conflicts=True)],
            ["later", "beet"])
        self.assertEqual(
            [change["id"] for change in self.database.changes(feed="longpoll", heartbeat=100, limit=1)], ["apple"])
        self.assertEqual(list(self.database.changes(feed="longpoll", since="now", timeout=10)), [])
        raw = b"".join(self.database.changes(raw_data=True, limit=1))
        self.assertTrue(raw.startswith(b'{"results":['))

    def test_a_continuous_feed_gives_changes_when_they_happen(self):
        self.fill()
        feed = self.database.changes(feed="continuous", heartbeat=50, chunk_size=1)
        rows = (change for change in feed if change is not None)
        self.assertEqual([next(rows)["id"] for _ in range(4)], ["apple", "beet", "cherry", "date"])
        writer = self.connect()[self.name]
        for n in range(3):
            writer.create_document({"_id": f"later {n}"})
            self.assertEqual(in_background(lambda: next(rows)["id"])(), f"later {n}")
        feed.stop()
        feed._resp.close()
        ended = self.database.changes(feed="continuous", timeout=10)
        self.assertEqual(len([change for change in ended if change is not None]), 7)

    def test_an_infinite_feed_goes_on_after_the_end_of_a_reply(self):
        self.fill()
        feed = self.database.infinite_changes(timeout=20, chunk_size=1)
        self.assertEqual([next(feed)["id"] for _ in range(4)], ["apple", "beet", "cherry", "date"])
        wait = in_background(lambda: next(feed)["id"])
        self.connect()[self.name].create_document({"_id": "later"})
        self.assertEqual(wait(), "later")
        feed.stop()

    # Attachments

    def test_attachments_are_stored_read_and_deleted(self):
        document = self.database.create_document({"_id": "cat"})
        content = bytes(range(256)) * 1000
        self.assertTrue(document.put_attachment("cat.jpg", "image/jpeg", content)["ok"])
        document.put_attachment("a b.txt", "text/plain; charset=utf-8", "Füße".encode())
        document.put_attachment("data.json", "application/json", b'{"n": 1}')
        self.assertEqual(document["_attachments"]["cat.jpg"]["length"], 256_000)
        self.assertEqual(document.get_attachment("cat.jpg"), content)
        self.assertEqual(document.get_attachment("a b.txt"), "Füße")
        self.assertEqual(document.get_attachment("data.json"), {"n": 1})
        file = io.BytesIO()
        document.get_attachment("cat.jpg", write_to=file)
        self.assertEqual(file.getvalue(), content)
        self.assertEqual(
            document.get_attachment("cat.jpg", headers={"Range": "bytes=1-3"}, attachment_type="binary"), b"\x01\x02\x03")
        self.assertTrue(document.delete_attachment("cat.jpg")["ok"])
        self.assert_status(404, document.get_attachment, "cat.jpg")
        self.assertEqual(set(document["_attachments"]), {"a b.txt", "data.json"})

    # Maintenance

    def test_views_are_cleaned_up(self):
        self.assertEqual(self.database.view_cleanup(), {"ok": True})


if __name__ == "__main__":
    unittest.main()
