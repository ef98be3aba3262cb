"""The client ibmcloudant."""

import email
import io
import json
import time
import unittest

from ibm_cloud_sdk_core import ApiException
from ibm_cloud_sdk_core.authenticators import BasicAuthenticator, NoAuthAuthenticator
from ibmcloudant import CouchDbSessionAuthenticator, Pagination, PagerType
from ibmcloudant import cloudant_v1 as models
from ibmcloudant.cloudant_v1 import (
    Analyzer, AllDocsQuery, Attachment, BulkDocs, BulkGetQueryDocument, CloudantV1, DesignDocument, Document,
    IndexDefinition, IndexField, ReplicationDocument, SecurityObject, ViewQuery)
from ibmcloudant.features.changes_follower import ChangesFollower

from harness import ADMIN, MEMBER, ServerTestCase, User, in_background


class IbmcloudantTests(ServerTestCase):
    def connect(self, user=ADMIN, authenticator=CouchDbSessionAuthenticator):
        client = CloudantV1(authenticator=authenticator(user.name, user.password) if user else NoAuthAuthenticator())
        client.set_service_url(self.server.url)
        self.addCleanup(client.get_http_client().close)
        return client

    def setUp(self):
        super().setUp()
        self.client = self.connect()
        self.client.put_database(self.name)

    def fill(self):
        self.client.post_bulk_docs(self.name, BulkDocs([
            Document(_id=id, rank=rank) for rank, id in enumerate(["apple", "beet", "cherry", "date"])]))

    def save(self, id, rev=None, **members):
        """Saves a document, and returns its new revision."""
        return self.client.put_document(self.name, id, Document(**members), rev=rev).get_result()["rev"]

    def assert_status(self, status, action, *arguments, **options):
        with self.assertRaises(ApiException) as caught:
            action(*arguments, **options)
        self.assertEqual(caught.exception.status_code, status)
        return caught.exception

    # The server

    def test_the_server_describes_itself(self):
        client = self.client
        self.assertEqual(client.get_server_information().get_result()["couchdb"], "Welcome")
        self.assertEqual(client.get_up_information().get_result()["status"], "ok")
        self.assertEqual(client.head_up_information().get_status_code(), 200)
        self.assertEqual(len(client.get_uuids(count=3).get_result()["uuids"]), 3)
        self.assertEqual(client.get_active_tasks().get_result(), [])

    def test_databases_are_created_listed_described_and_deleted(self):
        client, name = self.client, self.name
        self.assertEqual(client.head_database(name).get_status_code(), 200)
        self.assertEqual(client.get_database_information(name).get_result()["db_name"], name)
        self.assertIn(name, client.get_all_dbs().get_result())
        self.assertEqual(client.get_all_dbs(start_key=f'"{name}"', limit=1).get_result(), [name])
        self.assertEqual(client.get_all_dbs(end_key=f'"{name}"', descending=True).get_result()[-1], name)
        information = client.post_dbs_info([name, "none"]).get_result()
        self.assertEqual(information[0]["info"]["doc_count"], 0)
        self.assertEqual(information[1]["error"], "not_found")
        self.assertEqual(self.assert_status(412, client.put_database, name).message, client_message(
            "file_exists", "The database could not be created, the file already exists."))
        client.delete_database(name)
        self.assert_status(404, client.head_database, name)
        self.assert_status(404, client.get_database_information, name)

    def test_a_user_logs_in_with_a_session_or_a_password_in_each_request(self):
        for authenticator, handler in ((CouchDbSessionAuthenticator, "cookie"), (BasicAuthenticator, "default")):
            with self.subTest(handler):
                session = self.connect(authenticator=authenticator).get_session_information().get_result()
                self.assertEqual(session["userCtx"], {"name": ADMIN.name, "roles": ["_admin"]})
                self.assertEqual(session["info"]["authenticated"], handler)
        anonymous = self.connect(user=None)
        self.assertIsNone(anonymous.get_session_information().get_result()["userCtx"]["name"])
        self.assert_status(401, anonymous.get_all_dbs)
        stranger = self.connect(User(ADMIN.name, "wrong"), authenticator=BasicAuthenticator)
        self.assert_status(401, stranger.get_all_dbs)

    def test_members_of_a_database_are_those_of_its_security_object(self):
        member = self.connect(MEMBER)
        self.assert_status(403, member.get_database_information, self.name)
        self.assertEqual(self.client.get_security(self.name).get_result()["members"]["roles"], ["_admin"])
        self.client.put_security(
            self.name, admins=SecurityObject(names=[], roles=["_admin"]), members=SecurityObject(names=[MEMBER.name], roles=[]))
        self.assertEqual(member.get_security(self.name).get_result()["members"], {"names": [MEMBER.name], "roles": []})
        self.assertTrue(member.post_document(self.name, Document(_id="milk")).get_result()["ok"])
        self.assert_status(403, member.put_design_document, self.name, "tasks", DesignDocument())
        self.assert_status(403, member.put_security, self.name)
        self.assert_status(401, member.put_database, f"{self.name}_2")

    def test_what_the_server_does_not_have_is_501(self):
        client, name = self.client, self.name
        client.put_design_document(
            name, "tasks", DesignDocument.from_dict({"views": {"open": {"map": "function (doc) { emit(doc._id) }"}}}))
        for action, arguments in [
            (client.post_view, (name, "tasks", "open")), (client.post_view_as_stream, (name, "tasks", "open")),
            (client.post_view_queries, (name, "tasks", "open", [ViewQuery()])),
            (client.get_design_document_information, (name, "tasks")),
            (client.post_search, (name, "tasks", "index", "a")), (client.get_search_info, (name, "tasks", "index")),
            (client.get_search_disk_size, (name, "tasks", "index")), (client.post_search_analyze, ("english", "a")),
            (client.get_partition_information, (name, "sensors")), (client.post_partition_all_docs, (name, "sensors")),
            (client.post_partition_find, (name, "sensors", {"a": 1})),
            (client.post_partition_explain, (name, "sensors", {"a": 1})),
            (client.post_partition_view, (name, "sensors", "tasks", "open")),
            (client.get_db_updates, ()), (client.get_shards_information, (name,)),
            (client.get_document_shards_info, (name, "a")),
        ]:
            with self.subTest(action.__name__):
                error = self.assert_status(501, action, *arguments)
                if not action.__name__.startswith("head_"):
                    self.assertRegex(error.message, "^not_implemented: .* is not supported; use ")
        with self.subTest("a partitioned database"):
            self.assert_status(501, client.put_database, f"{name}_parts", partitioned=True)

    def test_a_replication_is_described_by_a_document(self):
        client, name = self.client, self.name
        self.fill()
        client.put_database("_replicator")
        self.addCleanup(client.delete_database, "_replicator")
        self.addCleanup(client.delete_database, f"{name}_copy")
        replication = ReplicationDocument(
            source={"url": name}, target={"url": f"{name}_copy"}, create_target=True)
        client.put_replication_document("copy", replication)
        for _ in range(600):
            document = client.get_scheduler_document("copy").get_result()
            if document["state"] == "completed":
                break
            time.sleep(0.1)
        self.assertEqual(document["state"], "completed")
        models.SchedulerDocument.from_dict(document)
        self.assertEqual(client.get_scheduler_docs().get_result()["total_rows"], 1)
        self.assertEqual(client.get_scheduler_jobs().get_result()["jobs"], [])
        state = client.get_replication_document("copy").get_result()["_replication_state"]
        self.assertEqual(state, "completed")

    def test_replies_fit_the_models_of_the_client(self):
        self.fill()
        client, name = self.client, self.name
        client.post_index(name, IndexDefinition(fields=[IndexField(rank="asc")]), name="ranks")
        client.post_index(name, IndexDefinition(fields=[IndexField(other="asc")]), name="others")
        rev = client.get_document(name, "apple").get_result()["_rev"]
        # A required member that is missing is an error.
        for model, reply in [
            (models.DatabaseInformation, client.get_database_information(name)),
            (models.UpInformation, client.get_up_information()), (models.UuidsResult, client.get_uuids()),
            (models.SessionInformation, client.get_session_information()),
            (models.Security, client.get_security(name)), (models.AllDocsResult, client.post_all_docs(name)),
            (models.AllDocsResult, client.post_design_docs(name)),
            (models.AllDocsQueriesResult, client.post_all_docs_queries(name, [AllDocsQuery(limit=1)])),
            (models.ChangesResult, client.post_changes(name, include_docs=True)),
            (models.FindResult, client.post_find(name, {"rank": 1}, execution_stats=True)),
            (models.ExplainResult, client.post_explain(name, {"rank": 1})),
            (models.IndexesInformation, client.get_indexes_information(name)),
            (models.BulkGetResult, client.post_bulk_get(name, [BulkGetQueryDocument(id="apple"), BulkGetQueryDocument(id="no")])),
            (models.Document, client.get_document(name, "apple", revs=True, revs_info=True, conflicts=True)),
            (models.DocumentResult, client.put_document(name, "apple", Document(_rev=rev))),
            (models.DocumentResult, client.put_local_document(name, "a", Document())),
        ]:
            with self.subTest(model.__name__):
                model.from_dict(reply.get_result())
        for model, reply in [
            (models.DbsInfoResult, client.post_dbs_info([name, "none"])),
            (models.DocumentResult, client.post_bulk_docs(name, BulkDocs([Document(_id="apple"), Document(_id="new")]))),
        ]:
            with self.subTest(model.__name__):
                for row in reply.get_result():
                    model.from_dict(row)

    # Documents

    def test_a_document_is_created_read_changed_and_deleted(self):
        client, name = self.client, self.name
        saved = client.post_document(name, Document(_id="milk / 2%", text="Buy milk", n=1.0))
        self.assertEqual(saved.get_status_code(), 201)
        first = saved.get_result()["rev"]
        read = client.get_document(name, "milk / 2%")
        self.assertEqual(read.get_result(), {"_id": "milk / 2%", "_rev": first, "text": "Buy milk", "n": 1.0})
        self.assertEqual(read.get_headers()["ETag"], f'"{first}"')
        self.assertEqual(client.head_document(name, "milk / 2%").get_headers()["ETag"], f'"{first}"')
        document = Document.from_dict(read.get_result())
        document.done = True
        second = client.put_document(name, "milk / 2%", document).get_result()["rev"]
        self.assert_status(409, client.put_document, name, "milk / 2%", document)
        third = client.put_document(name, "milk / 2%", Document(done=False), if_match=second).get_result()["rev"]
        self.assertEqual(client.get_document(name, "milk / 2%", rev=first).get_result()["n"], 1.0)
        full = client.get_document(name, "milk / 2%", revs=True, revs_info=True, local_seq=True, meta=True).get_result()
        self.assertEqual(full["_revisions"]["start"], 3)
        self.assertEqual([entry["rev"] for entry in full["_revs_info"]], [third, second, first])
        stream = client.get_document_as_stream(name, "milk / 2%").get_result()
        self.assertEqual(json.loads(stream.content)["_rev"], third)
        raw = client.post_document(name, io.BytesIO(b'{"_id": "raw"}'), content_type="application/json", batch="ok")
        self.assertTrue(raw.get_result()["ok"])
        self.assert_status(409, client.delete_document, name, "milk / 2%", rev=second)
        self.assertTrue(client.delete_document(name, "milk / 2%", rev=third).get_result()["ok"])
        self.assertEqual(
            self.assert_status(404, client.get_document, name, "milk / 2%").message, client_message("not_found", "deleted"))
        self.assertEqual(
            self.assert_status(404, client.get_document, name, "none").message, client_message("not_found", "missing"))
        self.assert_status(404, client.head_document, name, "none")
        self.assert_status(400, client.get_document, name, "raw", rev="abc")

    def test_what_a_client_has_is_not_sent_again(self):
        rev = self.save("milk")
        # The client takes 304 for a failure.
        self.assert_status(304, self.client.get_document, self.name, "milk", if_none_match=f'"{rev}"')
        self.assertEqual(
            self.client.get_document(self.name, "milk", if_none_match='"1-aaaa"').get_result()["_rev"], rev)

    def insert_conflicts(self):
        first = self.save("milk")
        parent = first.split("-")[1]
        for id, deleted in (("aaaa", False), ("bbbb", False), ("cccc", True)):
            self.client.put_document(self.name, "milk", Document(
                _deleted=deleted, _revisions={"start": 2, "ids": [id, parent]}, branch=id), new_edits=False)
        return first

    def test_conflicts_are_kept_and_shown(self):
        client, name = self.client, self.name
        first = self.insert_conflicts()
        document = client.get_document(name, "milk", conflicts=True, deleted_conflicts=True).get_result()
        self.assertEqual(document["_rev"], "2-bbbb")
        self.assertEqual(document["_conflicts"], ["2-aaaa"])
        self.assertEqual(document["_deleted_conflicts"], ["2-cccc"])
        self.assertEqual(client.get_document(name, "milk", rev=first, latest=True).get_result()["_rev"], "2-bbbb")
        wanted = {"milk": ["2-aaaa", "3-dddd", first]}
        self.assertEqual(client.post_revs_diff(name, wanted).get_result(), {
            "milk": {"missing": ["3-dddd"], "possible_ancestors": ["2-bbbb", "2-aaaa", "2-cccc"]}})

    def test_many_documents_are_saved_and_read_at_once(self):
        client, name = self.client, self.name
        rows = client.post_bulk_docs(name, BulkDocs([Document(_id="a", n=1), Document(n=2)])).get_result()
        self.assertTrue(all(row["ok"] for row in rows))
        body = json.dumps({"docs": [{"_id": "a"}, {"_id": "b", "_rev": "3-cccc"}], "new_edits": True})
        rows = client.post_bulk_docs(name, io.BytesIO(body.encode())).get_result()
        self.assertEqual([row.get("error") for row in rows], ["conflict", "conflict"])
        rows = client.post_bulk_docs(name, BulkDocs([Document(_id="b", _rev="3-cccc")], new_edits=False)).get_result()
        self.assertEqual(rows, [])
        wanted = [BulkGetQueryDocument(id="a"), BulkGetQueryDocument(id="b", rev="3-cccc"), BulkGetQueryDocument(id="none")]
        results = client.post_bulk_get(name, wanted, revs=True).get_result()["results"]
        self.assertEqual([result["id"] for result in results], ["a", "b", "none"])
        self.assertEqual(results[1]["docs"][0]["ok"]["_revisions"], {"start": 3, "ids": ["cccc"]})
        self.assertEqual(results[2]["docs"][0]["error"]["error"], "not_found")
        streamed = client.post_bulk_get_as_stream(name, wanted, revs=True).get_result()
        self.assertEqual(json.loads(streamed.content)["results"], results)

    def test_documents_are_listed(self):
        self.fill()
        client, name = self.client, self.name
        for options, ids in [
            ({}, ["apple", "beet", "cherry", "date"]), ({"keys": ["date", "apple"]}, ["date", "apple"]),
            ({"key": "beet"}, ["beet"]), ({"start_key": "b", "end_key": "cherry"}, ["beet", "cherry"]),
            ({"start_key": "b", "end_key": "cherry", "inclusive_end": False}, ["beet"]),
            ({"descending": True, "limit": 2, "skip": 1}, ["cherry", "beet"]),
        ]:
            with self.subTest(options):
                self.assertEqual([row["id"] for row in client.post_all_docs(name, **options).get_result()["rows"]], ids)
        listed = client.post_all_docs(name, include_docs=True, conflicts=True, attachments=True, limit=1).get_result()
        self.assertEqual((listed["total_rows"], listed["offset"], listed["rows"][0]["doc"]["rank"]), (4, 0, 0))
        listed = client.post_all_docs(name, update_seq=True, limit=0).get_result()
        self.assertEqual(listed["update_seq"], client.get_database_information(name).get_result()["update_seq"])
        streamed = client.post_all_docs_as_stream(name, key="none").get_result()
        self.assertEqual(json.loads(streamed.content)["rows"], [])
        queries = [AllDocsQuery(keys=["date"]), AllDocsQuery(limit=1, include_docs=True)]
        results = client.post_all_docs_queries(name, queries).get_result()["results"]
        self.assertEqual([[row["id"] for row in result["rows"]] for result in results], [["date"], ["apple"]])
        streamed = client.post_all_docs_queries_as_stream(name, queries).get_result()
        self.assertEqual(json.loads(streamed.content)["results"], results)

    def test_pages_of_documents_follow_each_other(self):
        client, name = self.client, self.name
        client.post_bulk_docs(name, BulkDocs([Document(_id=f"{n:03}", n=n) for n in range(25)]))
        for n in range(3):
            client.put_design_document(name, f"d{n}", DesignDocument())
        pages = Pagination.new_pagination(client, PagerType.POST_ALL_DOCS, db=name, limit=10, end_key="0~").pages()
        self.assertEqual([len(page) for page in pages], [10, 10, 5])
        rows = Pagination.new_pagination(client, PagerType.POST_DESIGN_DOCS, db=name, limit=2).rows()
        self.assertEqual([row.id for row in rows], ["_design/d0", "_design/d1", "_design/d2"])
        rows = Pagination.new_pagination(client, PagerType.POST_FIND, db=name, limit=7, selector={"n": {"$gte": 3}}).rows()
        self.assertEqual([row.n for row in rows], list(range(3, 25)))

    def test_design_documents_are_stored(self):
        client, name = self.client, self.name
        rev = client.put_design_document(name, "tasks", DesignDocument(
            language="javascript", views={"open": {"map": "function (doc) { emit(doc._id) }"}})).get_result()["rev"]
        read = client.get_design_document(name, "tasks", revs_info=True).get_result()
        self.assertEqual((read["_id"], read["_rev"], list(read["views"])), ("_design/tasks", rev, ["open"]))
        self.assertEqual(client.head_design_document(name, "tasks").get_headers()["ETag"], f'"{rev}"')
        rev = client.put_design_document(name, "tasks", DesignDocument(filters={}), rev=rev).get_result()["rev"]
        self.save("milk")
        listed = client.post_design_docs(name, include_docs=True).get_result()
        self.assertEqual([row["doc"]["_id"] for row in listed["rows"]], ["_design/tasks"])
        results = client.post_design_docs_queries(
            name, [AllDocsQuery(key="_design/tasks"), AllDocsQuery(start_key="_design/u")]).get_result()["results"]
        self.assertEqual([len(result["rows"]) for result in results], [1, 0])
        self.assertTrue(client.delete_design_document(name, "tasks", rev=rev).get_result()["ok"])
        self.assert_status(404, client.get_design_document, name, "tasks")

    def test_local_documents_are_stored(self):
        client, name = self.client, self.name
        saved = client.put_local_document(name, "checkpoint", Document(seq=3)).get_result()
        self.assertEqual(saved, {"ok": True, "id": "_local/checkpoint", "rev": "0-1"})
        self.assertEqual(client.get_local_document(name, "checkpoint").get_result()["seq"], 3)
        self.assertEqual(client.head_local_document(name, "checkpoint").get_status_code(), 200)
        self.assertEqual(client.delete_local_document(name, "checkpoint").get_result()["rev"], "0-0")
        self.assert_status(404, client.get_local_document, name, "checkpoint")
        self.assert_status(404, client.head_local_document, name, "checkpoint")

    # Queries

    def test_documents_are_found_by_selectors(self):
        self.fill()
        client, name = self.client, self.name
        for is_indexed in (False, True):
            if is_indexed:
                client.post_index(name, IndexDefinition(fields=[IndexField(rank="asc")]), name="ranks", ddoc="ranks")
            with self.subTest(is_indexed=is_indexed):
                found = client.post_find(
                    name, {"rank": {"$gt": 0}}, fields=["_id"], sort=[{"rank": "desc"}], limit=2).get_result()
                self.assertEqual(found["docs"], [{"_id": "date"}, {"_id": "cherry"}])
                self.assertEqual("warning" in found, not is_indexed)
                found = client.post_find(
                    name, {"rank": {"$gt": 0}}, fields=["_id"], sort=[{"rank": "desc"}], limit=2,
                    bookmark=found["bookmark"]).get_result()
                self.assertEqual(found["docs"], [{"_id": "beet"}])
        found = client.post_find(
            name, {"rank": {"$lt": 3}}, skip=1, use_index=["ranks"], execution_stats=True, conflicts=True, r=1,
            stable=True, update="true", allow_fallback=False).get_result()
        self.assertEqual([document["_id"] for document in found["docs"]], ["beet", "cherry"])
        self.assertEqual(found["execution_stats"]["results_returned"], 2)
        streamed = client.post_find_as_stream(name, {"rank": 3}).get_result()
        self.assertEqual(json.loads(streamed.content)["docs"][0]["_id"], "date")
        self.assertRegex(
            self.assert_status(400, client.post_find, name, {"rank": {"$unknown": 1}}).message, "^invalid_operator: ")
        self.assertRegex(
            self.assert_status(
                400, client.post_find, name, {"rank": 1}, use_index=["none"], allow_fallback=False).message,
            "^invalid_index: ")

    def test_indexes_are_created_explained_listed_and_deleted(self):
        client, name = self.client, self.name
        definition = IndexDefinition(fields=[IndexField(type="asc"), IndexField(rank="asc")])
        created = client.post_index(name, definition, ddoc="kinds", name="kinds").get_result()
        self.assertEqual(created, {"result": "created", "id": "_design/kinds", "name": "kinds"})
        again = client.post_index(name, definition, ddoc="kinds", name="kinds", type="json", partitioned=False)
        self.assertEqual(again.get_result()["result"], "exists")
        client.post_index(name, IndexDefinition(
            fields=[IndexField(name="text", type="string")], default_analyzer=Analyzer("english")), name="words", type="text")
        listed = client.get_indexes_information(name).get_result()
        self.assertEqual(listed["total_rows"], 3)
        self.assertEqual([index["name"] for index in listed["indexes"]], ["_all_docs", "kinds", "words"])
        self.assertEqual([index["type"] for index in listed["indexes"]], ["special", "json", "text"])
        plan = client.post_explain(name, {"type": "fruit"}, limit=10, fields=["_id"]).get_result()
        self.assertEqual((plan["index"]["name"], plan["limit"], plan["fields"]), ("kinds", 10, ["_id"]))
        self.assertTrue(client.delete_index(name, "kinds", "json", "kinds").get_result()["ok"])
        self.assertTrue(client.delete_index(name, "words", "text", "words").get_result()["ok"])
        self.assert_status(404, client.delete_index, name, "kinds", "json", "kinds")

    # Changes

    def test_changes_are_listed(self):
        self.fill()
        client, name = self.client, self.name

        def ids(**options):
            return [row["id"] for row in client.post_changes(name, **options).get_result()["results"]]

        changes = client.post_changes(name).get_result()
        self.assertEqual([row["id"] for row in changes["results"]], ["apple", "beet", "cherry", "date"])
        last = changes["last_seq"]
        self.save("later", text="x")
        self.assertEqual(ids(since=last), ["later"])
        self.assertEqual(ids(last_event_id=last), ["later"])
        self.assertEqual(ids(filter="_doc_ids", doc_ids=["date", "none"]), ["date"])
        self.assertEqual(ids(filter="_selector", selector={"rank": {"$gt": 1}}, style="all_docs"), ["cherry", "date"])
        self.assertEqual(ids(descending=True, limit=2, seq_interval=2), ["later", "date"])
        self.assertEqual(ids(feed="longpoll", since="now", timeout=10), [])
        row = client.post_changes(
            name, filter="_selector", selector={"_id": "apple"}, fields=["rank"], include_docs=True, conflicts=True,
            attachments=True).get_result()["results"][0]
        self.assertEqual(row["doc"], {"rank": 0})
        self.assert_status(501, client.post_changes, name, filter="tasks/open")
        self.assert_status(501, client.post_changes, name, filter="_view", view="tasks/open")

    def test_a_continuous_feed_gives_changes_when_they_happen(self):
        self.fill()
        reply = self.client.post_changes_as_stream(self.name, feed="continuous", heartbeat=100).get_result()
        rows = (json.loads(line) for line in reply.iter_lines(chunk_size=1) if line)
        self.assertEqual([next(rows)["id"] for _ in range(4)], ["apple", "beet", "cherry", "date"])
        for n in range(3):
            self.connect().put_document(self.name, f"later {n}", Document())
            self.assertEqual(in_background(lambda: next(rows)["id"])(), f"later {n}")
        reply.close()

    def test_a_follower_gives_every_change(self):
        self.fill()
        followed = ChangesFollower(self.client, db=self.name, limit=3).start_one_off()
        self.assertEqual([change.id for change in followed], ["apple", "beet", "cherry"])
        follower = ChangesFollower(self.client, db=self.name, since="0", include_docs=True)
        changes = follower.start()
        self.assertEqual([next(changes).doc.rank for _ in range(4)], [0, 1, 2, 3])
        writer = self.connect()
        for n in range(3):
            wait = in_background(lambda: next(changes).id)
            writer.put_document(self.name, f"later {n}", Document())
            self.assertEqual(wait(), f"later {n}")
        # A follower that is stopped waits for the reply under way.
        stopped = in_background(follower.stop)
        writer.put_document(self.name, "last", Document())
        stopped()

    # Attachments

    def test_attachments_are_stored_read_and_deleted(self):
        client, name = self.client, self.name
        content = bytes(range(256)) * 1000
        first = self.save("cat")
        second = client.put_attachment(
            name, "cat", "pictures/cat.jpg", io.BytesIO(content), "image/jpeg", rev=first).get_result()["rev"]
        third = client.put_attachment(
            name, "cat", "a.txt", io.BytesIO(b"abc"), "text/plain", if_match=second).get_result()["rev"]
        read = client.get_attachment(name, "cat", "pictures/cat.jpg")
        self.assertEqual(read.get_result().content, content)
        self.assertEqual(read.get_headers()["Content-Type"], "image/jpeg")
        head = client.head_attachment(name, "cat", "pictures/cat.jpg").get_headers()
        self.assertEqual((head["Content-Length"], head["ETag"]), ("256000", read.get_headers()["ETag"]))
        part = client.get_attachment(name, "cat", "pictures/cat.jpg", range="bytes=1-3", rev=third)
        self.assertEqual((part.get_status_code(), part.get_result().content), (206, b"\x01\x02\x03"))
        self.assert_status(
            304, client.get_attachment, name, "cat", "pictures/cat.jpg", if_none_match=read.get_headers()["ETag"])
        self.assert_status(
            409, client.put_attachment, name, "cat", "old", io.BytesIO(b"old"), "text/plain", rev=first)
        inline = client.get_document(name, "cat", attachments=True).get_result()["_attachments"]
        self.assertEqual((inline["a.txt"]["data"], inline["a.txt"]["revpos"]), ("YWJj", 3))
        document = Document(_rev=third, _attachments={
            "a.txt": Attachment(stub=True, content_type="text/plain"), "b.txt": Attachment(data=b"def", content_type="text/plain")})
        fourth = client.put_document(name, "cat", document).get_result()["rev"]
        self.assertEqual(client.get_attachment(name, "cat", "b.txt").get_result().content, b"def")
        self.assert_status(404, client.get_attachment, name, "cat", "pictures/cat.jpg")
        self.assertTrue(client.delete_attachment(name, "cat", "a.txt", rev=fourth).get_result()["ok"])
        self.assert_status(404, client.head_attachment, name, "cat", "a.txt")

    def test_a_document_is_saved_with_its_attachments_as_multipart(self):
        document = {"_attachments": {"a.txt": {"follows": True, "content_type": "text/plain", "length": 3}}}
        body = "\r\n".join([
            "--boundary", "Content-Type: application/json", "", json.dumps(document), "--boundary", "", "abc", "--boundary--"])

        def save():
            self.client.put_document(
                self.name, "cat", io.BytesIO(body.encode()), content_type="multipart/related; boundary=boundary")

        # The client compresses requests, which CouchDB can't read either if they are multipart.
        self.assert_status(415, save)
        self.client.set_enable_gzip_compression(False)
        save()
        self.assertEqual(self.client.get_attachment(self.name, "cat", "a.txt").get_result().content, b"abc")

    def test_documents_and_attachments_are_read_as_multipart(self):
        client, name = self.client, self.name
        rev = client.put_attachment(name, "cat", "cat.jpg", io.BytesIO(b"a cat"), "image/jpeg").get_result()["rev"]
        self.save("milk", text="Buy milk")

        def parts(reply):
            message = email.message_from_bytes(
                b"Content-Type: " + reply.get_headers()["Content-Type"].encode() + b"\r\n\r\n" + reply.get_result().content)
            self.assertTrue(message.is_multipart())
            return message.get_content_type(), message.get_payload()

        kind, (document, picture) = parts(client.get_document_as_related(name, "cat", attachments=True))
        self.assertEqual(kind, "multipart/related")
        self.assertEqual(json.loads(document.get_payload())["_attachments"]["cat.jpg"]["follows"], True)
        self.assertEqual((picture.get_content_type(), picture.get_payload()), ("image/jpeg", "a cat"))
        wanted = [BulkGetQueryDocument(id="cat"), BulkGetQueryDocument(id="milk"), BulkGetQueryDocument(id="none")]
        for read, expected in ((client.post_bulk_get_as_mixed, "multipart/mixed"),
                               (client.post_bulk_get_as_related, "multipart/related")):
            with self.subTest(expected):
                kind, (cat, milk, missing) = parts(read(name, wanted, attachments=True))
                self.assertEqual(kind, expected)
                self.assertEqual((cat["X-Doc-Id"], cat["X-Rev-Id"]), ("cat", rev))
                self.assertEqual(cat.get_payload()[1].get_payload(), "a cat")
                self.assertEqual(json.loads(milk.get_payload())["text"], "Buy milk")
                self.assertEqual(missing.get_param("error"), "true")
                self.assertEqual(json.loads(missing.get_payload())["error"], "not_found")


def client_message(error, reason):
    """An error as the client puts it."""
    return f"{error}: {reason}"


if __name__ == "__main__":
    unittest.main()
