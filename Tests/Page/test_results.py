"""Results that come in parts, and views that go on when the server was away."""

from page import ALL, Keys, PageTestCase, Program

COUNT = 5_000
RARE = [f"{number:05}" for number in range(COUNT) if number % 50 == 7]


class Parts(PageTestCase):
    @classmethod
    def make_stores(cls):
        cls.fill("many", [{"_id": f"{number:05}", "n": number, "kind": "rare" if number % 50 == 7 else "usual"} for number in range(COUNT)])
        cls.fill("ways", [{"_id": "east", "v": [1, 0]}, {"_id": "north", "v": [0, 1]}, {"_id": "nowhere"}])

    def watch_requests(self, held="false"):
        """Keeps the requests for results and their replies. Those that are held wait for `release()`."""
        self.run_script(f"""
          window.asked = []
          window.replies = []
          const gate = new Promise(resolve => {{ window.release = resolve }})
          const real = window.fetch
          window.fetch = async (address, options) => {{
            const body = options?.body ?? ''
            if (!address.endsWith('_find') || body.includes('$count')) return real(address, options)
            asked.push(JSON.parse(body))
            if ({held}) await gate
            const response = await real(address, options)
            if (response.ok) replies.push(await response.clone().json())
            return response
          }}""")

    def start(self, store, selector, limit, sort=""):
        self.open(store, "documents")
        self.write("Filter", selector)
        self.keys(Keys.ESCAPE)
        self.menu("Options")
        self.write("Limit", str(limit))
        self.write("Sort", sort)

    @property
    def asked(self):
        return self.run_script("return window.asked")

    def ids(self):
        return [link.text for link in self.all("#results tbody td:first-child")]

    def test_first_results_are_seen_before_the_last_are_found(self):
        self.start("many", '{"kind": "rare"}', 75)
        self.watch_requests(held="asked.length === 2")
        self.press("Run")
        self.see("Running… 10 results so far.")
        self.assertEqual(self.ids(), RARE[:10])
        self.assertEqual([request["limit"] for request in self.asked], [10, 40])
        self.run_script("release()")
        self.see("Results 1 to 75 of 100", "no index")
        self.assertEqual(self.ids(), RARE[:75])
        self.assertEqual([request["limit"] for request in self.asked], [10, 40, 25])
        stats = [reply["execution_stats"] for reply in self.run_script("return window.replies")]
        documents, keys = (sum(part[name] for part in stats) for name in ("total_docs_examined", "total_keys_examined"))
        self.assertGreater(documents, stats[-1]["total_docs_examined"])
        self.see(f"{documents:,} documents read")
        self.assertIn(f"{keys:,} index row", self.find("#chip").get_attribute("title"))
        self.assertIn(f" {sum(part['execution_time_ms'] for part in stats):.1f} ms", self.find("#summary").text.replace(",", ""))
        self.press("Next page")
        self.see("Results 76 to 100 of 100")
        self.assertEqual(self.ids(), RARE[75:])
        self.press("Previous page")
        self.see("Results 1 to 75 of 100")
        self.assertEqual(self.ids(), RARE[:75])
        self.copy_as("a command")
        self.assertRegex(self.find("#plan pre").text, "--limit 75$")

    def test_pages_have_one_order_whatever_becomes_of_the_plan(self):
        self.start("many", '{"n": {"$gte": 4900}}', 50)
        self.press("Run")
        self.see("Results 1 to 50 of 100")
        first = self.ids()
        self.tool("index", "create", "stores/many", "n:desc", "--name", "down")
        self.addCleanup(self.tool, "index", "delete", "stores/many", "down")
        self.press("Next page")
        self.see("Results 51 to 100 of 100")
        self.assertEqual(first + self.ids(), [f"{number:05}" for number in range(4_900, 5_000)])

    def test_sorted_results_come_at_once(self):
        self.start("many", '{"kind": "rare"}', 75, sort="n:desc")
        self.watch_requests()
        self.press("Run")
        self.see("Results 1 to 75 of 100")
        self.assertEqual([request["limit"] for request in self.asked], [75])
        self.assertEqual(self.ids(), RARE[:24:-1])
        self.press("Next page")
        self.see("Results 76 to 100 of 100")
        self.assertEqual(self.ids(), RARE[24::-1])

    def test_results_by_distance_have_a_column_of_distances(self):
        self.start("ways", '{"v": {"$near": {"$vector": [0, 2], "$metric": "euclidean"}}}', 20)
        self.watch_requests()
        self.press("Run")
        self.see("Results 1 to 2 of 2")
        rows = [row.text.split() for row in self.all("#results tbody tr")]
        self.assertEqual([row[:2] for row in rows], [["north", "1.0"], ["east", "2.23606797749979"]])
        self.assertEqual([cell.text.split()[0] for cell in self.all("#results thead th")], ["_id", "_distance", "v"])
        self.assertEqual([(request["limit"], request["distance"]) for request in self.asked], [(20, True)])
        self.click("choice", "JSON")
        self.see('"_distance": 1.0')

    def test_results_with_attachments(self):
        self.open()
        self.send("PUT", "/files")
        stub = {"a": {"content_type": "text/plain", "data": "YQ=="}}
        self.send("POST", "/files/_bulk_docs", {"docs": [
            {"_id": f"{number:03}", **({"_attachments": stub} if number % 2 else {})} for number in range(140)]})
        self.start("files", '{"_attachments": {"$exists": true}}', 60)
        self.watch_requests()
        self.press("Run")
        self.see("Results 1 to 60 ")
        self.assertEqual([request["limit"] for request in self.asked], [10, 40, 10])
        expected = [f"{number:03}" for number in range(140) if number % 2]
        self.assertEqual(self.ids(), expected[:60])
        self.press("Next page")
        self.see("Results 61 to 70 ")
        self.assertEqual(self.ids(), expected[60:])

    def test_what_was_found_stays_if_the_rest_fails(self):
        self.start("many", '{"kind": "rare"}', 50)
        self.fail_requests("""body.includes('"bookmark"')""")
        self.press("Run")
        self.see("Results 1 to 10 of 100", "The other results are missing: The server does not answer")
        self.assertEqual(self.ids(), RARE[:10])
        self.run_script("window.failing = false")
        self.press("Next page")
        self.see("Results 11 to 60 of 100")
        self.assertEqual(self.ids(), RARE[10:60])


class Failures(PageTestCase):
    """The server is ended, and started again at its address."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program.close()
        cls.serve("127.0.0.1:0")
        cls.addClassCleanup(lambda: cls.program.close())

    @classmethod
    def serve(cls, address):
        cls.program = Program("serve", cls.directory, "--bind", address)
        cls.base = cls.program.address + "/_utils/"

    @classmethod
    def make_stores(cls):
        cls.fill("tasks", [{"_id": "before", "kind": "live"}])

    def tearDown(self):
        # Chromium logs connections that are refused.
        self.browser.get_log("browser")

    def watch_pauses(self):
        """Keeps what is said and the pauses of the page, which are made shorter."""
        self.run_script("""
          window.pauses = []
          window.said = []
          const real = window.setTimeout
          window.setTimeout = (action, time) => {
            // That which waits for a heartbeat ends when the test says so.
            if (time === 120000) {
              window.endSilence = action
              return 0
            }
            if (time >= 1000) pauses.push(time)
            return real(action, time / 50)
          }
          const status = document.getElementById('status')
          new MutationObserver(() => said.push(status.textContent)).observe(status, {childList: true})""")

    def end_and_start(self, meanwhile):
        address = self.program.address.removeprefix("http://")
        self.program.process.kill()
        self.program.close()
        meanwhile()
        self.wait(lambda: self.run_script("return pauses.filter(time => time === 30000).length > 1"), "the longest pauses")
        self.serve(address)

    def check_pauses(self):
        pauses, said = self.run_script("return [pauses, said]")
        # While the server was away, each was twice as long as the one before.
        growing = pauses[pauses.index(2_000):]
        self.assertEqual(growing[:6], [2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
        self.assertEqual(len([text for text in said if "Trying again" in text]), 1, said)
        self.assertEqual(len([text for text in said if text == "The server answers again."]), 1, said)

    def test_live_results_go_on(self):
        self.open("tasks", "documents", selector='{"kind": "live"}', live="1")
        self.see("Live: 1 result", "before")
        self.watch_pauses()

        def change():
            self.see("The server does not answer; is it still running? Trying again…")
            # What was seen last stays.
            self.assertEqual([link.text for link in self.all("#results a")], ["before"])
            self.tool("delete", "stores/tasks", "before")
            self.fill("tasks", [{"_id": "meanwhile-a", "kind": "live"}, {"_id": "meanwhile-b", "kind": "live"}])

        self.end_and_start(change)
        self.see("Live: 2 results", "meanwhile-a", "meanwhile-b", "The server answers again.")
        self.assertNotIn("before", self.find("#results").text)
        self.check_pauses()
        self.fill("tasks", [{"_id": "later", "kind": "live"}])
        self.see("Live: 3 results", "later")
        self.click("choice", "Live")
        self.see("Stopped.")

    def test_live_is_begun_and_ended_while_results_are_shown(self):
        self.fill("ticked", [{"_id": "a", "n": 1}])
        self.open("ticked", "documents", selector='{"n": 1}')
        self.see("Results 1 to 1 of 1")
        # Not what was written since then.
        self.write("Filter", '{"n": 2}')
        self.click("choice", "Live")
        self.see("Live: 1 result")
        self.fill("ticked", [{"_id": "b", "n": 1}, {"_id": "c", "n": 2}])
        self.see("Live: 2 results")
        self.assertIn("live=1", self.browser.current_url)
        self.click("choice", "Live")
        self.see("Stopped.")
        self.assertNotIn("live=1", self.browser.current_url)
        self.click("choice", "Live")
        self.see("Live: 2 results")

    def test_changes_go_on(self):
        self.fill("tasks", [{"_id": "first", "n": 1}])
        self.open("tasks", "changes")
        self.see("Waiting for changes…", "first")
        self.watch_pauses()
        self.end_and_start(lambda: self.fill("tasks", [{"_id": "missed", "n": 2}]))
        self.see("1 change since the page was opened.", "missed", "The server answers again.")
        self.check_pauses()

    def test_a_feed_without_heartbeats_is_opened_again(self):
        self.fill("silent", [{"_id": "a"}])
        self.open("silent", "documents", selector=ALL, live="1")
        self.see("Live: 1 result")
        self.watch_pauses()
        self.fill("silent", [{"_id": "b"}])
        self.see("Live: 2 results")
        self.wait(lambda: self.run_script("return window.endSilence !== undefined"), "the wait for a heartbeat")
        self.run_script("const end = endSilence; endSilence = undefined; end()")
        self.see("The server answers again.")
        self.wait(lambda: self.run_script("return window.endSilence !== undefined"), "the next wait")
        self.fill("silent", [{"_id": "c"}])
        self.see("Live: 3 results")
        self.assertEqual(self.run_script("return said.filter(text => text.includes('Trying again')).length"), 1)

    def test_a_view_that_could_not_be_opened_is_tried_again(self):
        self.open()
        self.see("tasks")
        self.fail_requests("true")
        self.click("link", "tasks")
        self.see("That did not work", "The server does not answer; is it still running?")
        self.check_view("a view that could not be opened")
        self.run_script("window.failing = false")
        self.press("Try again")
        self.named("link", "Add a document")
