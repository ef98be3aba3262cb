"""The asynchronous client aiocouch."""

import asyncio
import unittest

from aiocouch import (
    ConflictError, CouchDB, ForbiddenError, NotFoundError, PreconditionFailedError, UnauthorizedError)
from aiocouch.event import ChangedEvent, DeletedEvent
from aiocouch.exception import BadRequestError
from aiocouch.remote import RemoteResponseError

from harness import ADMIN, MEMBER, ServerTestCase, User


class AiocouchTests(ServerTestCase, unittest.IsolatedAsyncioTestCase):
    async def connect(self, user=ADMIN):
        return await self.enterAsyncContext(CouchDB(self.server.url, user=user.name, password=user.password))

    async def connect_with(self, cookie):
        return await self.enterAsyncContext(CouchDB(self.server.url, cookie=cookie))

    async def asyncSetUp(self):
        self.client = await self.connect()
        self.database = await self.client.create(self.name)

    async def fill(self):
        async with self.database.create_docs(["apple", "beet", "cherry", "date"]) as documents:
            async for document in documents:
                document["rank"] = len(document.id)

    async def assert_unsupported(self, awaitable):
        with self.assertRaises(RemoteResponseError) as caught:
            await awaitable
        self.assertEqual(caught.exception.status, 501)
        self.assertIn("; use ", caught.exception.reason)

    # The server

    async def test_databases_are_created_listed_described_and_deleted(self):
        client = self.client
        self.assertEqual((await client.info())["couchdb"], "Welcome")
        self.assertIn(self.name, await client.keys())
        self.assertEqual(await client.keys(startkey=f'"{self.name}"', limit=1), [self.name])
        self.assertEqual((await (await client[self.name]).info())["db_name"], self.name)
        with self.assertRaises(PreconditionFailedError):
            await client.create(self.name)
        self.assertEqual((await client.create(self.name, exists_ok=True)).id, self.name)
        with self.assertRaises(BadRequestError):
            await client.create("Not a name")
        await self.database.delete()
        with self.assertRaises(NotFoundError):
            await client[self.name]
        with self.assertRaises(NotFoundError):
            await self.database.delete()

    async def test_credentials_are_checked(self):
        await self.client.check_credentials()
        stranger = await self.connect(User(ADMIN.name, "wrong"))
        with self.assertRaises(UnauthorizedError):
            await stranger.check_credentials()
        anonymous = await self.connect_with(cookie=None)
        with self.assertRaises(UnauthorizedError):
            await anonymous.keys()

    async def test_a_session_cookie_logs_in(self):
        session = self.client._server._http_session
        form = {"name": ADMIN.name, "password": ADMIN.password}
        async with session.post(f"{self.server.url}/_session", data=form) as reply:
            cookie = reply.cookies["AuthSession"].value
        client = await self.connect_with(cookie)
        self.assertIn(self.name, await client.keys())
        self.assertEqual((await (await client[self.name]).info())["doc_count"], 0)

    async def test_members_of_a_database_are_those_of_its_security_object(self):
        member = await self.connect(MEMBER)
        with self.assertRaises(ForbiddenError):
            await member[self.name]
        async with await self.database.security() as security:
            self.assertEqual(security.admin_roles, ["_admin"])
            security.add_member(MEMBER.name)
            security.add_member_role("friends")
        self.assertEqual((await self.database.security()).members, [MEMBER.name])
        database = await member[self.name]
        async with await database.create("milk") as document:
            document["text"] = "Buy milk"
        security = await database.security()
        security.add_admin(MEMBER.name)
        with self.assertRaises(ForbiddenError):
            await security.save()
        async with await self.database.security() as security:
            security.remove_member(MEMBER.name)
        with self.assertRaises(ForbiddenError):
            await database["milk"]

    # Documents

    async def test_a_document_is_created_read_changed_and_deleted(self):
        document = await self.database.create("milk / 2%", data={"text": "Buy milk", "n": 1.0})
        self.assertEqual((await document.save()).status, 201)
        first = document.rev
        read = await self.database["milk / 2%"]
        self.assertEqual(read.json, {"text": "Buy milk", "n": 1.0})
        self.assertEqual((await read.info())["rev"], first)
        read["done"] = True
        self.assertEqual((await read.save()).etag, read.rev)
        self.assertIsNone(await read.save())
        self.assertEqual((await self.database.get("milk / 2%", rev=first)).json, {"text": "Buy milk", "n": 1.0})
        self.assertEqual(await read.revs(), [read.rev, first])
        document["text"] = "Buy bread"
        with self.assertRaises(ConflictError):
            await document.save()
        with self.assertRaises(ConflictError):
            await self.database.create("milk / 2%")
        self.assertEqual((await self.database.create("milk / 2%", exists_ok=True))["done"], True)
        await read.copy("bread")
        self.assertEqual((await self.database["bread"])["text"], "Buy milk")
        with self.assertRaises(ConflictError):
            await read.copy("bread")
        self.assertEqual((await read.delete()).status, 200)
        with self.assertRaises(NotFoundError):
            await self.database["milk / 2%"]
        self.assertEqual((await self.database.get("none", default={"n": 1}))["n"], 1)
        async with await self.database.create("milk / 2%") as again:
            again["n"] = 2
        self.assertTrue(again.rev.startswith("4-"))

    async def test_conflicts_are_listed(self):
        document = await self.database.create("milk")
        await document.save()
        parent = document.rev.split("-")[1]
        await self.database._bulk_docs(
            [{"_id": "milk", "_revisions": {"start": 2, "ids": [id, parent]}} for id in ("aaaa", "bbbb")],
            new_edits=False)
        document = await self.database["milk"]
        self.assertEqual(document.rev, "2-bbbb")
        self.assertEqual(await document.conflicts(), ["2-aaaa"])
        self.assertEqual((await self.database.get("milk", rev="2-aaaa")).rev, "2-aaaa")
        read = await self.database._bulk_get([{"id": "milk"}], revs=True)
        self.assertEqual(len(read["results"][0]["docs"]), 2)
        self.assertEqual(read["results"][0]["docs"][0]["ok"]["_revisions"]["start"], 2)

    async def test_many_documents_are_saved_at_once(self):
        async with self.database.create_docs(["a", "b"]) as documents:
            documents.create("c", data={"n": 3})
        self.assertEqual([document.id for document in documents.ok], ["a", "b", "c"])
        async with self.database.create_docs(["a", "d"]) as documents:
            pass
        self.assertEqual([document.id for document in documents.error], ["a"])
        self.assertEqual(documents.response[0]["error"], "conflict")
        async with self.database.update_docs(["a", "c", "e"], create=True) as documents:
            async for document in documents:
                document["seen"] = True
        self.assertEqual(len(documents.ok), 3)
        self.assertEqual((await self.database["c"]).json, {"n": 3, "seen": True})

    async def test_documents_are_listed(self):
        await self.fill()
        database = self.database
        self.assertEqual([key async for key in database.akeys()], ["apple", "beet", "cherry", "date"])
        self.assertEqual([key async for key in database.all_docs.ids(["date", "none", "beet"])], ["date", "beet"])
        self.assertEqual([key async for key in database.all_docs.ids(prefix="b")], ["beet"])
        self.assertEqual([document["rank"] async for document in database.docs()], [5, 4, 6, 4])
        self.assertEqual([document.id async for document in database.docs(prefix="c")], ["cherry"])
        self.assertEqual(
            [document.exists async for document in database.docs(["apple", "none"], create=True)], [True, False])
        with self.assertRaises(NotFoundError):
            async for _ in database.docs(["none"]):
                pass
        self.assertEqual(
            [document.id async for document in database.values(limit=2, skip=1, descending=True)], ["cherry", "beet"])
        listed = await database.all_docs.get(limit=1)
        self.assertEqual((listed.total_rows, listed.offset, list(listed.keys())), (4, 0, ["apple"]))
        self.assertEqual(len([value async for value in database.all_docs.avalues()]), 4)
        self.assertEqual([key async for key, _ in database.all_docs.aitems(key='"beet"')], ["beet"])

    async def test_design_documents_are_stored_and_their_views_are_501(self):
        database = self.database
        design = await database.design_doc("tasks")
        view = await design.create_view("open", map_function="function (doc) { emit(doc._id) }")
        with self.assertRaises(ConflictError):
            await database.design_doc("tasks")
        self.assertIn("open", (await database.design_doc("tasks", exists_ok=True))["views"])
        self.assertEqual((await database["_design/tasks"])["language"], "javascript")
        self.assertEqual([document.id async for document in database.docs(include_ddocs=True)], ["_design/tasks"])
        self.assertEqual([document.id async for document in database.docs()], [])
        await self.assert_unsupported(view.get())
        await self.assert_unsupported(view.post(["milk"]))
        await (await database.design_doc("tasks", exists_ok=True)).delete()
        self.assertEqual([key async for key in database.akeys()], [])

    async def test_local_documents_are_stored(self):
        async with await self.database.create("_local/checkpoint") as document:
            document["seq"] = 3
        self.assertEqual((await self.database["_local/checkpoint"])["seq"], 3)
        await (await self.database["_local/checkpoint"]).delete()
        with self.assertRaises(NotFoundError):
            await self.database["_local/checkpoint"]

    # Queries

    async def test_documents_are_found_by_selectors(self):
        await self.fill()
        created = await self.database.index({"fields": ["rank"]}, name="ranks", ddoc="ranks")
        self.assertEqual(created["result"], "created")
        found = self.database.find({"rank": {"$gte": 4}}, sort=[{"rank": "asc"}], use_index="ranks")
        self.assertEqual([document.id async for document in found], ["beet", "date", "apple", "cherry"])
        found = self.database.find({"rank": {"$gt": 0}}, limit=2, skip=1, sort=[{"_id": "desc"}])
        self.assertEqual([document.id async for document in found], ["cherry", "beet"])
        with self.assertRaises(BadRequestError):
            async for _ in self.database.find({"rank": {"$unknown": 1}}):
                pass

    # Changes

    async def test_changes_are_listed(self):
        await self.fill()
        await (await self.database["beet"]).delete()
        changes = [change async for change in self.database.changes()]
        self.assertEqual([change.id for change in changes], ["apple", "cherry", "date", "beet"])
        self.assertIsInstance(changes[0], ChangedEvent)
        self.assertIsInstance(changes[3], DeletedEvent)
        self.assertEqual((await changes[0].doc())["rank"], 5)
        later = [change.id async for change in self.database.changes(last_event_id=changes[1].sequence)]
        self.assertEqual(later, ["date", "beet"])
        with_documents = [change async for change in self.database.changes(include_docs=True, limit=1)]
        self.assertEqual((await with_documents[0].doc()).rev, with_documents[0].rev)
        since = [change.id async for change in self.database.changes(since=changes[2].sequence, feed="longpoll")]
        self.assertEqual(since, ["beet"])

    async def test_a_continuous_feed_gives_changes_when_they_happen(self):
        await self.fill()
        feed = self.database.changes(feed="continuous", heartbeat=100)
        for id in ("apple", "beet", "cherry", "date"):
            self.assertEqual((await asyncio.wait_for(anext(feed), 60)).id, id)
        for n in range(3):
            await (await self.database.create(f"later {n}")).save()
            self.assertEqual((await asyncio.wait_for(anext(feed), 60)).id, f"later {n}")
        await feed.aclose()
        ended = [change async for change in self.database.changes(feed="continuous", limit=1)]
        self.assertEqual(ended[0].id, "apple")

    async def test_purging_is_501(self):
        await self.assert_unsupported(self.database._purge({"milk": ["1-a"]}))

    # Attachments

    async def test_attachments_are_stored_read_and_deleted(self):
        document = await self.database.create("cat")
        await document.save()
        content = bytes(range(256)) * 1000
        picture = document.attachment("pictures/cat.jpg")
        self.assertFalse(await picture.exists())
        await picture.save(content, "image/jpeg")
        self.assertTrue(document.rev.startswith("2-"))
        self.assertTrue(await picture.exists())
        self.assertEqual(picture.content_type, "image/jpeg")
        read = (await self.database["cat"]).attachment("pictures/cat.jpg")
        self.assertEqual(await read.fetch(), content)
        self.assertEqual(read.content_type, "image/jpeg")
        self.assertEqual(document["_attachments"]["pictures/cat.jpg"]["length"], 256_000)
        stale = await self.database.get("cat", rev=document.rev)
        await picture.delete()
        self.assertFalse(await picture.exists())
        with self.assertRaises(NotFoundError):
            await picture.fetch()
        with self.assertRaises(ConflictError):
            await stale.attachment("other").save(b"abc", "text/plain")


if __name__ == "__main__":
    unittest.main()
