"""The official client of the Model Context Protocol with `cdtquery mcp`."""

import asyncio
import json
import subprocess
import tempfile
import unittest

import anyio
from mcp import ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

from harness import PROGRAM

PEOPLE = [
    {"_id": "ann", "age": 7, "pets": [{"name": "Flo", "species": "cat"}]},
    {"_id": "mike", "age": 36, "city": "Bern", "pets": []},
    {"_id": "zoe", "age": 12, "city": "Basel"},
]
STORE = "stores/people"
READING = {"list_stores", "describe", "find", "count", "group", "distinct", "get", "explain", "conflicts", "changes"}
WRITING = {"put", "update", "delete", "create_index"}

# What each tool is called with, and a part of its answer.
RIGHT = [
    ("list_stores", {}, lambda a: a["stores"] == [{"store": STORE, "documents": 3}]),
    ("describe", {"store": STORE}, lambda a: {f["path"] for f in a["fields"]} >= {"age", "city", "pets[].species"}),
    ("find", {"store": STORE, "selector": {"pets.species": "cat"}}, lambda a: [d["_id"] for d in a["docs"]] == ["ann"]),
    ("find", {"store": STORE, "sort": [{"age": "desc"}], "fields": ["age"], "limit": 2},
     lambda a: [d["age"] for d in a["docs"]] == [36, 12] and "more" not in a),
    ("count", {"store": STORE, "selector": {"age": {"$gt": 10}}}, lambda a: a == {"count": 2}),
    ("group", {"store": STORE, "aggregates": {"sum": {"$sum": "age"}}}, lambda a: a["rows"] == [{"sum": 55}]),
    ("distinct", {"store": STORE, "field": "city"}, lambda a: a["values"] == ["Basel", "Bern"]),
    ("get", {"store": STORE, "ids": ["zoe", "eve"]}, lambda a: a["docs"][0]["age"] == 12 and a["missing"] == ["eve"]),
    ("explain", {"store": STORE, "selector": {"age": 7}}, lambda a: a["suggestedIndex"]["tool"] == "create_index"),
    ("conflicts", {"store": STORE}, lambda a: a["conflicts"] == []),
    ("changes", {"store": STORE, "since": 1}, lambda a: len(a["changes"]) == 2 and a["last_sequence"] == 3),
    ("create_index", {"store": STORE, "fields": ["city"]}, lambda a: a == {"name": "city"}),
    ("put", {"store": STORE, "document": {"_id": "eve"}}, lambda a: a["_rev"].startswith("1-")),
    ("update", {"store": STORE, "selector": {"_id": "eve"}, "set": {"age": 1}}, lambda a: a == {"updated": 1}),
    ("delete", {"store": STORE, "ids": ["eve"]}, lambda a: a == {"deleted": 1}),
]
WRONG = [
    ("describe", {}, "needs the argument"),
    ("find", {"store": STORE, "selector": {"age": {"$gtt": 1}}}, "did you mean"),
    ("count", {"store": "/etc/passwd"}, "list_stores"),
    ("group", {"store": STORE, "aggregates": {"n": {"$sum": 1}}}, "aggregates.n"),
    ("distinct", {"store": STORE, "field": 1}, "must be a string"),
    ("get", {"store": STORE, "id": "zoe"}, "did you mean \"ids\"?"),
    ("explain", {"store": STORE, "sort": "age"}, "sort"),
    ("conflicts", {"store": STORE, "id": 1}, "must be a string"),
    ("changes", {"store": STORE, "since": "now"}, "whole number"),
    ("create_index", {"store": STORE, "fields": [1]}, "array of strings"),
    ("put", {"store": STORE, "document": {"_id": "zoe"}}, "_rev"),
    ("update", {"store": STORE, "selector": {}}, "nothing is to be changed"),
    ("delete", {"store": STORE}, "give ids"),
    ("list_stores", {"directory": "/"}, "has no argument"),
]


class AssistantTests(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.load(STORE, PEOPLE)

    def load(self, store, documents):
        subprocess.run(
            [PROGRAM, "import", store, "-", "--quiet"], input="\n".join(map(json.dumps, documents)), text=True,
            check=True, cwd=self.directory)

    def server(self, *options):
        return stdio_client(
            StdioServerParameters(command=PROGRAM, args=["mcp", "stores", *options], cwd=self.directory))

    async def call(self, session, tool, arguments):
        result = await session.call_tool(tool, arguments)
        self.assertEqual(len(result.content), 1)
        return result.is_error, result.content[0].text

    async def test_tools(self):
        async with self.server("--write") as streams, ClientSession(*streams) as session:
            hello = await session.initialize()
            self.assertEqual(hello.server_info.name, "cdtquery")
            tools = (await session.list_tools()).tools
            self.assertEqual({tool.name for tool in tools}, READING | WRITING)
            for tool in tools:
                self.assertEqual(tool.annotations.read_only_hint, tool.name in READING, tool.name)
            for tool, arguments, is_right in RIGHT:
                is_error, text = await self.call(session, tool, arguments)
                self.assertFalse(is_error, text)
                self.assertTrue(is_right(json.loads(text)), f"{tool}: {text}")
            for tool, arguments, part in WRONG:
                is_error, text = await self.call(session, tool, arguments)
                self.assertTrue(is_error, text)
                self.assertIn(part, text)

    async def test_stateless_version(self):
        async with self.server() as streams, ClientSession(*streams) as session:
            await session.discover()
            self.assertEqual(session.protocol_version, "2026-07-28")
            self.assertEqual({tool.name for tool in (await session.list_tools()).tools}, READING)
            self.assertEqual(await self.call(session, "count", {"store": STORE}), (False, '{"count":3}'))

    async def test_without_writing(self):
        async with self.server() as streams, ClientSession(*streams) as session:
            await session.initialize()
            with self.assertRaisesRegex(MCPError, "--write"):
                await session.call_tool("put", {"store": STORE, "document": {}})

    async def test_bounded_answers(self):
        self.load("stores/many", [{"n": n} for n in range(250)])
        async with self.server("--rows", "100") as streams, ClientSession(*streams) as session:
            await session.initialize()
            arguments, found = {"store": "stores/many", "sort": ["n"]}, []
            while True:
                _, text = await self.call(session, "find", arguments)
                answer = json.loads(text)
                found += [document["n"] for document in answer["docs"]]
                if "more" not in answer:
                    break
                arguments |= answer["more"]["add"]
            self.assertEqual(found, list(range(250)))

    async def test_cancelled_query(self):
        self.load("stores/slow", [{"text": "x" * 60} for _ in range(5_000)])
        query = {"$or": [{"text": {"$regex": f"x.*{n}$"}} for n in range(3_000)]}
        async with self.server() as streams, ClientSession(*streams) as session:
            await session.initialize()
            has_progress = anyio.Event()

            async def progress(*_):
                has_progress.set()

            async def count():
                await session.call_tool(
                    "count", {"store": "stores/slow", "selector": query}, progress_callback=progress)

            call = asyncio.create_task(count())
            with anyio.fail_after(60):
                await has_progress.wait()
                call.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await call
                self.assertEqual(await self.call(session, "count", {"store": STORE}), (False, '{"count":3}'))
