"""Chromium with a page that has PouchDB, for tests."""

import functools
import http.server
import os
import threading
import time
import unittest

BUNDLE = os.environ.get("POUCHDB")


class Page(http.server.SimpleHTTPRequestHandler):
    """Serves a page and the bundle."""

    def __init__(self, *arguments, page):
        self.page = os.path.join(os.path.dirname(__file__), page)
        super().__init__(*arguments)

    def do_GET(self):
        path = {"/": self.page, "/pouchdb.js": BUNDLE}.get(self.path)
        if path is None:
            return self.send_error(404)
        with open(path, "rb") as file:
            content = file.read()
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if self.path == "/" else "text/javascript; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


@unittest.skipUnless(BUNDLE, "POUCHDB is not set: make test-clients POUCHDB=path/to/pouchdb.min.js")
class BrowserTestCase(unittest.TestCase):
    """Tests with a page, which is a file of this directory."""

    maxDiff = None
    page = "pouchdb.html"

    def serve_page(self):
        pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Page, page=self.page))
        threading.Thread(target=pages.serve_forever).start()
        self.addCleanup(pages.server_close)
        self.addCleanup(pages.shutdown)
        return f"http://localhost:{pages.server_address[1]}"

    def open_browser(self):
        from selenium import webdriver

        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
            options.add_argument(argument)
        browser = webdriver.Chrome(options, webdriver.ChromeService("/usr/bin/chromedriver"))
        self.addCleanup(browser.quit)
        browser.set_script_timeout(300)
        return browser

    def run_in_page(self, expression):
        """The value of an expression in the page, after its promise is kept."""
        outcome = self.browser.execute_async_script(
            "const [expression, end] = arguments;"
            "Promise.resolve().then(() => eval(expression))"
            ".then(value => end({value}), error => end({error: String(error?.stack ?? error)}))",
            expression)
        if "error" in outcome:
            raise AssertionError(f"{expression}: {outcome['error']}")
        return outcome.get("value")

    def wait_until(self, condition, fails=True):
        """Waits at most two minutes."""
        end = time.monotonic() + 120
        while not condition():
            if time.monotonic() > end:
                return self.fail("not so after two minutes") if fails else None
            time.sleep(0.2)


