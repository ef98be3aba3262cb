"""Views that go on when the server was away."""

from page import PageTestCase, Program


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
        self.open("tasks", "query", selector='{"kind": "live"}', live="1")
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
        self.press("Stop")
        self.see("Stopped.")

    def test_changes_go_on(self):
        self.fill("tasks", [{"_id": "first", "n": 1}])
        self.open("tasks", "changes")
        self.see("Waiting for changes…", "first")
        self.watch_pauses()
        self.end_and_start(lambda: self.fill("tasks", [{"_id": "missed", "n": 2}]))
        self.see("1 change since the page was opened.", "missed", "The server answers again.")
        self.check_pauses()

    def test_a_view_that_could_not_be_opened_is_tried_again(self):
        self.open()
        self.see("tasks")
        self.fail_requests("true")
        self.named("link", "tasks").click()
        self.see("That did not work", "The server does not answer; is it still running?")
        self.check_view("a view that could not be opened")
        self.run_script("window.failing = false")
        self.press("Try again")
        self.see("Add a document")
