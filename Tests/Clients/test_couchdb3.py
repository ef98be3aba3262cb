"""The client couchdb3, with its synchronous and its asynchronous API."""

import json
import tempfile
import unittest

import couchdb3
import httpx
from couchdb3.exceptions import (
    BadRequestError, ConflictError, ForbiddenError, MethodNotAllowedError, NotFoundError, PreconditionFailedError,
    UnauthorizedError)

from harness import ADMIN, MEMBER, ServerTestCase, in_background


class Couchdb3TestCase(ServerTestCase):
    def connect(self, user=ADMIN, **options):
        client = couchdb3.Server(self.server.url, user=user.name, password=user.password, **options)
        self.addCleanup(client.session.close)
        return client

    def assert_unsupported(self, action, *arguments, **options):
        with self.assertRaises(httpx.HTTPStatusError) as caught:
            action(*arguments, **options)
        self.assertEqual(caught.exception.response.status_code, 501)
        self.assertEqual(caught.exception.response.json()["error"], "not_implemented")
        self.assertIn("; use ", caught.exception.response.json()["reason"])


class ServerTests(Couchdb3TestCase):
    def test_databases_are_created_listed_described_and_deleted(self):
        client = self.connect()
        first, second = f"{self.name}_a", f"{self.name}_b"
        self.assertNotIn(first, client)
        self.assertEqual(client.create(first, q=2, n=1).name, first)
        client.create(second)
        self.assertIn(first, client)
        self.assertEqual(client[first].info()["db_name"], first)
        self.assertTrue(client.get(second))
        self.assertEqual([name for name in client.all_dbs() if name.startswith(self.name)], [first, second])
        self.assertEqual(client.all_dbs(startkey=json.dumps(second), limit=1), [second])
        self.assertEqual(client.all_dbs(startkey=json.dumps(second), limit=1, skip=1, descending=True), [first])
        self.assertEqual([entry["key"] for entry in client.dbs_info([first, second])], [first, second])
        self.assertEqual(client.dbs_info([first])[0]["info"]["doc_count"], 0)
        with self.assertRaises(PreconditionFailedError):
            client.create(first)
        self.assertTrue(client.delete(first))
        self.assertNotIn(first, client)
        with self.assertRaises(NotFoundError):
            client[first]
        with self.assertRaises(NotFoundError):
            client.delete(first)

    def test_the_server_is_up(self):
        client = self.connect()
        self.assertTrue(client.up(raise_exception=True))
        self.assertTrue(client)
        self.assertEqual(client.info()["couchdb"], "Welcome")
        self.assertEqual(client.active_tasks(), [])

    def test_what_the_server_does_not_have_is_501(self):
        client = self.connect()
        with self.subTest("a partitioned database"):
            self.assert_unsupported(client.create, self.name, partitioned=True)
        with self.subTest("a setting"), self.assertRaises(httpx.HTTPStatusError) as caught:
            client.set_node_config("a", "b", "c")
        self.assertEqual(caught.exception.response.status_code, 501)

    def test_the_node_is_described_and_some_of_its_settings_can_be_changed(self):
        client = self.connect()
        self.assertEqual(client.cluster_setup()["state"], "single_node_enabled")
        self.assertEqual(len(client.membership()["all_nodes"]), 1)
        self.assertIn("max_document_size", client.node_config()["couchdb"])
        self.assertGreater(client.node_stats()["couchdb"]["httpd_request_methods"]["GET"]["value"], 0)
        self.assertGreaterEqual(client.node_system()["uptime"], 0)
        before = client.node_config(section="couchdb", key="max_document_size")
        self.assertEqual(client.set_node_config("couchdb", "max_document_size", "5000000"), before)
        self.assertEqual(client.node_config(section="couchdb", key="max_document_size"), "5000000")
        self.assertEqual(client.delete_node_config("couchdb", "max_document_size"), "5000000")
        self.assertEqual(client.node_config(section="couchdb", key="max_document_size"), before)
        with self.assertRaises(NotFoundError):
            client.delete_node_config("a", "b")
        with self.assertRaises(MethodNotAllowedError):
            client.reload_node_config()

    def test_a_user_logs_in_with_a_session_or_a_password_in_each_request(self):
        for method in ("cookie", "basic"):
            with self.subTest(method):
                client = self.connect(auth_method=method)
                client.create(f"{self.name}_{method}")
                self.assertEqual("AuthSession" in client.session.cookies, method == "cookie")
                with self.assertRaises(UnauthorizedError):
                    couchdb3.Server(
                        self.server.url, user=ADMIN.name, password="wrong", auth_method=method).all_dbs()
        self.assertTrue(self.connect().check_user(ADMIN.name, ADMIN.password))
        with self.assertRaises(UnauthorizedError):
            couchdb3.Server(self.server.url, user=ADMIN.name, password="wrong").all_dbs()

    def test_members_of_a_database_are_those_of_its_security_object(self):
        database = self.connect().create(self.name)
        self.assertEqual(database.security().members.roles, ["_admin"])
        with self.assertRaises(ForbiddenError):
            self.connect(MEMBER).get(self.name)
        security = database.security()
        security.members.add_role("team")
        self.assertTrue(database.update_security(admins=security.admins, members=security.members))
        self.assertEqual(database.security().members.roles, ["_admin", "team"])
        for method in ("cookie", "basic"):
            with self.subTest(method):
                member = self.connect(MEMBER, auth_method=method).get(self.name)
                self.assertTrue(member.save({"_id": f"milk {method}"})[1])
                with self.assertRaises(ForbiddenError):
                    member.put_design("tasks", filters={})
                with self.assertRaises(ForbiddenError):
                    member.update_security(admins={}, members={})
        with self.assertRaises(UnauthorizedError):
            self.connect(MEMBER).create(f"{self.name}_2")
        self.assertEqual(httpx.get(f"{self.server.url}/{self.name}").status_code, 401)


class DatabaseTests(Couchdb3TestCase):
    def setUp(self):
        super().setUp()
        self.database = self.connect().create(self.name)

    def fill(self):
        self.database.bulk_docs([
            {"_id": id, "type": type, "rank": rank}
            for rank, (id, type) in enumerate([("apple", "fruit"), ("beet", "root"), ("cherry", "fruit"), ("date", "fruit")])])

    # Documents

    def test_a_document_is_created_read_changed_and_deleted(self):
        database = self.database
        id, ok, rev = database.save({"_id": "milk", "text": "Buy milk", "n": 1.5, "big": 9007199254740993})
        self.assertEqual((id, ok), ("milk", True))
        self.assertEqual(
            database["milk"], {"_id": "milk", "_rev": rev, "text": "Buy milk", "n": 1.5, "big": 9007199254740993})
        self.assertEqual(database.rev("milk"), rev)
        self.assertIn("milk", database)
        document = database.get("milk")
        document["done"] = True
        second = database.save(document)[2]
        self.assertTrue(second.startswith("2-"))
        with self.assertRaises(ConflictError):
            database.save(document)
        with self.assertRaises(ConflictError):
            database.save({"_id": "milk"})
        self.assertNotIn("done", database.get("milk", rev=rev))
        self.assertEqual(database.get("milk", revs=True)["_revisions"]["start"], 2)
        self.assertEqual(
            [entry["status"] for entry in database.get("milk", revs_info=True)["_revs_info"]], ["available"] * 2)
        self.assertTrue(database.delete("milk", second))
        self.assertIsNone(database.get("milk"))
        self.assertNotIn("milk", database)
        self.assertIsNone(database.rev("milk"))
        with self.assertRaises(NotFoundError) as caught:
            database["milk"]
        self.assertEqual(json.loads(str(caught.exception))["reason"], "deleted")
        with self.assertRaises(NotFoundError) as caught:
            database["bread"]
        self.assertEqual(json.loads(str(caught.exception))["reason"], "missing")

    def test_the_server_makes_ids(self):
        id, ok, rev = self.database.create({"text": "Buy bread"})
        self.assertTrue(ok)
        self.assertEqual(self.database[id]["_rev"], rev)
        id = self.database.create({"text": "Buy bread"}, batch=True)[0]
        self.assertIn(id, self.database)

    def test_a_document_is_copied(self):
        database = self.database
        rev = database.save({"_id": "milk", "text": "Buy milk"})[2]
        database.save({"_id": "milk", "_rev": rev, "text": "Buy more milk"})
        id, ok, copied = database.copy("milk", "bread")
        self.assertEqual((id, ok), ("bread", True))
        self.assertEqual(database["bread"]["text"], "Buy more milk")
        with self.assertRaises(ConflictError):
            database.copy("milk", "bread")
        database.copy("milk", "bread", rev=rev, destrev=copied)
        self.assertEqual(database["bread"]["text"], "Buy milk")

    def test_conflicts_are_kept_and_shown(self):
        database = self.database
        first = database.save({"_id": "milk", "n": 0})[2]
        parent = first.split("-")[1]
        branches = ["2-aaaa", "2-bbbb", "2-cccc"]
        result = database.bulk_docs([
            {"_id": "milk", "_rev": rev, "n": n, "_deleted": n == 2,
             "_revisions": {"start": 2, "ids": [rev.split("-")[1], parent]}}
            for n, rev in enumerate(branches)], new_edits=False)
        self.assertEqual(result, [])
        document = database.get("milk", conflicts=True, deleted_conflicts=True, local_seq=True)
        self.assertEqual(document["_rev"], "2-bbbb")
        self.assertEqual(document["_conflicts"], ["2-aaaa"])
        self.assertEqual(document["_deleted_conflicts"], ["2-cccc"])
        self.assertIn("_local_seq", document)
        self.assertEqual(len(database.get("milk", meta=True)["_revs_info"]), 2)
        self.assertEqual(database.get("milk", rev=first, latest=True)["_rev"], "2-bbbb")
        leaves = database.bulk_get([{"id": "milk"}])[0]["docs"]
        self.assertEqual(sorted(leaf["ok"]["_rev"] for leaf in leaves), branches)

    def test_many_documents_are_saved_and_read_at_once(self):
        database = self.database
        saved = database.bulk_docs([{"_id": "a", "n": 1}, {"n": 2}, {"_id": "c", "n": 3}])
        self.assertTrue(all(row["ok"] for row in saved))
        again = database.bulk_docs([
            {"_id": "a", "n": 4}, {"_id": "c", "_rev": saved[2]["rev"], "_deleted": True}])
        self.assertEqual(again[0], {"id": "a", "error": "conflict", "reason": "Document update conflict."})
        self.assertTrue(again[1]["ok"])
        read = database.bulk_get(
            [{"id": "a"}, {"id": "none"}, {"id": "c", "rev": saved[2]["rev"]}], revs=True)
        self.assertEqual([row["id"] for row in read], ["a", "none", "c"])
        self.assertEqual(read[0]["docs"][0]["ok"]["_revisions"]["start"], 1)
        self.assertEqual(read[1]["docs"][0]["error"]["error"], "not_found")
        self.assertEqual(read[2]["docs"][0]["ok"]["n"], 3)

    def test_documents_are_listed(self):
        self.fill()
        listed = self.database.all_docs()
        self.assertEqual((listed.total_rows, listed.offset), (4, 0))
        for options, ids in [
            ({}, ["apple", "beet", "cherry", "date"]), ({"limit": 2, "skip": 1}, ["beet", "cherry"]),
            ({"descending": True, "limit": 1}, ["date"]), ({"keys": ["date", "apple"]}, ["date", "apple"]),
            ({"startkey": '"b"', "endkey": '"cherry"'}, ["beet", "cherry"]),
            ({"startkey": '"b"', "endkey": '"cherry"', "inclusive_end": False}, ["beet"]),
            ({"key": '"beet"'}, ["beet"]), ({"key": '"none"'}, []),
        ]:
            with self.subTest(options):
                self.assertEqual([row.id for row in self.database.all_docs(**options).rows], ids)
        row = self.database.all_docs(keys=["beet", "none"], include_docs=True, conflicts=True).rows
        self.assertEqual(row[0].doc["type"], "root")
        self.assertEqual(row[1]["error"], "not_found")

    # Design documents

    def test_design_documents_are_stored_and_their_functions_are_501(self):
        database = self.database
        id, ok, rev = database.put_design("tasks", views={"open": {"map": "function (doc) { emit(doc._id) }"}})
        self.assertEqual((id, ok), ("_design/tasks", True))
        self.assertIn("open", database.get_design("tasks")["views"])
        self.assert_unsupported(database.view, "tasks", "open")
        rev = database.put_design("tasks", rev=rev, language="javascript", filters={})[2]
        database.save({"_id": "milk"})
        self.assertEqual([row.id for row in database.design_docs().rows], ["_design/tasks"])
        self.assertEqual(
            database.design_docs(keys=["_design/tasks"], include_docs=True).rows[0].doc["language"], "javascript")
        self.assertTrue(database.delete("_design/tasks", rev))
        self.assertEqual(database.design_docs().rows, [])

    def test_local_documents_are_not_replicated(self):
        database = self.database
        id, ok, rev = database.save({"_id": "_local/checkpoint", "seq": 3})
        self.assertEqual((id, ok, rev), ("_local/checkpoint", True, "0-1"))
        self.assertEqual(database["_local/checkpoint"]["seq"], 3)
        self.assertEqual(database.changes()["results"], [])
        self.assertEqual(database.create({"_id": "_local/other"}), ("_local/other", True, "0-1"))
        self.assertIn("_local/other", database)
        self.assertTrue(database.delete("_local/checkpoint", rev))
        self.assertNotIn("_local/checkpoint", database)

    # Queries

    def test_documents_are_found_by_selectors(self):
        self.fill()
        database = self.database
        for index in (False, True):
            if index:
                self.assertEqual(
                    database.save_index({"fields": ["type", "rank"]}, ddoc="kinds", name="kinds"),
                    ("created", "_design/kinds", "kinds"))
            with self.subTest(index=index):
                found = database.find({"type": "fruit"}, fields=["_id", "rank"], sort=[{"rank": "desc"}], limit=2)
                self.assertEqual(found["docs"], [{"_id": "date", "rank": 3}, {"_id": "cherry", "rank": 2}])
                self.assertEqual("warning" in found, not index)
                found = database.find(
                    {"type": "fruit"}, fields=["_id"], sort=[{"rank": "desc"}], limit=2, bookmark=found["bookmark"])
                self.assertEqual(found["docs"], [{"_id": "apple"}])
                found = database.find(
                    {"rank": {"$gt": 0}, "type": {"$in": ["fruit", "root"]}}, skip=1, conflicts=True,
                    execution_stats=True)
                # Without a sort the order is that of the ids, or of the index.
                self.assertEqual(
                    [document["_id"] for document in found["docs"]], ["date", "beet"] if index else ["cherry", "date"])
                self.assertEqual(found["execution_stats"]["results_returned"], 2)
        self.assertEqual(database.find({"type": "root"}, use_index="kinds")["docs"][0]["_id"], "beet")
        self.assertEqual(database.find({"type": "root"}, use_index=["_design/kinds", "kinds"])["docs"][0]["_id"], "beet")
        with self.assertRaises(BadRequestError):
            database.find({"type": {"$unknown": 1}})

    def test_indexes_are_created_explained_listed_and_deleted(self):
        self.fill()
        database = self.database
        database.save_index({"fields": [{"type": "asc"}]}, ddoc="kinds", name="kinds")
        self.assertEqual(database.save_index({"fields": ["type"]}, ddoc="kinds", name="kinds")[0], "exists")
        indexes = database.indexes()
        self.assertEqual(indexes["total_rows"], 2)
        self.assertEqual(indexes["indexes"][0]["name"], "_all_docs")
        self.assertEqual(indexes["indexes"][1]["def"], {"fields": [{"type": "asc"}]})
        plan = database.explain({"type": "root"}, limit=10, skip=2, fields=["_id"])
        self.assertEqual(plan["index"]["name"], "kinds")
        self.assertEqual((plan["dbname"], plan["limit"], plan["skip"], plan["fields"]), (self.name, 10, 2, ["_id"]))
        self.assertEqual(database.explain({"other": 1})["index"]["name"], "_all_docs")
        self.assertTrue(database.delete_index("_design/kinds", "kinds"))
        self.assertEqual(database.indexes()["total_rows"], 1)
        with self.assertRaises(NotFoundError):
            database.delete_index("kinds", "kinds")

    # Changes

    def test_changes_are_listed(self):
        self.fill()
        database = self.database
        changes = database.changes()
        self.assertEqual([row["id"] for row in changes["results"]], ["apple", "beet", "cherry", "date"])
        self.assertEqual(changes["pending"], 0)
        database.delete("beet", database.rev("beet"))
        since = database.changes(since=changes["last_seq"], include_docs=True, style="all_docs")
        self.assertEqual([(row["id"], row["deleted"], row["doc"]["_deleted"]) for row in since["results"]],
                         [("beet", True, True)])
        self.assertEqual(database.changes(since="now")["results"], [])
        part = database.changes(limit=1)
        self.assertEqual((len(part["results"]), part["pending"]), (1, 3))
        self.assertEqual(database.changes(descending=True, limit=1)["results"][0]["id"], "beet")
        self.assertEqual([row["id"] for row in database.changes(doc_ids=["date", "none"])["results"]], ["date"])
        self.assertEqual(
            [row["id"] for row in database.changes(selector={"rank": {"$gt": 1}})["results"]], ["cherry", "date"])
        self.assertEqual(database.changes(filter="_design")["results"], [])
        self.assert_unsupported(database.changes, filter="tasks/open")
        self.assert_unsupported(database.changes, filter="_view", view="tasks/open")
        with self.assertRaises(BadRequestError):
            database.changes(filter="_unknown")

    def test_a_longpoll_waits_for_a_change(self):
        database = self.database
        last = database.info()["update_seq"]
        nothing = database.changes(feed="longpoll", since=last, timeout=10)
        self.assertEqual((nothing["results"], nothing["last_seq"]), ([], last))
        wait = in_background(lambda: self.connect().get(self.name).changes(feed="longpoll", since=last, heartbeat=1000))
        database.save({"_id": "milk"})
        self.assertEqual([row["id"] for row in wait()["results"]], ["milk"])

    def test_a_stream_gives_changes_when_they_happen(self):
        database = self.database
        writer = self.connect().get(self.name)
        writer.save({"_id": "first"})
        with database.changes_stream(heartbeat=100, include_docs=True) as changes:
            self.assertEqual(next(changes)["doc"]["_id"], "first")
            for n in range(3):
                writer.save({"_id": f"later {n}"})
                self.assertEqual(next(changes)["id"], f"later {n}")
        with database.changes_stream(timeout=10, doc_ids=["first"], filter="_doc_ids") as changes:
            lines = list(changes)
        self.assertEqual(lines[0]["id"], "first")
        self.assertEqual(lines[1]["last_seq"], database.info()["update_seq"])
        with database.changes_stream(limit=1, selector={"_id": "later 1"}, filter="_selector") as changes:
            self.assertEqual(next(changes)["id"], "later 1")

    # Attachments

    def test_attachments_are_stored_read_and_deleted(self):
        database = self.database
        content = bytes(range(256)) * 1000
        rev = database.save({"_id": "cat"})[2]
        id, ok, second = database.put_attachment("cat", "cat.jpg", content=content, content_type="image/jpeg", rev=rev)
        self.assertEqual((id, ok, second[:2]), ("cat", True, "2-"))
        with tempfile.NamedTemporaryFile(suffix=".txt") as file:
            file.write("Füße".encode())
            file.flush()
            third = database.put_attachment("cat", "notes/a b.txt", path=file.name, rev=second)[2]
        read = database.get_attachment("cat", "cat.jpg")
        self.assertEqual((read.content, read.content_type, int(read.content_length)), (content, "image/jpeg", 256_000))
        self.assertEqual(database.get_attachment("cat", "notes/a b.txt").content.decode(), "Füße")
        self.assertIn("cat/cat.jpg", database)
        stub = database["cat"]["_attachments"]["cat.jpg"]
        self.assertEqual((stub["length"], stub["revpos"], stub["stub"]), (256_000, 2, True))
        with self.assertRaises(NotFoundError):
            database.get_attachment("cat", "notes/a b.txt", rev=second)
        with self.assertRaises(ConflictError):
            database.put_attachment("cat", "cat.jpg", content=b"old", content_type="image/jpeg", rev=rev)
        inline = database.get("cat", attachments=True, atts_since=[second])["_attachments"]
        self.assertIn("data", inline["notes/a b.txt"])
        self.assertTrue(inline["cat.jpg"]["stub"])
        self.assertTrue(database.delete_attachment("cat", "cat.jpg", third))
        self.assertNotIn("cat/cat.jpg", database)
        self.assertEqual(list(database["cat"]["_attachments"]), ["notes/a b.txt"])
        row = database.all_docs(key='"cat"', include_docs=True, attachments=True).rows[0]
        self.assertEqual(row.doc["_attachments"]["notes/a b.txt"]["data"], "RsO8w59l")

    # Maintenance

    def test_a_database_is_compacted(self):
        self.assertTrue(self.database.compact())

    def test_partitions_and_purging_are_501(self):
        partition = self.database.get_partition("sensors")
        self.assert_unsupported(partition.info)
        self.assert_unsupported(partition.all_docs)
        self.assert_unsupported(partition.find, {"a": 1})
        self.assert_unsupported(self.database.purge, {"milk": ["1-a"]})
        self.assertTrue(partition.save({"_id": "one"})[1])
        self.assertIn("one", partition)


class AsyncTests(Couchdb3TestCase, unittest.IsolatedAsyncioTestCase):
    async def test_the_asynchronous_client_does_the_same(self):
        async with couchdb3.AsyncServer(self.server.url, user=ADMIN.name, password=ADMIN.password) as client:
            self.assertTrue(await client.up())
            database = await client.create(self.name)
            self.assertIn(self.name, await client.all_dbs())
            _, _, rev = await database.save({"_id": "milk", "n": 1})
            self.assertEqual((await database.get("milk"))["n"], 1)
            self.assertEqual(await database.rev("milk"), rev)
            with self.assertRaises(ConflictError):
                await database.save({"_id": "milk"})
            self.assertEqual(len(await database.bulk_docs([{"_id": "a"}, {"_id": "b"}])), 2)
            self.assertEqual(len((await database.all_docs(keys=["a", "b"])).rows), 2)
            await database.save_index({"fields": ["n"]}, name="numbers")
            self.assertEqual((await database.find({"n": 1}))["docs"][0]["_id"], "milk")
            self.assertEqual((await database.explain({"n": 1}))["dbname"], self.name)
            await database.put_attachment("milk", "a", content=b"abc", content_type="text/plain", rev=rev)
            self.assertEqual((await database.get_attachment("milk", "a")).content, b"abc")
            # The index is a design document.
            self.assertEqual(len((await database.changes())["results"]), 4)
            async with database.changes_stream(heartbeat=100) as changes:
                seen = {(await anext(changes))["id"] for _ in range(4)}
            self.assertEqual({id for id in seen if not id.startswith("_design/")}, {"milk", "a", "b"})
            await database.delete("milk", await database.rev("milk"))
            self.assertIsNone(await database.get("milk"))
            await client.delete(self.name)


if __name__ == "__main__":
    unittest.main()
