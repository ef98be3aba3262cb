"""Replicates a database of a server with PouchDB in Chromium, and prints how long it takes.

Arguments: the bundle of PouchDB, the URL of the database, that of a database to push to, and how many documents are sent
together. The output is a JSON object with milliseconds, and the numbers of documents written.
"""

import http.server
import json
import sys
import tempfile
import threading

from selenium import webdriver

BUNDLE, SOURCE, TARGET, BATCH = sys.argv[1:]
PAGE = b"<!DOCTYPE html><script src=pouchdb.js></script>"
REPLICATE = """
const [source, target, batch_size, end] = arguments
const start = performance.now()
PouchDB.replicate(source, target, {batch_size}).then(
  result => end({milliseconds: performance.now() - start, written: result.docs_written}),
  error => end({error: String(error)}))
"""


class Page(http.server.BaseHTTPRequestHandler):
    """Serves a page with the bundle."""

    def do_GET(self):
        content = PAGE
        if self.path == "/pouchdb.js":
            with open(BUNDLE, "rb") as file:
                content = file.read()
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if content is PAGE else "text/javascript; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


def replicate(browser, source, target):
    outcome = browser.execute_async_script(REPLICATE, source, target, int(BATCH))
    if "error" in outcome:
        sys.exit(f"{source} to {target}: {outcome['error']}")
    return outcome


def main():
    pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    with tempfile.TemporaryDirectory(dir=".") as profile:
        for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage"):
            options.add_argument(f"--{argument}")
        options.add_argument(f"--user-data-dir={profile}")
        browser = webdriver.Chrome(options, webdriver.ChromeService("/usr/bin/chromedriver"))
        try:
            browser.set_script_timeout(7200)
            browser.get(f"http://localhost:{pages.server_address[1]}")
            print(json.dumps({
                "pull": replicate(browser, SOURCE, "copy"), "nothing": replicate(browser, SOURCE, "copy"),
                "push": replicate(browser, "copy", TARGET)}))
        finally:
            browser.quit()


main()
